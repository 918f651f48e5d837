"""Errors of MAPs on validation rows, and the order in which runs are tried."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.contents import read_dataset, read_map
from nlobayes.artifacts.files import write_text
from nlobayes.data.splits import VALIDATION
from nlobayes.errors import InputError
from nlobayes.fitting import fits
from nlobayes.fitting.fits import NO_DENSITY, MapErrors, errors_of_maps, fit, order_of
from nlobayes.fitting.one_run import OneRun
from nlobayes.fitting.studies import plan_of
from tests.unit.fitting.studies import study_of

X = np.random.default_rng(4).uniform(-1, 1, 40)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{x!r},{x * x!r}\n" for x in X.tolist())
    write_text(Path("t.csv"), f"x,y\n{rows}")
    return tmp_path


def test_the_error_is_that_of_the_predictions_by_hand(table: Path) -> None:
    """A straight line leaves nearly all of a parabola. The fit continues with the MAPs."""
    line, network = (errors_of_maps(study, table / "a") for study in (study_of(), study_of(6)))
    assert 0.7 < line.mean < 1.6
    assert network.mean < 0.3
    one = OneRun(*plan_of(study_of(6)), table / "a")
    by_hand = [validation_error(path, one.path("prepare")) for path in one.maps]
    assert network.mean == pytest.approx(np.mean(by_hand), rel=1e-5)
    times = [path.stat().st_mtime_ns for path in one.maps]
    found = fit(study_of(6), table / "a", shown=False)
    assert [path.stat().st_mtime_ns for path in one.maps] == times
    assert found.files == fit(study_of(6), table / "anew", shown=False).files


def validation_error(path: Path, dataset: Path) -> float:
    """Compute the error of a MAP of one hidden layer from its weights, in sd of the target."""
    data, weights = read_dataset(dataset), read_map(path).variables.values
    x, y = (column[data.split == VALIDATION] for column in (data.features, data.target))
    hidden = np.tanh(x @ weights["weights_1"] + weights["biases_1"])
    f = (hidden @ weights["weights_2"] + weights["biases_2"])[:, 0]
    return float(np.sqrt(np.mean((f - y) ** 2)))


def test_maps_of_another_specification_or_dataset_are_trained_anew(table: Path) -> None:
    """Both runs have presets of the same names, and therefore MAPs at the same paths.

    A rival that an earlier run has fitted to the dataset is fitted no more.
    """
    longer, other = study_of(), study_of()
    longer["pretraining"]["own"]["epochs"] += 1
    other["datasets"]["t"]["split"]["seed"] = 1
    for study in (longer, other):
        for one in (study_of(), study):
            one["rivals"] = {"least": {"kind": "gaussian_process", "most_rows": 10}}
            one["grids"]["fit"]["rivals"] = ["least"]
            again = fit(one, table / "a", shown=False)
        assert again.files == fit(one, table / "anew", shown=False).files
    rival = table / "a/results/rivals/t/least.nc"
    written = rival.stat().st_mtime_ns
    fit(one, table / "a", shown=False)
    assert rival.stat().st_mtime_ns == written


@pytest.mark.parametrize(
    ("output", "errors", "several"),
    [
        ("marginalised", [0.2, 0.206], False),
        ("marginalised", [0.2, 0.22], True),
        ("sampled", [0.2, 0.9], False),
    ],
)
def test_maps_that_differ_lie_in_several_modes_if_the_output_layer_is_integrated_out(
    output: str, errors: list[float], several: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = iter(errors)

    def read(_: Path) -> Any:
        return SimpleNamespace(validation_rmse=[9.0, next(found)])

    monkeypatch.setattr(OneRun, "make_maps", lambda _: None)
    monkeypatch.setattr(fits, "read_map", read)
    study = study_of(6, output=output, members=len(errors))
    assert errors_of_maps(study, Path()) == (pytest.approx(np.mean(errors)), several)


@pytest.mark.parametrize("code", [NO_DENSITY, "data.no_column"])
def test_a_map_without_density_has_an_infinite_error(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any other error ends the fit."""

    def refuse(_: OneRun) -> None:
        raise InputError(code)

    monkeypatch.setattr(OneRun, "make_maps", refuse)
    if code == NO_DENSITY:
        assert errors_of_maps(study_of(6), Path()) == MapErrors(np.inf)
        return
    with pytest.raises(InputError) as error:
        errors_of_maps(study_of(6), Path())
    assert error.value.code == code


@pytest.mark.parametrize(
    ("errors", "order"),
    [
        ([MapErrors(0.2), MapErrors(0.1)], [1, 0]),
        ([MapErrors(0.1), MapErrors(0.2)], [0, 1]),
        ([MapErrors(0.1), MapErrors(0.1)], [0, 1]),
        ([MapErrors(0.2), MapErrors(0.11, several_modes=True)], [0, 1]),
        ([MapErrors(0.2), MapErrors(0.09, several_modes=True)], [1, 0]),
        ([MapErrors(np.inf), MapErrors(9.0, several_modes=True)], [1, 0]),
    ],
)
def test_several_modes_cost_half_of_the_accuracy(errors: list[MapErrors], order: list[int]) -> None:
    assert order_of(errors) == order
