"""Several runs of one table: the errors of their MAPs, their order, and the one that is kept."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.contents import read_dataset, read_map
from nlobayes.artifacts.files import write_text
from nlobayes.data.splits import VALIDATION
from nlobayes.errors import InputError
from nlobayes.fitting import fits
from nlobayes.fitting.fits import Fitted, errors_of_maps, fit, fit_best, fit_in_turn
from nlobayes.fitting.jobs import Jobs
from nlobayes.fitting.studies import Choices, Configuration, configure, plan_of
from tests.unit.estimators.settings import PRETRAINING

X = np.random.default_rng(4).uniform(-1, 1, 40)
DATASET = {
    "source": {"kind": "table", "path": "t.csv"},
    "features": {"map": "raw", "columns": ["x"]},
    "target": {"column": "y", "unit": "", "scale": "identity"},
    "split": {"train": 20, "validation": 10, "test": 10},
}
ENSEMBLE = {"kind": "map_ensemble", "members": 3}


def study_of(*hidden: int) -> Configuration:
    """Give a network with these units; without units, a straight line."""
    chosen = Choices(
        {"hidden": [*hidden]},
        prior="fan_in_2",
        likelihood="tolerance_10",
        pretraining={**PRETRAINING, "epochs": 400},
        method=ENSEMBLE,
    )
    return configure("t", DATASET, chosen)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{x!r},{x * x!r}\n" for x in X.tolist())
    write_text(Path("t.csv"), f"x,y\n{rows}")
    return tmp_path


def test_the_error_is_that_of_the_first_maps_on_validation_rows(table: Path) -> None:
    """The predictions of the MAPs give it again; the line leaves nearly all of the parabola."""
    studies = [study_of(), study_of(6)]
    line, network = errors_of_maps(studies, table / "a", shown=False)
    assert 0.7 < line < 1.6
    assert network < 0.3
    jobs = Jobs(*plan_of(studies[1]), table / "a")
    maps = jobs.maps(2)
    assert [path.name for path in maps] == ["0.nc", "1.nc"]
    assert [path.name for path in sorted(maps[0].parent.iterdir())] == ["0.nc", "1.nc"]
    times = [path.stat().st_mtime_ns for path in maps]
    found = fit(studies[1], table / "a", shown=False)
    assert [path.stat().st_mtime_ns for path in maps] == times
    assert len([*maps[0].parent.iterdir()]) == ENSEMBLE["members"]
    assert found.files == fit(studies[1], table / "anew", shown=False).files
    by_hand = [validation_error(path, jobs.dataset) for path in maps]
    assert network == pytest.approx(np.mean(by_hand), rel=1e-5)


def test_maps_of_another_specification_are_trained_anew(table: Path) -> None:
    """Both runs have presets of the same names, and therefore MAPs at the same paths."""
    longer = study_of()
    longer["pretraining"]["own"]["epochs"] += 1
    fit(study_of(), table / "a", shown=False)
    again = fit(longer, table / "a", shown=False)
    assert again.files == fit(longer, table / "anew", shown=False).files


def validation_error(path: Path, dataset: Path) -> float:
    """Compute the error of a MAP of one hidden layer from its weights, in sd of the target."""
    data, weights = read_dataset(dataset), read_map(path).variables.values
    x, y = (column[data.split == VALIDATION] for column in (data.features, data.target))
    hidden = np.tanh(x @ weights["weights_1"] + weights["biases_1"])
    f = (hidden @ weights["weights_2"] + weights["biases_2"])[:, 0]
    return float(np.sqrt(np.mean((f - y) ** 2)))


def test_a_single_run_is_not_trained(table: Path) -> None:
    (error,) = errors_of_maps([study_of(6)], table / "a", shown=False)
    assert np.isnan(error)
    assert not (table / "a").exists()


@pytest.mark.parametrize("code", ["builder.no_density", "data.no_column"])
def test_a_map_without_density_has_an_infinite_error(
    code: str, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any other error ends the fit."""

    def refuse(*args: object, **options: object) -> list[str]:
        raise InputError(code)

    monkeypatch.setattr(fits, "run_waves", refuse)
    studies = [study_of(6)] * 2
    if code == fits.NO_DENSITY:
        assert errors_of_maps(studies, table) == [np.inf, np.inf]
        return
    with pytest.raises(InputError, check=lambda error: error.code == code):
        errors_of_maps(studies, table)


@pytest.mark.parametrize(
    ("errors", "order"), [([0.2, 0.1], [1, 0]), ([0.1, 0.2], [0, 1]), ([0.1, np.inf], [0, 1])]
)
def test_runs_are_tried_in_the_order_of_their_errors(
    errors: list[float], order: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second follows because the chains of the first do not converge."""
    announced: list[tuple[int, Sequence[float]]] = []
    tried: list[int] = []

    def sample(configuration: Configuration, *args: Any, **options: Any) -> Fitted:
        tried.append(configuration["number"])
        return fitted(converged=len(tried) == 2)

    monkeypatch.setattr(fits, "errors_of_maps", lambda *args, **options: errors)
    monkeypatch.setattr(fits, "fit", sample)
    best = fit_best(
        [{"number": 0}, {"number": 1}], tmp_path, announce=lambda *what: announced.append(what)
    )
    assert (best.number, best.order) == (order[1], order)
    assert announced == [(number, errors) for number in order]
    assert tried == order


def fitted(*, converged: bool | None, rhat: float | None = 1.1) -> Fitted:
    run = plan_of(study_of(6))[1]
    return Fitted(run, {"converged": converged, "rhat_f_p99": rhat}, {}, {}, [])


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


def test_an_attempt_whose_map_has_no_density_is_skipped() -> None:
    """If all are such, and for any other reason, the error remains."""
    kept = fitted(converged=False)

    def attempt(code: str, last: Fitted | None) -> tuple[int, Fitted]:
        def run(number: int) -> Fitted:
            if number == 0 or last is None:
                raise InputError(code)
            return last

        return fit_in_turn([0, 1], run)

    assert attempt("builder.no_density", kept) == (1, kept)
    for code, last in (("builder.no_density", None), ("data.no_column", kept)):
        with pytest.raises(InputError) as error:
            attempt(code, last)
        assert error.value.code == code
