"""Each approximate method through the command `approximate`: not exact, repeatable, its numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes import builder
from nlobayes.artifacts.contents import read_dataset, read_map, write_map
from nlobayes.artifacts.netcdf import open_artifact, read_attrs
from nlobayes.commands.pipeline.approximate import approximate
from nlobayes.study.jobs import ModelJob
from tests.refusals import refused

MODES, DRAWS = 2, 7
MODEL: dict[str, Any] = {
    "network": {"hidden": [2], "activation": "tanh"},
    "prior": {"kind": "fan_in"},
    "likelihood": {"kind": "gaussian", "sigma": 0.1},
    "precision": "float64",
}
MARGINALISED = {**MODEL, "network": {**MODEL["network"], "output": "marginalised"}}
QUICK = {"kind": "variational", "steps": 10, "draws_per_step": 2}
METHODS: dict[str, dict[str, Any]] = {
    "laplace": {"kind": "laplace", "covariance": "full"},
    "laplace_linearised": {"kind": "laplace", "covariance": "full", "predictive": "linearised"},
    "laplace_diagonal": {"kind": "laplace", "covariance": "diagonal"},
    "laplace_low_rank": {"kind": "laplace", "covariance": "low_rank", "rank": 3},
    "variational": {**QUICK, "covariance": "full"},
    "variational_diagonal": {**QUICK, "covariance": "diagonal"},
    "variational_low_rank": {**QUICK, "covariance": "low_rank", "rank": 3},
    "pathfinder": {"kind": "pathfinder", "iterations": 10, "history": 5, "resample": False},
    "last_layer": {"kind": "last_layer"},
    "swag": {"kind": "swag", "epochs": 6, "batch": 8, "rank": 3, "learning_rate": 1e-4},
    "sgld": {"kind": "sgld", "batch": 8, "discarded": 2, "epochs_between": 1, "step_size": 1e-7},
}
OF_STARTS = {
    "laplace": "log_evidence",
    "last_layer": "log_density_of_starts",
    "pathfinder": "elbo",
    "sgld": "mean_log_density",
    "swag": "log_density_of_means",
    "variational": "elbo",
}
BOTH = [
    pytest.param(name, model, id=f"{name}-{output}")
    for name in METHODS
    for output, model in (("sampled", MODEL), ("marginalised", MARGINALISED))
    if output == "sampled" or name not in ("sgld", "swag", "laplace_linearised")
]
GAUSSIANS = {"laplace", "pathfinder", "swag", "variational"}
"""Methods that state the density of their draws."""
STAY = {"last_layer": ("weights_1", "biases_1")}
"""Parameters that a method leaves at the MAPs."""


def spec(name: str, model: dict[str, Any], seed: int = 1) -> str:
    method = {**METHODS[name], "modes": MODES, "draws": DRAWS}
    return json.dumps({"model": model, "method": method, "seed": seed})


@pytest.fixture(scope="module")
def maps(
    dataset_path: Path, make_start: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> list[Path]:
    """Two positions that are used as MAPs."""
    model = builder.build_model(ModelJob.model_validate(MODEL), read_dataset(dataset_path))
    folder = tmp_path_factory.mktemp("maps")
    for mode in range(MODES):
        start = make_start(mode, np.float64)
        named = builder.name_variables(model, start.position)
        write_map(folder / f"{mode}.nc", start._replace(variables=named), {})
    return [folder / f"{mode}.nc" for mode in range(MODES)]


@pytest.mark.by_day(2)
@pytest.mark.parametrize(("name", "model"), BOTH)
def test_draws_are_not_exact_and_follow_the_seed(
    name: str, model: dict[str, Any], maps: list[Path], dataset_path: Path, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{which}.nc" for which in ("first", "again", "other")]
    for path, seed in zip(paths, (1, 1, 2), strict=True):
        approximate(spec(name, model, seed), dataset_path, maps, path)
    assert paths[0].read_bytes() == paths[1].read_bytes() != paths[2].read_bytes()
    attrs, groups = read_attrs(paths[0]), open_artifact(paths[0], "posterior").groups
    assert (attrs["exact"], attrs["form"]) == (False, "approximation")
    assert np.isfinite(attrs[OF_STARTS[METHODS[name]["kind"]]]).all()
    assert groups["predictions"]["f"].shape[:2] == (1, DRAWS)
    stats = groups["sample_stats"]
    assert ("log_approximation" in stats) == (METHODS[name]["kind"] in GAUSSIANS)
    for of_draws in stats.values():
        assert of_draws.dims == ("chain", "draw")
        assert np.isfinite(of_draws).all()
    for variable in ("weights_1", "biases_1", "weights_2", "biases_2"):
        drawn = groups["posterior"][variable].values[0].reshape(DRAWS, -1)
        different = MODES if variable in STAY.get(name, ()) else DRAWS
        assert (len(np.unique(drawn[:, 0])), len(drawn)) == (different, DRAWS), variable


def test_minibatches_of_an_output_layer_that_is_integrated_out_are_refused(
    maps: list[Path], dataset_path: Path, tmp_path: Path
) -> None:
    with refused("inference.no_sum_over_rows"):
        approximate(spec("swag", MARGINALISED), dataset_path, maps, tmp_path / "p.nc")
    assert not (tmp_path / "p.nc").exists()


@pytest.mark.slow
def test_resampled_draws_state_their_weights_and_no_density(
    maps: list[Path], dataset_path: Path, tmp_path: Path
) -> None:
    method = {**METHODS["pathfinder"], "resample": True, "candidates": 40, "modes": 2, "draws": 7}
    job = json.dumps({"model": MODEL, "method": method, "seed": 1})
    approximate(job, dataset_path, maps, tmp_path / "p.nc")
    attrs, groups = (
        read_attrs(tmp_path / "p.nc"),
        open_artifact(tmp_path / "p.nc", "posterior").groups,
    )
    assert 1 <= attrs["ess_weights"] <= 40
    assert np.isfinite(attrs["pareto_k"])
    assert set(groups["sample_stats"]) == {"lp"}
    assert groups["posterior"]["weights_1"].shape[:2] == groups["predictions"]["f"].shape[:2]
    assert groups["predictions"]["f"].shape[:2] == (1, 7)


def test_an_output_layer_that_is_integrated_out_is_drawn_given_all_else(
    maps: list[Path], dataset_path: Path, tmp_path: Path
) -> None:
    """It fits the train rows better than its starts, which are far from any optimum."""
    approximate(spec("laplace_diagonal", MARGINALISED), dataset_path, maps, tmp_path / "p.nc")
    weights = open_artifact(tmp_path / "p.nc", "posterior").groups["posterior"]
    data = read_dataset(dataset_path)
    train = data.split == 0

    def misfit(values: dict[str, np.ndarray]) -> float:
        hidden = np.tanh(data.features[train] @ values["weights_1"] + values["biases_1"])
        f = hidden @ values["weights_2"][:, 0] + values["biases_2"]
        return float(np.mean((f - data.target[train]) ** 2))

    names = ("weights_1", "biases_1", "weights_2", "biases_2")
    drawn = [misfit({name: weights[name].values[0, draw] for name in names}) for draw in range(7)]
    begun = [misfit(read_map(path).variables.values) for path in maps]
    assert max(drawn) < min(begun)
