"""Several runs of one table: which are made, and the one that is kept."""

from pathlib import Path
from typing import Any

import pytest

from nlobayes.errors import InputError
from nlobayes.fitting import fits
from nlobayes.fitting.fits import Fitted, fit_best, fit_in_turn
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
    announced: list[int] = []
    tried: list[int] = []

    def sample(configuration: Configuration, *args: Any, **options: Any) -> Fitted:
        tried.append(configuration["number"])
        return fitted(converged=tried[-1] == agrees)

    monkeypatch.setattr(fits, "fit", sample)
    studies: list[Configuration] = [{"number": number} for number in range(2)]
    best = fit_best(studies, tmp_path, announce=announced.append)
    assert (best.number, tried, announced) == (agrees, made, made)


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
