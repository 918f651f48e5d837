"""Comparison of approximations with the exact posterior: measures, scores, refused input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.signal import lfilter

from nlobayes.artifacts.files import read_csv
from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.artifacts.records import read_record
from nlobayes.commands.pipeline.fidelity import fidelity
from nlobayes.data.splits import TEST
from nlobayes.types import Dataset, PredictedDraws
from tests.refusals import refused
from tests.unit.conftest import predicted_groups

EXACT, SAME, WRONG = (f"made/n4/{name}/s1" for name in ("hmc", "same", "wrong"))
Read = Callable[[Path], dict[str, Any]]


@pytest.fixture
def project(dataset: Dataset, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Predictions, scores and timings of an exact run, of an equal one, and of a wrong one."""
    monkeypatch.chdir(tmp_path)
    rng, points = np.random.default_rng(1), len(dataset.observed)
    centre = np.log10(dataset.observed)
    for name, chains, off, sd, converged in (
        *((EXACT, 4, 0.0, 0.1, True), (SAME, 1, 0.0, 0.1, None), (WRONG, 1, 0.1, 0.05, None)),
    ):
        function = centre + off + sd * rng.normal(size=(400, points))
        _write_predictions(name, dataset, function, chains)
        metrics = Path("results/metrics") / name
        metrics.mkdir(parents=True)
        scores = {"rmse_log10": 0.03, "coverage_95": 0.9 + off, "lppd": 1.5, "crps": 0.1}
        (metrics / "evaluation.json").write_text(json.dumps({"test": scores}))
        _write_verdict(metrics, converged, {})
        posterior = Path("results/posterior") / f"{name}.nc"
        write_groups(posterior, "posterior", open_artifact(run.posterior, "posterior").groups, {})
        timing = Path("timings") / f"{name}.tsv"
        timing.parent.mkdir(parents=True, exist_ok=True)
        timing.write_text(f"s\tcpu_time\n1.0\t{1 + chains}\n")
    return tmp_path


def _write_predictions(name: str, dataset: Dataset, function: np.ndarray, chains: int) -> None:
    draws = xr.Dataset(coords={"chain": range(chains), "draw": np.arange(len(function) // chains)})
    predicted = PredictedDraws(function, "gaussian", np.asarray(0.1))
    groups = predicted_groups(predicted, predicted._replace(function=function[:2]), dataset, draws)
    write_groups(Path(f"results/predictions/{name}.nc"), "predictions", groups, {})


def _write_verdict(metrics: Path, converged: bool | None, checks: dict[str, Any]) -> None:
    found = {"converged": converged, "checks": checks, "exact": converged is not None}
    (metrics / "diagnostics.json").write_text(json.dumps(found))


def hold(*names: str) -> None:
    runs = (EXACT, *names)
    methods = [{"run": name, "timings": [f"{name}.tsv"]} for name in runs]
    spec = json.dumps({"exact": methods[0], "approximations": methods[1:]})
    patterns = {
        "predictions": "results/predictions/{}.nc",
        "posterior": "results/posterior/{}.nc",
        "evaluation": "results/metrics/{}/evaluation.json",
        "diagnostics": "results/metrics/{}/diagnostics.json",
    }
    files = {kind: [Path(at.format(name)) for name in runs] for kind, at in patterns.items()}
    out, record = Path("out.json"), Path("results/records/fidelity/a.json")
    fidelity(spec, **files, out=out, table=Path("table.csv"), record=record)


def test_the_same_posterior_is_found_the_same_and_a_wrong_one_wrong(
    project: Path, dataset: Dataset, read: Read
) -> None:
    """Draws are independent; the wrong one is off by an sd and half as wide."""
    hold(SAME, WRONG)
    found = read(project / "out.json")
    same, wrong = found["approximations"]
    assert found["points"] == (dataset.split == TEST).sum()
    assert 0.4 < same["mean_z_rms"] < 1.6
    assert wrong["mean_z_rms"] > 5
    assert wrong["mean_difference_rms"] == pytest.approx(1, rel=0.1)
    assert wrong["sd_ratio_median"] == pytest.approx(0.5, rel=0.1)
    assert same["total_variation_mean"] < 0.06 < 0.2 < wrong["total_variation_mean"]
    floor = found["exact"]["halves"]
    assert floor["total_variation_mean"] < 0.08
    assert floor["wasserstein_mean"] < wrong["wasserstein_mean"] / 3
    assert same["pareto_k"] is None


def test_pareto_k_is_that_of_an_approximation_that_knows_its_density(
    project: Path, read: Read
) -> None:
    """Draws of N(0, 1) reweighted to N(0, 4): the ratio's tail is a power of 4/3, so k is 3/4."""
    path = Path(f"results/posterior/{SAME}.nc")
    z = np.random.default_rng(0).normal(size=(1, 20_000))
    groups = open_artifact(path, "posterior").groups
    coords = {"chain": [0], "draw": np.arange(z.size)}
    stats = {"lp": -(z**2) / 8, "log_approximation": -(z**2) / 2}
    named = {name: (("chain", "draw"), values) for name, values in stats.items()}
    write_groups(path, "posterior", {**groups, "sample_stats": xr.Dataset(named, coords)}, {})
    hold(SAME)
    (found,) = read(project / "out.json")["approximations"]
    assert found["pareto_k"] == pytest.approx(0.75, abs=0.15)


def test_pareto_k_is_the_attribute_of_draws_that_were_chosen_by_their_weights(
    project: Path, read: Read
) -> None:
    """For a posterior without density; one without attribute has no k either."""
    path = Path(f"results/posterior/{SAME}.nc")
    groups, attrs = open_artifact(path, "posterior").groups, read_attrs(path)
    write_groups(path, "posterior", groups, {**attrs, "pareto_k": 4.25})
    hold(SAME, WRONG)
    chosen, unknown = read(project / "out.json")["approximations"]
    assert (chosen["pareto_k"], unknown["pareto_k"]) == (4.25, None)


@pytest.mark.statistical
def test_autocorrelated_chains_are_worth_fewer_draws(
    project: Path, dataset: Dataset, read: Read
) -> None:
    """AR(1) chains of 0.9 have 19 draws per independent one, and the same law.

    The rms of 15 z is 1 with an error of 0.18; draws taken for independent would give above 3.
    """
    steps = np.random.default_rng(5).normal(size=(4, 1000, len(dataset.observed)))
    steps[:, 1:] *= np.sqrt(1 - 0.9**2)
    chains = np.asarray(lfilter([1.0], [1.0, -0.9], steps, axis=1)).reshape(4000, -1)
    _write_predictions(EXACT, dataset, np.log10(dataset.observed) + 0.1 * chains, 4)
    hold(SAME)
    (same,) = read(project / "out.json")["approximations"]
    assert 0.4 < same["mean_z_rms"] < 1.6
    assert 0.4 < same["sd_z_rms"] < 1.6


def test_scores_verdicts_and_cpu_seconds_stand_beside(project: Path, read: Read) -> None:
    hold(SAME, WRONG)
    found, table = read(project / "out.json"), read_csv(project / "table.csv")
    assert found["exact"]["test"] == {"rmse_log10": 0.03, "coverage_95": 0.9, "lppd": 1.5}
    assert table["method"].tolist() == ["hmc", "same", "wrong"]
    assert table["converged"].tolist() == ["yes", "approximate", "approximate"]
    assert table["coverage_95"].tolist() == [0.9, 0.9, 1.0]
    assert table["cpu_seconds"].tolist() == [5, 2, 2]
    assert table["cpu_ratio"].tolist() == [1, 2.5, 2.5]
    off = found["approximations"][1]["mean_difference_rms"]
    assert table["mean_difference_rms"][2] == pytest.approx(off, rel=1e-6)
    outputs = read_record(project / "results/records/fidelity/a.json")["outputs"]
    assert [*outputs] == ["out.json"]  # timings are no results


def test_runs_of_other_rows_are_refused(project: Path, dataset: Dataset) -> None:
    other = dataset._replace(observed=2 * dataset.observed)
    _write_predictions(WRONG, other, np.zeros((400, len(other.observed))), 1)
    with refused("commands.other_points_predicted"):
        hold(SAME, WRONG)
    assert not (project / "out.json").exists()


def test_one_file_of_each_kind_is_needed_for_every_run(project: Path) -> None:
    exact, others = ({"run": name} for name in (EXACT, SAME))
    spec = json.dumps({"exact": exact, "approximations": [others]})
    files: dict[str, list[Path]] = {"posterior": [], "evaluation": [], "diagnostics": []}
    with refused("commands.unequal_files", files=[1, 0, 0, 0], runs=2):
        fidelity(spec, [project / f"results/predictions/{EXACT}.nc"], **files, out=Path("out.json"))
