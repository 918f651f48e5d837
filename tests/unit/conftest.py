"""Small artifacts of seeded random numbers, shaped like those of a real run."""

import _pickle
import math
import pickle
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from nlobayes.artifacts.contents import write_dataset, write_map, write_surrogate
from nlobayes.artifacts.netcdf import Groups
from nlobayes.artifacts.predicted import predictions_groups
from nlobayes.artifacts.segments import (
    Checkpoint,
    Segment,
    WarmupSegment,
    write_segment,
    write_warmup,
)
from nlobayes.data.dataset_of_table import Choices, make_dataset
from nlobayes.data.selection import Selection
from nlobayes.data.splits import Split
from nlobayes.surrogate.domain import fit_domain
from nlobayes.surrogate.train_ranges import fit_limits
from nlobayes.types import (
    Dataset,
    MAPEstimate,
    NamedArrays,
    NoiseTable,
    PredictedDraws,
    Predictions,
    SurrogateContent,
)
from tests.browser import Browser

COLUMNS = ("m1", "n11", "n12", "n13", "n14")
SIZES = (5, 2, 1)
PARAMETERS = 15
CHOICES = Choices(
    feature_map="invariants",
    standardise_features=True,
    target_scale="log10",
    standardise_target=True,
    split=Split(30, 15, 15, shuffle=True, seed=0),
    reference_points=6,
)
ATTRS = {
    "verb": "test",
    "spec": {"draws": 8, "thin": 4, "seed": 1},
    "device": "cpu",
    "precision": "float64",
    "exact": True,
    "versions": {"numpy": "2"},
}


def predicted_groups(
    posterior: PredictedDraws, baseline: PredictedDraws, dataset: Dataset, draws: xr.Dataset
) -> Groups:
    """Label predictions of a dataset, given the numbers of chains and draws."""
    labels = draws["chain"].values, draws["draw"].values
    points = dataset.observed, dataset.split
    return predictions_groups(Predictions(posterior, baseline, *points, *labels))


@pytest.fixture(scope="session")
def attrs() -> dict[str, Any]:
    """Provenance of an artifact."""
    return ATTRS


@pytest.fixture(scope="session")
def points() -> Selection:
    """60 rows of a signed mass, four mixings of unit norm, and a cross section that falls."""
    rng = np.random.default_rng(5)
    mass = rng.uniform(100, 1000, 60) * rng.choice([-1, 1], 60)
    mixing = rng.normal(size=(60, 4))
    mixing /= np.linalg.norm(mixing, axis=1, keepdims=True)
    exponent = -np.abs(mass) / 200 + mixing[:, 2] ** 2 + rng.normal(0, 0.05, 60)
    units = {"m1": "GeV", **dict.fromkeys(COLUMNS[1:], "1"), "sigma_pb": "pb"}
    return Selection(np.column_stack([mass, mixing]), 10**exponent, units)


@pytest.fixture(scope="session")
def choices() -> Choices:
    """30 train, 15 validation and 15 test rows, six of them reference points."""
    return CHOICES


@pytest.fixture(scope="session")
def dataset(points: Selection) -> Dataset:
    """The 60 rows, made ready."""
    return make_dataset(points, COLUMNS, ("sigma_pb",), CHOICES)


@pytest.fixture(scope="session")
def dataset_path(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The 60 rows in a file."""
    path = tmp_path_factory.mktemp("dataset") / "dataset.nc"
    write_dataset(path, dataset, ATTRS)
    return path


@pytest.fixture(scope="session")
def exported(dataset: Dataset) -> SurrogateContent:
    """40 draws of a small network that learned the train rows, as a surrogate holds them."""
    return _exported(dataset)


@pytest.fixture(scope="session")
def surrogate_path(
    exported: SurrogateContent, dataset: Dataset, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The 40 draws in a file."""
    path = tmp_path_factory.mktemp("surrogate") / "surrogate.nc"
    write_surrogate(path, exported, dataset, ATTRS)
    return path


@pytest.fixture(scope="session")
def make_start() -> Callable[..., MAPEstimate]:
    return _start


@pytest.fixture(scope="session")
def make_checkpoint() -> Callable[..., Checkpoint]:
    return _checkpoint


@pytest.fixture(scope="session")
def make_stats() -> Callable[..., dict[str, np.ndarray]]:
    return _stats


@pytest.fixture(scope="session")
def make_segment() -> Callable[..., Segment]:
    return _segment


@pytest.fixture(scope="session")
def make_chain_group() -> Callable[..., tuple[list[Path], list[Path]]]:
    return _chain_group


@pytest.fixture
def forbid_unpickling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every way to unpickle fail."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something is unpickled")

    for module in (pickle, _pickle):
        for name in ("load", "loads", "Unpickler"):
            monkeypatch.setattr(module, name, refuse)


@pytest.fixture(scope="session")
def make_surrogate() -> Callable[..., SurrogateContent]:
    return _exported


def _exported(dataset: Dataset, hidden: int = 12, draws: int = 40) -> SurrogateContent:
    """Random features, and least squares onto resampled rows: draws that differ far from data."""
    rng = np.random.default_rng(6)
    train, held = dataset.split == 0, dataset.split == 1
    rows, target = dataset.features[train], dataset.target[train]
    domain = fit_domain(rows.astype(np.float32), dataset.features[held])
    width = rows.shape[1]
    first, bias = rng.normal(size=(width, hidden)), rng.normal(size=hidden)
    seen = np.column_stack([np.tanh(rows @ first + bias), np.ones(len(rows))])
    last = np.empty((draws, hidden + 1))
    for draw in range(draws):
        chosen = rng.integers(0, len(rows), len(rows))
        normal = seen[chosen].T @ seen[chosen] + 0.1 * np.eye(hidden + 1)
        last[draw] = np.linalg.solve(normal, seen[chosen].T @ target[chosen])
    residual = np.linspace(-6, 6, 2001)
    probability = np.vectorize(lambda z: 0.5 * (1 + math.erf(z / math.sqrt(2))))(residual)
    checks = {"rhat_f": {"value": 1.02, "threshold": 1.05, "passed": True}}
    coverage = {"value": 0.97, "low": 0.93, "high": 0.96, "passed": False}
    inputs = dataset.inputs[train]
    ranges = fit_limits(inputs, dataset.input_names, dataset.units)
    ranges = {what: ranges[what] for what in ranges if what not in dataset.input_names}
    return SurrogateContent(
        variables={
            "weights_1": np.broadcast_to(first, (draws, width, hidden)).astype(np.float32),
            "biases_1": np.broadcast_to(bias, (draws, hidden)).astype(np.float32),
            "weights_2": last[:, :-1, np.newaxis].astype(np.float32),
            "biases_2": last[:, -1:].astype(np.float32),
        },
        features=rows.astype(np.float32),
        spacing=domain.spacing,
        limits=np.column_stack([inputs.min(axis=0), inputs.max(axis=0)]),
        typical=inputs[0],
        noises=(NoiseTable(residual, probability[np.newaxis]),),
        facts={
            "activation": "tanh",
            "columns": list(dataset.input_names),
            "target": dataset.target_names[0],
            "transforms": dataset.transforms,
            "units": dataset.units,
            "noise": {
                **{"about": "draws", "scale": 0.02, "sd_per_scale": [1.0]},
                **{"column": 0, "edges": []},
                **{"exponent": 0.0, "reference_sd": 1.0, "knots": [], "coefficients": []},
                **{"spread_range": [], "scale_range": []},
            },
            "domain": {"inside": domain.inside, "edge": domain.edge, "limits": ranges},
            "verdict": {
                "converged": True,
                "convergence": checks,
                "calibration": {"coverage_95": coverage},
            },
            "scores": {"test": {"relative_error_p50": 0.012, "coverage_68": 0.69}},
            "bibtex": "@software{nlobayes,\n  title = {small},\n}\n",
        },
    )


def _variables(
    seed: int | Sequence[int], leading: tuple[int, ...] = (), dtype: Any = np.float32
) -> NamedArrays:
    """Weights and biases of a network of 5, 2 and 1 units."""
    rng = np.random.default_rng(seed)
    dims = {
        "weights_1": ("feature", "hidden_1"),
        "biases_1": ("hidden_1",),
        "weights_2": ("hidden_1", "output"),
        "biases_2": ("output",),
    }
    features = ("ln|m|", "N11^2", "N12^2", "N13^2-N14^2", "N11*N12")
    coords = {"feature": features, "hidden_1": range(2), "output": range(1)}
    shapes = {name: [len(coords[dim]) for dim in dims[name]] for name in dims}
    values = {name: rng.normal(size=(*leading, *shapes[name])).astype(dtype) for name in dims}
    return NamedArrays(values, dims, coords)


def _start(chain: int, dtype: Any = np.float32) -> MAPEstimate:
    rng = np.random.default_rng([1, chain])
    return MAPEstimate(
        chain=chain,
        position=rng.normal(size=PARAMETERS).astype(dtype),
        variables=_variables([1, chain], dtype=dtype),
        loss=np.geomspace(3, 0.1, 5).astype(dtype),
        validation_rmse=np.geomspace(1, 0.2, 5).astype(dtype),
        path_epochs=np.array([0, 2, 5], np.int32),
        path=rng.normal(size=(3, PARAMETERS)).astype(np.float32),
    )


def _checkpoint(
    chains: Sequence[int], next_step: int, dtype: Any = np.float32, *, adapting: bool = False
) -> Checkpoint:
    """Where a chain group stands; what a chain holds does not depend on its chain group."""

    def one(chain: int) -> dict[str, dict[str, np.ndarray]]:
        rng = np.random.default_rng([2, chain, next_step])
        position, gradient, mass = rng.normal(size=(3, PARAMETERS)).astype(dtype)
        density, size = np.asarray(rng.normal(), dtype), np.asarray(rng.uniform(), dtype)
        state = {"position": position, "logdensity": density, "logdensity_grad": gradient}
        tuned = {"step_size": size, "inverse_mass_matrix": np.exp(mass)}
        carried = {"state.position": position, "mass.count": np.asarray(next_step, np.int32)}
        return {"state": state, "tuned": tuned, "adaptation": carried if adapting else {}}

    return Checkpoint(tuple(chains), next_step, **_stack([one(chain) for chain in chains]))


def _stats(
    chains: Sequence[int], first: int, draws: int, dtype: Any = np.float32
) -> dict[str, np.ndarray]:
    """Sample stats (chain, draw) of the draws from `first` on."""

    def one(chain: int) -> dict[str, np.ndarray]:
        rng = np.random.default_rng([4, chain, first])
        return {
            "lp": rng.normal(size=draws).astype(dtype),
            "acceptance_rate": rng.uniform(size=draws).astype(dtype),
            "energy": rng.normal(size=draws).astype(dtype),
            "diverging": rng.uniform(size=draws) < 0.1,
            "n_steps": rng.integers(1, 9, draws).astype(np.int32),
            "tree_depth": np.zeros(draws, np.int32),
        }

    return _stack([one(chain) for chain in chains])


def _segment(
    chains: Sequence[int],
    first: int,
    *,
    draws: int = 8,
    thin: int = 4,
    dtype: Any = np.float32,
) -> Segment:
    """Draws of a chain group; those of a chain do not depend on its chain group."""
    kept = (draws // thin,)
    named = [_variables([3, chain, first], kept, dtype) for chain in chains]
    shape = (draws, CHOICES.reference_points)
    functions = [np.random.default_rng([5, chain, first]).normal(size=shape) for chain in chains]
    return Segment(
        first_draw=first,
        thin=thin,
        variables=named[0]._replace(values=_stack([one.values for one in named])),
        stats=_stats(chains, first, draws, dtype),
        function=np.stack(functions).astype(dtype),
        end=_checkpoint(chains, first + draws, dtype),
    )


def _chain_group(
    folder: Path,
    chains: Sequence[int],
    segments: int = 2,
    *,
    warmups: int = 1,
    draws: int = 8,
    thin: int = 4,
) -> tuple[list[Path], list[Path]]:
    """Write the MAPs, the warm-up (pieces of 5 steps) and the segments of a group of chains."""
    folder = folder / "-".join(map(str, chains))
    warmed = [folder / f"warmup_{number}.nc" for number in range(warmups)]
    for number, path in enumerate(warmed):
        end = _checkpoint(chains, 5 * (number + 1), adapting=True)
        steps = WarmupSegment(5 * number, _stats(chains, 5 * number, 5), end)
        write_warmup(path, steps, ATTRS)
    drawn = [folder / f"segment_{number}.nc" for number in range(segments)]
    for number, path in enumerate(drawn):
        segment = _segment(chains, number * draws, draws=draws, thin=thin)
        write_segment(path, segment, ATTRS)
    for chain in chains:
        write_map(folder / f"start_{chain}.nc", _start(chain), ATTRS)
    return warmed, drawn


def _stack(trees: Sequence[Any]) -> Any:
    """Stack arrays along a leading axis (chain,), however they are nested in dictionaries."""
    if isinstance(trees[0], dict):
        return {name: _stack([tree[name] for tree in trees]) for name in trees[0]}
    return np.stack(trees)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium, if it is installed."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no Chromium here")
    opened = Browser(chromium, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()
