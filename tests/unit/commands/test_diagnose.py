"""Diagnostics for a fixed and for a learned noise."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.netcdf import open_artifact, write_groups
from nlobayes.commands.pipeline.diagnose import diagnose
from nlobayes.types import Dataset
from tests.refusals import refused

SPEC: dict[str, Any] = {
    "likelihood": {"kind": "gaussian", "sigma": 0.1},
    "kernel": {"kind": "hmc"},
    "thresholds": {},
    "thinning_loss": 0.1,
}


Read = Callable[[Path], dict[str, Any]]


@pytest.fixture
def diagnose_run(run: Any, tmp_path: Path, read: Read) -> Callable[..., dict[str, Any]]:
    """Diagnose a posterior, and read the verdict."""

    def diagnosed(posterior: Path = run.posterior, **changes: Any) -> dict[str, Any]:
        spec = json.dumps(SPEC | changes)
        diagnose(spec, posterior, tmp_path / "out.json")
        return read(tmp_path / "out.json")

    return diagnosed


def test_independent_draws_pass_and_failed_checks_are_data(
    diagnose_run: Callable[..., dict[str, Any]],
    dataset: Dataset,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = diagnose_run()
    assert found["tightness"] == pytest.approx(30 / 0.1**2)  # the train targets have sd 1
    assert (found["chains"], found["draws_per_chain"]) == (3, 32)
    assert found["exact"] is True
    assert found["rhat_noise"] is None
    assert found["max_depth_share"] is None
    assert found["checks"]["divergences"]["passed"] is (found["divergences"] == 0)
    assert found["divergences"] > 0
    assert f"FAILED: divergences {found['divergences']} (at most 0)" in capsys.readouterr().err


def test_the_spread_of_all_weights_is_written(
    diagnose_run: Callable[..., dict[str, Any]], run: Any
) -> None:
    """5-2-1: 10 + 2 weights and 2 + 1 biases, in the draws of three chains."""
    drawn = open_artifact(run.posterior, "posterior").groups["posterior"]
    arrays = [drawn[name].values for name in drawn if name != "noise"]
    weights = np.concatenate([array.reshape(24, -1) for array in arrays], axis=1)
    assert weights.shape == (24, 15)
    found, shares = diagnose_run()["weight_spread"], np.linspace(0.5, 99.5, 100)
    np.testing.assert_allclose(found["weight"], np.percentile(weights, shares), rtol=1e-6)
    of_each = weights.astype(np.float64).std(axis=0)
    np.testing.assert_allclose(found["sd"], np.percentile(of_each, shares), rtol=1e-6)


def test_gradients_include_the_warmup(
    diagnose_run: Callable[..., dict[str, Any]], run: Any
) -> None:
    groups = open_artifact(run.posterior, "posterior").groups
    drawn = int(groups["all_sample_stats"]["n_steps"].sum())
    warm = int(groups["warmup_sample_stats"]["n_steps"].sum())
    found = diagnose_run()
    assert found["gradients_total"] == drawn + warm
    assert found["gradients_per_draw"] == pytest.approx(drawn / 96)


def test_the_tightness_is_in_units_of_the_sd_of_the_target(
    run: Any, tmp_path: Path, diagnose_run: Callable[..., dict[str, Any]]
) -> None:
    groups = open_artifact(run.posterior, "posterior").groups
    groups["observed_data"] = 3 * groups["observed_data"] + 1
    write_groups(tmp_path / "wide.nc", "posterior", groups, {"exact": True})
    assert diagnose_run(tmp_path / "wide.nc")["tightness"] == pytest.approx(
        9 * diagnose_run()["tightness"]
    )


def test_errors_of_the_rows_loosen_the_posterior(
    run: Any, tmp_path: Path, diagnose_run: Callable[..., dict[str, Any]]
) -> None:
    """In units of the learned target, here of sd 2; a third of the rows count."""
    groups = open_artifact(run.posterior, "posterior").groups
    wide = 2 * groups["observed_data"]
    error = np.resize([0.0, 1e6, 1e6], wide.sizes["point"])
    groups["observed_data"] = wide.assign(error=("point", error))
    write_groups(tmp_path / "errors.nc", "posterior", groups, {"exact": True})
    assert diagnose_run(tmp_path / "errors.nc")["tightness"] == pytest.approx(10 * 2**2 / 0.1**2)
    groups["observed_data"] = wide.assign(error=("point", np.full(len(error), 0.1)))
    write_groups(tmp_path / "errors.nc", "posterior", groups, {"exact": True})
    assert diagnose_run(tmp_path / "errors.nc")["tightness"] == pytest.approx(15 * 2**2 / 0.1**2)


@pytest.mark.parametrize("dead", [[1], [0, 2], [0, 1, 2]])
def test_dead_chains_are_named_and_what_they_leave_undefined_is_worded(
    run: Any,
    tmp_path: Path,
    diagnose_run: Callable[..., dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
    dead: list[int],
) -> None:
    """A chain that never moved, in all diagnosed quantities."""
    groups = open_artifact(run.posterior, "posterior").groups
    for name in ("predictions", "posterior", "all_sample_stats"):
        for values in groups[name].data_vars.values():
            if values.dims[:2] == ("chain", "draw"):
                values.values[dead] = values.values[dead][:, :1]
    write_groups(tmp_path / "dead.nc", "posterior", groups, {"exact": True})
    found, printed = diagnose_run(tmp_path / "dead.nc"), capsys.readouterr().err
    assert found["still_chains_at"] == dead
    assert found["checks"]["still_chains"] == {"value": len(dead), "threshold": 0, "passed": False}
    assert f"chains that stand still: {', '.join(map(str, dead))}\n" in printed
    assert ("rhat_f not finite (at most" in printed) == (len(dead) == 3)
    assert "None" not in printed


@pytest.mark.parametrize(("aim", "passed"), [(1e-3, True), (4e-4, False)])
def test_an_unadjusted_sampler_is_held_to_what_its_warmup_aimed_at(
    run: Any, tmp_path: Path, diagnose_run: Callable[..., dict[str, Any]], aim: float, passed: bool
) -> None:
    groups = open_artifact(run.posterior, "posterior").groups
    variance = (("chain", "draw"), np.full((3, 32), 1e-3))
    groups["all_sample_stats"] = groups["all_sample_stats"].assign(energy_variance=variance)
    write_groups(tmp_path / "unadjusted.nc", "posterior", groups, {"exact": False})
    kernel = {"kind": "mclmc"}
    found = diagnose_run(tmp_path / "unadjusted.nc", kernel=kernel, energy_variance=aim)
    assert found["exact"] is False
    assert found["energy_variance"] == pytest.approx(1e-3)
    assert found["checks"]["energy_variance"]["passed"] is passed
    assert diagnose_run()["energy_variance"] is None


def test_a_learned_noise_is_checked_and_sets_the_tightness(
    run: Any, tmp_path: Path, diagnose_run: Callable[..., dict[str, Any]], dataset: Dataset
) -> None:
    groups = open_artifact(run.posterior, "posterior").groups
    stats = groups["all_sample_stats"]
    noise = 0.2 + 0.01 * np.random.default_rng(1).normal(size=(3, 32))
    groups["all_sample_stats"] = stats.assign(noise=(("chain", "draw"), noise))
    stored = groups["posterior"].assign(noise=(("chain", "draw"), noise[:, 3::4]))
    groups["posterior"] = stored
    write_groups(tmp_path / "noisy.nc", "posterior", groups, {"exact": True})
    fixed, found = (
        diagnose_run(),
        diagnose_run(tmp_path / "noisy.nc", likelihood={"kind": "gaussian", "sigma": None}),
    )
    assert found["tightness"] == pytest.approx(30 / noise.mean() ** 2)
    assert found["rhat_noise"] > 0.9
    assert found["rhat_weights_median"] == fixed["rhat_weights_median"]  # noise is no weight


def test_a_learned_noise_that_is_not_there_is_refused(
    diagnose_run: Callable[..., dict[str, Any]],
) -> None:
    with refused("commands.no_learned_noise"):
        diagnose_run(likelihood={"kind": "gaussian", "sigma": None})
