"""A dataset with errors of rows in the commands from MAPs to diagnostics."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from nlobayes import builder
from nlobayes.artifacts.contents import read_map, write_dataset
from nlobayes.artifacts.files import read_csv
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.commands.pipeline.assemble import assemble
from nlobayes.commands.pipeline.diagnose import diagnose
from nlobayes.commands.pipeline.draw import draw
from nlobayes.commands.pipeline.landscape import landscape
from nlobayes.commands.pipeline.pretrain import pretrain
from nlobayes.commands.pipeline.warmup import warmup
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset
from tests.unit.artifacts.opened import read_checkpoint

SIGMA, TRAIN, CHAINS = 0.2, 30, range(3)
JUDGED: dict[str, Any] = {
    "likelihood": {"kind": "gaussian", "sigma": SIGMA},
    "kernel": {"kind": "hmc"},
    "thresholds": {},
    "thinning_loss": 0.1,
}


class Noisy(NamedTuple):
    """A dataset with errors, the specification of its model, and the files of its run."""

    dataset: Dataset
    model: dict[str, Any]
    starts: list[Path]
    segment: Path
    folder: Path

    def log_density(self, position: np.ndarray) -> float:
        """Log posterior of a position, its likelihood by SciPy from the errors in dex."""
        data, train = self.dataset, self.dataset.split == 0
        assert data.error is not None
        model = builder.build_model(ModelJob.model_validate(self.model), data)
        f = builder.predict_with(model)(jnp.asarray(position), jnp.asarray(data.features[train]))
        sd = np.log10(data.observed[train]).std()
        scale = np.hypot(SIGMA * sd, data.error[train])
        residual = sd * (data.target[train] - np.asarray(f))
        likelihood = norm.logpdf(residual, scale=scale).sum() + TRAIN * np.log(sd)
        return float(model.density.log_prior(jnp.asarray(position)) + likelihood)


@pytest.fixture(scope="module")
def noisy(
    dataset: Dataset, job: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> Noisy:
    """A block of three chains of eight draws, with the mass matrix that needs the curvature."""
    folder = tmp_path_factory.mktemp("errors")
    error = 10.0 ** np.random.default_rng(3).uniform(-2, 1, len(dataset.target))
    data, path = dataset._replace(error=error), folder / "dataset.nc"
    write_dataset(path, data, {})
    adapt, continued = (job(verb, mass_matrix="gauss_newton") for verb in ("warmup", "draw"))
    model = json.loads(adapt)["model"]
    fitted = {"model": model, "pretraining": {"batch": 10, "epochs": 20}, "seed": 1}
    starts = [folder / f"start_{chain}.nc" for chain in CHAINS]
    for chain, start in enumerate(starts):
        pretrain(json.dumps(fitted), path, chain, start)
    warmed, segment = folder / "warmup.nc", folder / "segment.nc"
    warmup(adapt, path, warmed, starts)
    draw(continued, path, warmed, segment)
    assemble(path, [warmed], [segment], folder / "posterior.nc")
    return Noisy(data, model, starts, segment, folder)


def test_chains_move_on_the_density_of_rows_with_errors(noisy: Noisy) -> None:
    state = read_checkpoint(noisy.segment).state
    expected = [noisy.log_density(position) for position in state["position"]]
    np.testing.assert_allclose(state["logdensity"], expected, rtol=1e-10)


def test_a_map_comes_from_the_loss_of_rows_with_errors(noisy: Noisy) -> None:
    """The last epoch changes little, so that its loss is that of the MAP."""
    for path in noisy.starts:
        start = read_map(path)
        expected = -noisy.log_density(start.position) / TRAIN
        np.testing.assert_allclose(start.loss[-1], expected, rtol=0.02)


def test_the_landscape_is_that_of_rows_with_errors(noisy: Noisy, tmp_path: Path) -> None:
    spec = json.dumps({"model": noisy.model, "seed": 1})
    landscape(spec, noisy.folder / "dataset.nc", noisy.starts, tmp_path)
    maps = read_csv(tmp_path / "landscape_maps.csv")
    positions = [read_map(path).position for path in noisy.starts]
    expected = [-noisy.log_density(position) / TRAIN for position in positions]
    np.testing.assert_allclose(maps["energy"], expected, rtol=1e-6)


def test_the_posterior_holds_its_errors_and_is_as_tight_as_they_allow(
    noisy: Noisy, read: Callable[[Path], dict[str, Any]], tmp_path: Path
) -> None:
    data, train = noisy.dataset, noisy.dataset.split == 0
    assert data.error is not None
    error = data.error[train] / np.log10(data.observed[train]).std()
    posterior = noisy.folder / "posterior.nc"
    observed = open_artifact(posterior, "posterior").groups["observed_data"]
    np.testing.assert_allclose(observed["error"], error, rtol=1e-12)
    diagnose(json.dumps(JUDGED), posterior, tmp_path / "diagnostics.json")
    found = read(tmp_path / "diagnostics.json")["tightness"]
    assert found == pytest.approx((1 / (SIGMA**2 + error**2)).sum())
    assert found < 0.7 * TRAIN / SIGMA**2
