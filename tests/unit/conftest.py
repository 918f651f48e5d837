"""Small artifacts of seeded random numbers, shaped like those of a real run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.contents import write_dataset, write_segment, write_start, write_warmup
from nlobayes.data.datasets import Choices, make_dataset
from nlobayes.data.tables import Selection
from nlobayes.types import ChainState, Dataset, Named, Segment, Start

COLUMNS = ("m1", "n11", "n12", "n13", "n14")
SIZES = (5, 2, 1)
PARAMETERS = 15
CHOICES = Choices(
    feature_map="invariants",
    standardise_features=True,
    target_scale="log10",
    standardise_target=True,
    split=(30, 15, 15),
    shuffle=True,
    seed=0,
    reference_points=6,
)
ATTRS = {
    "verb": "test",
    "spec": {"draws": 8, "keep_every": 4, "seed": 1},
    "device": "cpu",
    "exact": True,
    "versions": {"numpy": "2"},
}


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
    return make_dataset(points, COLUMNS, "sigma_pb", CHOICES)


@pytest.fixture(scope="session")
def dataset_path(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The 60 rows in a file."""
    path = tmp_path_factory.mktemp("dataset") / "dataset.nc"
    write_dataset(path, dataset, ATTRS)
    return path


@pytest.fixture(scope="session")
def make_variables() -> Callable[..., Named]:
    return _variables


@pytest.fixture(scope="session")
def make_start() -> Callable[..., Start]:
    return _start


@pytest.fixture(scope="session")
def make_state() -> Callable[..., ChainState]:
    return _state


@pytest.fixture(scope="session")
def make_segment() -> Callable[..., Segment]:
    return _segment


@pytest.fixture(scope="session")
def make_chain() -> Callable[..., tuple[Path, list[Path]]]:
    return _chain


def _variables(
    seed: int | Sequence[int], leading: tuple[int, ...] = (), dtype: Any = np.float32
) -> Named:
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
    return Named(values, dims, coords)


def _start(chain: int, dtype: Any = np.float32) -> Start:
    rng = np.random.default_rng([1, chain])
    return Start(
        chain=chain,
        position=rng.normal(size=PARAMETERS).astype(dtype),
        variables=_variables([1, chain], dtype=dtype),
        loss=np.geomspace(3, 0.1, 5).astype(dtype),
        validation_rmse=np.geomspace(1, 0.2, 5).astype(dtype),
    )


def _state(chain: int, next_draw: int, dtype: Any = np.float32) -> ChainState:
    rng = np.random.default_rng([2, chain, next_draw])
    position, gradient, mass = rng.normal(size=(3, PARAMETERS)).astype(dtype)
    return ChainState(
        chain=chain,
        next_draw=next_draw,
        position=position,
        logdensity=np.asarray(rng.normal(), dtype),
        logdensity_grad=gradient,
        step_size=np.asarray(rng.uniform(), dtype),
        inverse_mass_matrix=np.exp(mass),
    )


def _stats(rng: np.random.Generator, draws: int, dtype: Any) -> dict[str, np.ndarray]:
    return {
        "lp": rng.normal(size=draws).astype(dtype),
        "acceptance_rate": rng.uniform(size=draws).astype(dtype),
        "energy": rng.normal(size=draws).astype(dtype),
        "diverging": rng.uniform(size=draws) < 0.1,
        "n_steps": rng.integers(1, 9, draws).astype(np.int32),
        "tree_depth": np.zeros(draws, np.int32),
    }


def _segment(
    chain: int, first: int, *, draws: int = 8, keep_every: int = 4, dtype: Any = np.float32
) -> Segment:
    rng = np.random.default_rng([3, chain, first])
    return Segment(
        first_draw=first,
        keep_every=keep_every,
        variables=_variables([3, chain, first], (draws // keep_every,), dtype),
        stats=_stats(rng, draws, dtype),
        function=rng.normal(size=(draws, CHOICES.reference_points)).astype(dtype),
        end=_state(chain, first + draws, dtype),
    )


def _chain(
    folder: Path, chain: int, segments: int = 2, *, draws: int = 8, keep_every: int = 4
) -> tuple[Path, list[Path]]:
    """Write the warm-up and the segments of one chain and return their paths."""
    warmup = folder / f"{chain}/warmup.nc"
    write_warmup(
        warmup, _stats(np.random.default_rng(chain), 5, np.float32), _state(chain, 0), ATTRS
    )
    paths = [folder / f"{chain}/segment_{number}.nc" for number in range(segments)]
    for number, path in enumerate(paths):
        segment = _segment(chain, number * draws, draws=draws, keep_every=keep_every)
        write_segment(path, segment, ATTRS)
    write_start(folder / f"{chain}/start.nc", _start(chain), ATTRS)
    return warmup, paths
