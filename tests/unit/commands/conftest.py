"""A small run on disk: dataset, chains, posterior, diagnostics, predictions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import xarray as xr

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset, write_dataset, write_map
from nlobayes.artifacts.files import write_json
from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.commands.pipeline.assemble import assemble
from nlobayes.commands.pipeline.draw import draw
from nlobayes.commands.pipeline.prepare import prepare
from nlobayes.commands.pipeline.simulate import simulate
from nlobayes.commands.pipeline.warmup import warmup
from nlobayes.data.splits import TEST, TRAIN, VALIDATION
from nlobayes.types import Dataset, MAPEstimate, PredictedDraws
from tests.unit.conftest import predicted_groups

CHAINS = 3
DRAWS = 40
ERRORS = {TRAIN: 0.01, VALIDATION: 0.03, TEST: 0.05}
MEMBERS = 3


class Run(NamedTuple):
    """The files of one run."""

    dataset: Path
    warmups: list[Path]
    segments: list[Path]
    starts: list[Path]
    posterior: Path


Same = Callable[[Path, Path], bool]


@pytest.fixture(scope="session")
def same_but_inputs() -> Same:
    """Return whether two artifacts have equal contents, whatever their inputs were."""

    def same(one: Path, two: Path) -> bool:
        before, after = ({**read_attrs(path), "inputs": None} for path in (one, two))
        groups = [open_artifact(path, before["kind"]).groups for path in (one, two)]
        equal = (groups[0][name].identical(groups[1][name]) for name in groups[0])
        return before == after and groups[0].keys() == groups[1].keys() and all(equal)

    return same


@pytest.fixture(scope="session")
def run(
    dataset_path: Path,
    make_chain_group: Callable[..., tuple[list[Path], list[Path]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Run:
    """Three chains, each a chain group, of two segments of 16 draws, every 4th stored."""
    folder = tmp_path_factory.mktemp("run")
    chain_groups = [make_chain_group(folder, (chain,), 2, draws=16) for chain in range(CHAINS)]
    warmups = [path for paths, _ in chain_groups for path in paths]
    segments = [path for _, paths in chain_groups for path in paths]
    starts = [folder / f"{chain}/start_{chain}.nc" for chain in range(CHAINS)]
    assemble(dataset_path, warmups, segments, folder / "posterior.nc")
    return Run(dataset_path, warmups, segments, starts, folder / "posterior.nc")


@pytest.fixture(scope="session")
def stated_run(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the posterior `tiny/s1`, which states its model 5-2-1, and its dataset."""
    root = tmp_path_factory.mktemp("stated")
    (root / "results/data").mkdir(parents=True)
    (root / "results/posterior/tiny").mkdir(parents=True)
    model = {
        "network": {"hidden": [2], "activation": "tanh"},
        "prior": {"kind": "fan_in"},
        "likelihood": {"kind": "gaussian", "sigma": 0.2},
        "precision": "float32",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        data = Path("results/data/tiny.nc")
        shutil.copy(run.dataset, data)
        made = {"spec": {"model": model}, "inputs": digests([data])}
        groups = open_artifact(run.posterior, "posterior").groups
        write_groups(Path("results/posterior/tiny/s1.nc"), "posterior", groups, made)
    return root


@pytest.fixture(scope="session")
def make_predictions() -> Callable[..., tuple[Path, Path]]:
    """Write a dataset and predictions of it that are off by 0.01 to 0.05 dex."""
    return _predictions


def _predictions(folder: Path, dataset: Dataset) -> tuple[Path, Path]:
    rng = np.random.default_rng(9)
    errors = np.array([ERRORS[split] for split in dataset.split.tolist()])
    centre = np.log10(dataset.observed) + rng.normal(0, errors)
    functions = centre + rng.normal(0, 0.01, (2 * DRAWS, len(centre)))
    members = centre + rng.normal(0, 0.02, (MEMBERS, len(centre)))
    draws = xr.Dataset(coords={"chain": [0, 1], "draw": np.arange(DRAWS)})
    noise = "gaussian", np.asarray(0.04)
    posterior, baseline = PredictedDraws(functions, *noise), PredictedDraws(members, *noise)
    groups = predicted_groups(posterior, baseline, dataset, draws)
    write_dataset(folder / "dataset.nc", dataset, {})
    write_groups(folder / "predictions.nc", "predictions", groups, {"exact": True})
    return folder / "predictions.nc", folder / "dataset.nc"


@pytest.fixture(scope="session")
def small_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, its dataset, predictions of a sampler that failed, and their scores."""
    root = tmp_path_factory.mktemp("small") / "project"
    (root / "results").mkdir(parents=True)
    (root / "LICENSE").write_text("Terms.")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        _build_small_project(Path("results"))
    return root


def _build_small_project(results: Path) -> None:
    table, data = results / "tables/a.parquet", results / "data/a.nc"
    simulate(
        '{"source": {"kind": "simulate", "points": 12, "seed": 4}}',
        table,
        results / "records/simulate/a.json",
    )
    split = {"train": 6, "validation": 3, "test": 3}
    spec = {"features": {"units": {"m1": "GeV"}}, "target": {}, "split": split, "units": {}}
    prepare(json.dumps(spec | {"reference_points": 2}), table, data)
    predictions, scores = results / "predictions/a.nc", results / "metrics/a/diagnostics.json"
    _write_failed_predictions(predictions, data)
    checks = read_attrs(predictions)["checks"]
    write_json(scores, {"converged": False, "chains": 2, "checks": checks, "rhat_f": 1.5})
    made = provenance.record("diagnose", {"seed": 1}, digests([predictions, data]))
    write_record(results / "records/diagnose/a.json", made, [scores])


def _write_failed_predictions(path: Path, data: Path) -> None:
    dataset = read_dataset(data)
    points = len(dataset.observed)
    draws = xr.Dataset(coords={"chain": [0, 1], "draw": np.arange(5)})
    predicted = PredictedDraws(np.zeros((10, points)), "gaussian", np.asarray(0.1))
    groups = predicted_groups(
        predicted, predicted._replace(function=np.zeros((3, points))), dataset, draws
    )
    checks = {
        "rhat_f": {"value": 1.5, "threshold": 1.05, "passed": False},
        "divergences": {"value": 0, "threshold": 0, "passed": True},
    }
    facts = {"device": "cpu", "precision": "float32", "exact": False, "checks": checks}
    spec = {"model": {"network": {"hidden": [4]}}}
    made = provenance.record("posterior_predictive", spec, digests([data]), **facts)
    write_groups(path, "predictions", groups, made)


@pytest.fixture
def here(small_project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the small project that a test may change; it is the working directory."""
    copy = tmp_path / "project"
    shutil.copytree(small_project, copy)
    monkeypatch.chdir(copy)
    return copy


@pytest.fixture
def in_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep colours as in a terminal."""
    for place in ("click.utils", "typer._click.utils"):
        monkeypatch.setattr(f"{place}.should_strip_ansi", lambda *_: False, raising=False)


@pytest.fixture(scope="session")
def read() -> Callable[[Path], dict[str, Any]]:
    """Read a JSON file without the package."""
    return lambda path: json.loads(path.read_text())


@pytest.fixture(scope="session")
def job() -> Callable[..., str]:
    """Return the specification of a warm-up of 40 steps, or of 8 draws after it, with changes."""
    return _job


def _job(verb: str = "warmup", **changes: Any) -> str:
    model = {
        "network": {"hidden": [changes.get("hidden", 2)]},
        "prior": {"kind": "fan_in"},
        "likelihood": {"kind": "gaussian", "sigma": 0.2},
        "precision": "float64",
    }
    warm = {
        "kind": "windows",
        "steps": 40,
        "segments": changes.get("segments", 1),
        "mass_matrix": changes.get("mass_matrix", "diagonal"),
    }
    kernel = changes.get("kernel", {"kind": "hmc", "integration_steps": 4})
    spec = {"model": model, "kernel": kernel, "warmup": warm, "seed": 1}
    drawn = {"draws": changes.get("draws", 8), "thin": 4} if verb == "draw" else {}
    return json.dumps(spec | drawn)


@pytest.fixture(scope="session")
def starts(
    make_start: Callable[..., MAPEstimate], tmp_path_factory: pytest.TempPathFactory
) -> list[Path]:
    """The MAPs of two chains of a network of 15 parameters."""
    folder = tmp_path_factory.mktemp("starts")
    for chain in (0, 1):
        write_map(folder / f"{chain}.nc", make_start(chain, np.float64), {})
    return [folder / "0.nc", folder / "1.nc"]


@pytest.fixture(scope="session")
def warm_up(dataset_path: Path) -> Callable[..., Path]:
    """Warm up a chain group from its MAPs or from the previous segment, and return the path."""

    def run_verb(
        out: Path, *, start: list[Path] | None = None, previous: Path | None = None, **changes: Any
    ) -> Path:
        warmup(_job(**changes), dataset_path, out, start or [], previous)
        return out

    return run_verb


@pytest.fixture(scope="session")
def warmed(
    warm_up: Callable[..., Path], starts: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The warm-up of a chain group of two chains."""
    return warm_up(tmp_path_factory.mktemp("warmed") / "warmup.nc", start=starts)


@pytest.fixture(scope="session")
def draw_on(dataset_path: Path) -> Callable[..., Path]:
    """Draw a segment from the state of a chain group, and return the path."""

    def run_verb(
        out: Path,
        previous: Path,
        *,
        verdict: Path | None = None,
        dataset: Path = dataset_path,
        **changes: Any,
    ) -> Path:
        draw(_job("draw", **changes), dataset, previous, out, verdict)
        return out

    return run_verb
