"""From draws of a posterior to earlier data that other jobs use, and refused input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from nlobayes import builder
from nlobayes.artifacts.audit.file_damage import inspect
from nlobayes.artifacts.contents import named_group, read_earlier, read_map, write_dataset
from nlobayes.artifacts.netcdf import read_attrs, write_groups
from nlobayes.commands.pipeline.pretrain import pretrain
from nlobayes.commands.tools.condense import condense
from nlobayes.data.splits import TRAIN
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset
from tests.refusals import refused

MODEL: dict[str, Any] = {
    "network": {"hidden": []},
    "prior": {"kind": "fan_in"},
    "likelihood": {"kind": "gaussian", "sigma": 0.3},
    "precision": "float64",
}
SIZE, CHAINS, DRAWS = 6, 2, 300
PASSED = {"rhat_f": {"value": 1.0, "threshold": 1.05, "passed": True}}


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def old_rows(dataset: Dataset) -> Dataset:
    split = dataset.split.copy()
    split[np.flatnonzero(split == TRAIN)[15:]] = -1
    return dataset._replace(split=split)


def new_rows(dataset: Dataset) -> Dataset:
    split = dataset.split.copy()
    split[np.flatnonzero(split == TRAIN)[:15]] = -1
    return dataset._replace(split=split)


def solve(model: builder.Model) -> tuple[np.ndarray, np.ndarray]:
    """Give mean and covariance of the position of a linear network."""
    origin = jnp.zeros(SIZE)
    covariance = np.linalg.inv(-np.asarray(jax.jit(jax.hessian(model.logdensity_fn))(origin)))
    return covariance @ np.asarray(jax.jit(jax.grad(model.logdensity_fn))(origin)), covariance


def write_old(dataset: Dataset, draws: int = DRAWS, **changes: Any) -> tuple[Path, Path]:
    """Write a dataset of the old rows alone, and draws of its posterior: exact and independent."""
    old = old_rows(dataset)
    write_dataset(Path("old.nc"), old, {})
    model = builder.build_model(ModelJob.model_validate(MODEL), old)
    rng = np.random.default_rng(0)
    positions = rng.multivariate_normal(*solve(model), (CHAINS, draws))
    named = builder.name_variables(model, jnp.asarray(positions))
    coords = {"chain": np.arange(CHAINS), "draw": np.arange(draws)}
    groups = {
        "posterior": named_group(named, ("chain", "draw"), coords),
        "observed_data": xr.Dataset({"target": (("point",), old.target[old.split == TRAIN])}),
    }
    spec = {"model": MODEL | changes}
    made = {"verb": "thin", "spec": spec, "exact": True, "checks": PASSED}
    write_groups(Path("thinned.nc"), "thinned", groups, made)
    return Path("thinned.nc"), Path("old.nc")


def updated(earlier: Path) -> ModelJob:
    return ModelJob.model_validate(
        MODEL | {"prior": {"kind": "fan_in", "earlier": {"file": str(earlier)}}}
    )


@pytest.mark.slow
def test_earlier_data_and_new_rows_are_the_union(dataset: Dataset) -> None:
    """Within the noise of 600 draws of the posterior and of 4000 of the prior."""
    out = Path("earlier/old.nc")
    condense(*write_old(dataset), out, points=12)
    assert inspect(out) == []
    earlier = read_earlier(out)
    assert earlier.inputs.shape == (12, 5)
    assert earlier.root.shape == (SIZE, 12)
    assert {tuple(row) for row in earlier.inputs} <= {tuple(row) for row in dataset.inputs}
    new = builder.build_model(updated(out), new_rows(dataset), earlier)
    union = builder.build_model(ModelJob.model_validate(MODEL), dataset)
    (mean, covariance), (exact, exact_covariance) = solve(new), solve(union)
    sd, exact_sd = np.sqrt(covariance.diagonal()), np.sqrt(exact_covariance.diagonal())
    assert np.abs((mean - exact) / exact_sd).max() < 6 / np.sqrt(CHAINS * DRAWS)
    assert np.abs(sd / exact_sd - 1).max() < 0.15


@pytest.mark.slow
def test_a_job_reads_and_records_the_earlier_of_its_prior(
    dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    condense(*write_old(dataset), Path("old_earlier.nc"), points=12)
    assert "6 combinations of f at 12 points, from 600 draws" in capsys.readouterr().err
    write_dataset(Path("new.nc"), new_rows(dataset), {})
    pretraining = {"batch": 15, "epochs": 300, "learning_rate": 0.05}
    for job, out in (
        (ModelJob.model_validate(MODEL), Path("bare.nc")),
        (updated(Path("old_earlier.nc")), Path("start.nc")),
    ):
        spec = {"model": job.model_dump(), "pretraining": pretraining, "seed": 1}
        pretrain(json.dumps(spec), Path("new.nc"), 0, out)
    assert read_attrs(Path("start.nc"))["inputs"].keys() == {"new.nc", "old_earlier.nc"}
    assert read_attrs(Path("bare.nc"))["inputs"].keys() == {"new.nc"}
    exact, covariance = solve(builder.build_model(ModelJob.model_validate(MODEL), dataset))
    apart = [
        np.abs((read_map(Path(f"{name}.nc")).position - exact) / np.sqrt(covariance.diagonal()))
        for name in ("start", "bare")
    ]
    assert apart[0].max() < 0.5 < apart[1].max()


def test_only_what_varies_a_priori_is_remembered(dataset: Dataset) -> None:
    given = write_old(dataset)
    kept = []
    for share in (1e-6, 0.1, 0.99):
        condense(*given, Path("out.nc"), points=12, prior_draws=400, smallest_share=share)
        kept.append(len(read_earlier(Path("out.nc")).root))
    assert kept[0] == SIZE > kept[1] > kept[2] == 1
    with refused("less_than", where="condense", places=["smallest_share"]):
        condense(*given, Path("out.nc"), smallest_share=1.0)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"likelihood": {"kind": "heteroscedastic", "scale": 0.1}}, "commands.several_outputs"),
        ({"network": {"width": "infinite", "activation": "erf"}}, "commands.infinite_width"),
    ],
)
def test_models_without_one_finite_output_are_refused(
    dataset: Dataset, changes: dict[str, Any], code: str
) -> None:
    with refused(code):
        condense(*write_old(dataset, **changes), Path("out.nc"))


@pytest.mark.slow
def test_what_is_no_posterior_or_learned_nothing_is_refused(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise of 1000 sd of the target leaves draws of the prior: their excess is Monte-Carlo."""
    thinned, old = write_old(dataset)
    with refused("commands.no_model_stated", path=old):
        condense(old, old, Path("out.nc"))
    monkeypatch.setitem(MODEL, "likelihood", {"kind": "gaussian", "sigma": 1000.0})
    with refused("commands.nothing_learned", where=thinned):
        condense(*write_old(dataset), Path("out.nc"), points=12, smallest_share=0.9)
