"""Several runs of one table: which are made, and the one that is kept."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from nlobayes.artifacts.contents import read_dataset
from nlobayes.errors import InputError
from nlobayes.fitting import fits
from nlobayes.fitting.fits import Fitted, fit_best, fit_in_turn
from nlobayes.fitting.one_run import OneRun
from nlobayes.fitting.studies import Configuration, plan_of
from tests.run_results import diagnosed
from tests.unit.fitting.studies import study_of


def fitted(*, converged: bool | None, rhat: float | None = 1.1) -> Fitted:
    run = plan_of(study_of(6))[1]
    return Fitted(run, diagnosed(converged=converged, rhat_f=rhat), {}, {}, [])


@pytest.mark.parametrize(("agrees", "made"), [(0, [0]), (1, [0, 1])])
def test_runs_are_made_in_turn_until_one_converges(
    agrees: int, made: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    announced: list[tuple[str, str]] = []
    tried: list[int] = []

    def sample(configuration: Configuration, *args: Any, **options: Any) -> Fitted:
        tried.append(configuration["number"])
        return fitted(converged=tried[-1] == agrees)

    monkeypatch.setattr(fits, "fit", sample)
    studies: list[Configuration] = [{"number": number} for number in range(2)]
    best = fit_best(["a", "b"], studies, tmp_path, announce=lambda *two: announced.append(two))
    assert (best.number, best.first, tried) == (agrees, 0, made)
    assert announced == [("a", ""), ("b", "recipe a has no chains that converge")][: len(made)]


@pytest.mark.parametrize(
    ("cosines", "wide", "first", "gain"),
    [
        (10.0, 0.0, 0, "+10.0"),
        (9.9, 0.0, 1, "+9.9"),
        (-5.0, 2.0, 1, "-7.0"),
        (0.0, None, 0, "+inf"),
        (None, 0.0, 1, "-inf"),
        (None, None, 1, "+nan"),
    ],
)
def test_cosine_units_are_taken_if_they_gain_enough_at_the_mode(
    cosines: float | None,
    wide: float | None,
    first: int,
    gain: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """None is a MAP without a density."""
    densities = iter([cosines, wide])

    def log_density(one: OneRun) -> float:
        value = next(densities)
        if value is None:
            raise InputError("builder.no_density")
        return value

    tried: list[int] = []

    def sample(configuration: Configuration, *args: Any, **options: Any) -> Fitted:
        tried.append(studies.index(configuration))
        return fitted(converged=tried[-1] == 2)

    monkeypatch.setattr(OneRun, "log_density_at_mode", log_density)
    monkeypatch.setattr(fits, "fit", sample)
    studies = [study_of(*units) for units in ([4], [5], [6])]
    announced: list[tuple[str, str]] = []
    best = fit_best(
        ["cosines", "wide", "plain"],
        studies,
        tmp_path,
        announce=lambda *two: announced.append(two),
    )
    assert (best.number, best.first, tried) == (2, first, [*range(first, 3)])
    assert announced[0][0] == ["cosines", "wide"][first]
    assert f"log posterior density by {gain};" in announced[0][1]


def test_the_density_at_the_mode_is_that_of_the_better_map(tmp_path: Path) -> None:
    """Of a straight line with normal weights and known noise it is a closed formula."""
    rng = np.random.default_rng(3)
    x = rng.uniform(size=40)
    y = 2 * x + 0.3 * rng.normal(size=40)
    np.savetxt(
        tmp_path / "t.csv", np.column_stack([x, y]), delimiter=",", header="x,y", comments=""
    )
    study = study_of()
    study["datasets"]["t"]["source"]["path"] = str(tmp_path / "t.csv")
    one = OneRun(*plan_of(study), tmp_path)
    found = one.log_density_at_mode()
    data = read_dataset(one.path("prepare"))
    train = data.split == 0
    design = np.column_stack([data.features[train], np.ones(train.sum())]) * [2.0, 1.0]
    target = data.target[train]
    mode = np.linalg.solve(design.T @ design / 0.01 + np.eye(2), design.T @ target / 0.01)
    misfit = (target - design @ mode) / 0.1
    known = norm.logpdf(misfit).sum() - train.sum() * np.log(0.1) + norm.logpdf(mode).sum()
    assert found == pytest.approx(known, rel=1e-4)


@pytest.mark.parametrize(
    ("converged", "rhat", "taken"),
    [
        ([True, True], [1.04, 1.01], 0),
        ([None, True], [None, 1.01], 0),
        ([False, True], [1.01, 1.04], 1),
        ([False, False], [1.06, 1.2], 0),
        ([False, False], [1.3, 1.2], 1),
        ([False, False], [None, 1.2], 1),
    ],
)
def test_the_first_that_converges_is_kept_and_else_the_best(
    converged: list[bool | None], rhat: list[float | None], taken: int
) -> None:
    found = [fitted(converged=one, rhat=two) for one, two in zip(converged, rhat, strict=True)]
    assert fit_in_turn([0, 1], found.__getitem__) == (taken, found[taken])


def test_an_attempt_that_cannot_be_sampled_is_skipped() -> None:
    """If all are such, and for any other reason, the error remains."""
    kept = fitted(converged=False)

    def attempt(code: str, last: Fitted | None) -> tuple[int, Fitted]:
        def run(number: int) -> Fitted:
            if number == 0 or last is None:
                raise InputError(code)
            return last

        return fit_in_turn([0, 1], run)

    for code in ("builder.no_density", "inference.never_moved"):
        assert attempt(code, kept) == (1, kept)
    for code, last in (("builder.no_density", None), ("data.no_column", kept)):
        with pytest.raises(InputError) as error:
            attempt(code, last)
        assert error.value.code == code
