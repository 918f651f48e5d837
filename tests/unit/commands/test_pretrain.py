"""The output of pretraining, and refusals before it builds a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes import builder
from nlobayes.artifacts.contents import read_map
from nlobayes.artifacts.netcdf import read_attrs
from nlobayes.commands.pipeline.pretrain import pretrain
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset, MAPEstimate
from tests.refusals import refused

MODEL: dict[str, Any] = {
    "network": {"hidden": [2]},
    "prior": {"kind": "fan_in"},
    "likelihood": {"kind": "gaussian", "sigma": 0.1},
    "precision": "float64",
}


def test_the_path_leads_from_the_starting_point_to_the_map(
    dataset: Dataset, dataset_path: Path, tmp_path: Path
) -> None:
    pretraining = {"batch": 10, "epochs": 70}
    spec = json.dumps({"model": MODEL, "pretraining": pretraining, "seed": 1})
    pretrain(spec, dataset_path, 2, tmp_path / "start.nc")
    found = read_map(tmp_path / "start.nc")
    model = builder.build_model(ModelJob.model_validate(MODEL), dataset)
    begin = builder.draw_start(model, "prior", seed=1, chain=2)
    assert (found.path.shape, found.path.dtype) == ((50, model.density.size), np.float32)
    assert found.path_epochs[[0, -1]].tolist() == [0, 70]
    np.testing.assert_array_equal(found.path[0], np.asarray(begin, np.float32))
    np.testing.assert_array_equal(found.path[-1], found.position.astype(np.float32))
    assert found.loss.shape == (70,)


@pytest.mark.parametrize("batch", [31, 100])
def test_a_batch_larger_than_the_train_split_is_refused(
    dataset_path: Path, tmp_path: Path, batch: int
) -> None:
    spec = json.dumps({"model": MODEL, "pretraining": {"batch": batch}, "seed": 1})
    with refused("commands.too_few_train_rows", where=dataset_path, batch=batch, rows=30):
        pretrain(spec, dataset_path, 0, tmp_path / "start.nc")
    assert list(tmp_path.iterdir()) == []


def fitted(dataset_path: Path, out: Path, chain: int, **settings: Any) -> tuple[MAPEstimate, Any]:
    """Pretrain one chain, and return its output and the losses of its restarts."""
    pretraining = {"batch": 10, "epochs": 20} | settings
    spec = json.dumps({"model": MODEL, "pretraining": pretraining, "seed": 4})
    pretrain(spec, dataset_path, chain, out)
    return read_map(out), read_attrs(out)["restart_losses"]


def test_restarts_keep_the_best_of_as_many_separate_fits(
    dataset: Dataset, dataset_path: Path, tmp_path: Path
) -> None:
    """Restarts are fits of chains with higher numbers; the first is the fit without restarts."""
    out, rows = tmp_path / "start.nc", int((dataset.split == 0).sum())
    best, losses = fitted(dataset_path, out, 1, restarts=3)
    singles = [fitted(dataset_path, out, 1 + n * builder.MOST_CHAINS) for n in range(3)]
    assert losses == [loss for _, [loss] in singles]
    kept = singles[int(np.argmin(losses))][0]
    for name in ("position", "loss", "validation_rmse", "path"):
        np.testing.assert_array_equal(getattr(best, name), getattr(kept, name))
    assert best.chain == 1
    assert len({start.path[0].tobytes() for start, _ in singles}) == 3
    model = builder.build_model(ModelJob.model_validate(MODEL), dataset)
    density = model.logdensity_fn(jnp.asarray(best.position))
    np.testing.assert_allclose(-density / rows, min(losses), rtol=1e-12)


@pytest.mark.parametrize(
    "settings",
    [
        {"restarts": 2},
        {"start": "best_of_prior", "start_draws": 9},
        {"batch": "full", "optimiser": {"kind": "sgd", "momentum": 0.5}, "learning_rate": 1e-4},
        {"optimiser": {"kind": "amsgrad"}, "schedule": {"kind": "cycles"}, "patience": 3},
        {"optimiser": {"kind": "adamw"}, "schedule": {"kind": "exponential", "decay_rate": 0.1}},
    ],
    ids=["restarts", "best of prior", "full", "cycles", "adamw"],
)
@pytest.mark.by_day(1)
def test_the_same_seed_writes_the_same_bytes(
    dataset_path: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    found, losses = fitted(dataset_path, tmp_path / "one.nc", 2, **settings)
    fitted(dataset_path, tmp_path / "two.nc", 2, **settings)
    assert (tmp_path / "one.nc").read_bytes() == (tmp_path / "two.nc").read_bytes()
    assert len(losses) == settings.get("restarts", 1)
    assert found.loss.min() < found.loss[0]
    assert len(found.loss) == (60 if "patience" in settings else 20)


def test_a_diverged_restart_is_passed_over(
    dataset_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first start is not finite; its loss is recorded as missing."""
    draw_start = builder.draw_start

    def broken(model: Any, start: str, *, chain: int, **settings: Any) -> Any:
        drawn = draw_start(model, start, chain=chain, **settings)
        return drawn * np.nan if chain == 0 else drawn

    monkeypatch.setattr(builder.starts, "draw_start", broken)
    found, losses = fitted(dataset_path, tmp_path / "start.nc", 0, restarts=2)
    assert losses[0] is None
    assert np.isfinite(losses[1])
    assert np.isfinite(found.position).all()
    with refused("builder.no_density"):
        fitted(dataset_path, tmp_path / "start.nc", 0)


def test_a_fit_may_start_at_an_earlier_map(dataset_path: Path, tmp_path: Path) -> None:
    first, _ = fitted(dataset_path, tmp_path / "first.nc", chain=1)
    spec = json.dumps({"model": MODEL, "pretraining": {"batch": 10, "epochs": 20}, "seed": 5})
    after, out = tmp_path / "after.nc", tmp_path / "first.nc"
    pretrain(spec, dataset_path, 1, after, before=out)
    np.testing.assert_array_equal(read_map(after).path[0], first.position.astype(np.float32))
    assert read_map(after).loss[-1] < first.loss[-1]
    other = json.loads(spec) | {"model": MODEL | {"network": {"hidden": [3]}}}
    with refused("builder.other_position", where=out):
        pretrain(json.dumps(other), dataset_path, 1, tmp_path / "other.nc", before=out)


ELSEWHERE = {
    "weights_1": np.linspace(-1, 1, 10).reshape(5, 2),
    "biases_1": np.array([[0.3, -0.2], [0.5, 0.1]]),
    "weights_2": np.array([[2.0], [-1.5]]),
}
"""Weights of 5-2-1 for all chains, and biases for two; `biases_2` stays a draw of the prior."""


def test_chains_start_at_weights_of_another_program(
    dataset: Dataset, dataset_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("elsewhere.npz", allow_pickle=False, **ELSEWHERE)
    model = builder.build_model(ModelJob.model_validate(MODEL), dataset)
    for chain in (0, 1, 2):
        found, _ = fitted(
            dataset_path, tmp_path / "start.nc", chain, start_weights={"file": "elsewhere.npz"}
        )
        begin = model.density.variables(jnp.asarray(found.path[0], float))
        expected = ELSEWHERE | {"biases_1": ELSEWHERE["biases_1"][chain % 2]}
        for name, values in expected.items():
            np.testing.assert_allclose(begin[name], values, rtol=1e-6, atol=1e-7)
        drawn = model.density.variables(builder.draw_start(model, "prior", seed=4, chain=chain))
        np.testing.assert_allclose(begin["biases_2"], drawn["biases_2"], rtol=1e-6)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"weights_1": np.ones((2, 5))}, "builder.start_weights"),
        ({"weights_3": np.ones((2, 1))}, "builder.start_weights"),
        ({"biases_1": np.array([np.nan, 1])}, "builder.start_not_finite"),
        ({"biases_1": np.array(["a", "b"])}, "commands.unreadable_weights"),
    ],
)
def test_weights_that_are_not_of_the_network_are_refused(
    dataset_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, np.ndarray],
    code: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("elsewhere.npz", allow_pickle=False, **(ELSEWHERE | changes))
    with refused(code):
        fitted(dataset_path, tmp_path / "start.nc", 0, start_weights={"file": "elsewhere.npz"})
    assert not (tmp_path / "start.nc").exists()
