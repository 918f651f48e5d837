"""The tables of the energy between MAPs, compared with independent energies and distances."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from nlobayes import builder
from nlobayes.artifacts.contents import write_map
from nlobayes.artifacts.files import read_csv
from nlobayes.commands.pipeline.landscape import landscape
from nlobayes.types import Dataset, MAPEstimate
from tests.refusals import refused

SIGMA, SD, CHAINS = 0.2, 0.5, (4, 0, 2, 1, 5, 3, 6)
SPEC: dict[str, Any] = {
    "model": {
        "network": {"hidden": [2]},
        "prior": {"kind": "gaussian", "precision": 1 / SD**2, "non_centered": False},
        "likelihood": {"kind": "gaussian", "sigma": SIGMA},
        "precision": "float64",
    },
    "seed": 1,
}
COLUMNS = {
    "landscape": ["alpha", "beta", "energy"],
    "landscape_maps": ["chain", "alpha", "beta", "energy"],
    "path": ["t", "straight", "bezier"],
    "distances": ["epoch", "first", "second", "distance"],
}
Make = Callable[..., MAPEstimate]
Refuse = Callable[..., None]


def write(folder: Path, starts: list[MAPEstimate]) -> list[Path]:
    """Write MAPs in this order."""
    paths = [folder / f"start_{place}.nc" for place in range(len(starts))]
    for path, start in zip(paths, starts, strict=True):
        write_map(path, start, {})
    return paths


@pytest.fixture(scope="module")
def starts(make_start: Make) -> list[MAPEstimate]:
    """Seven MAPs of a network of 15 parameters, not in the order of their chains."""
    return [make_start(chain, np.float64) for chain in CHAINS]


@pytest.fixture(scope="module")
def plots(
    starts: list[MAPEstimate], dataset_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The tables of seven MAPs."""
    folder = tmp_path_factory.mktemp("landscape")
    landscape(json.dumps(SPEC), dataset_path, write(folder, starts), folder / "plots")
    return folder / "plots"


def energy_by_hand(dataset: Dataset, position: np.ndarray) -> float:
    """Negative log posterior per train row of a network of 5, 2 and 1 units."""
    train = dataset.split == 0
    weights, biases = position[:10].reshape(5, 2), position[10:12]
    hidden = np.tanh(dataset.features[train] @ weights + biases)
    residual = dataset.target[train] - hidden @ position[12:14] - position[14]
    prior = norm.logpdf(position, scale=SD).sum()
    return float(-(norm.logpdf(residual, scale=SIGMA).sum() + prior) / train.sum())


def test_four_tables_have_the_columns_and_rows_of_the_contract(plots: Path) -> None:
    tables = {path.stem: read_csv(path) for path in plots.iterdir()}
    assert {name: [*table.columns] for name, table in tables.items()} == COLUMNS
    rows = {name: len(table) for name, table in tables.items()}
    assert rows == {"landscape": 41**2, "landscape_maps": 3, "path": 61, "distances": 15 * 3}
    assert not any(table.isna().any(axis=None) for table in tables.values())


def test_energies_are_those_by_hand(
    plots: Path, starts: list[MAPEstimate], dataset: Dataset
) -> None:
    maps, path = read_csv(plots / "landscape_maps.csv"), read_csv(plots / "path.csv")
    expected = [energy_by_hand(dataset, start.position) for start in starts[:3]]
    assert maps["chain"].tolist() == [4, 0, 2]
    np.testing.assert_allclose(maps["energy"], expected, rtol=1e-8)
    for column in ("straight", "bezier"):
        np.testing.assert_allclose(path[column].iloc[[0, -1]], expected[:2], rtol=1e-8)
    middle = energy_by_hand(dataset, (starts[0].position + starts[1].position) / 2)
    np.testing.assert_allclose(path["straight"][30], middle, rtol=1e-8)
    assert path["t"][30] == 0.5


def test_the_plane_has_the_distances_of_its_maps(
    plots: Path, starts: list[MAPEstimate], dataset: Dataset
) -> None:
    """The corners of the plane have the energies of their positions."""
    maps = read_csv(plots / "landscape_maps.csv")[["alpha", "beta"]].to_numpy()
    positions = np.array([start.position for start in starts[:3]])
    for i, j in ((0, 1), (0, 2), (1, 2)):
        apart = np.linalg.norm(positions[i] - positions[j])
        np.testing.assert_allclose(np.linalg.norm(maps[i] - maps[j]), apart, rtol=1e-8)
    surface = read_csv(plots / "landscape.csv")
    for place in (0, 40, 41, 1680):
        alpha, beta, energy = surface.iloc[place]
        shares = np.linalg.solve(np.vstack([maps.T, np.ones(3)]), [alpha, beta, 1])
        expected = energy_by_hand(dataset, shares @ positions)
        np.testing.assert_allclose(energy, expected, rtol=1e-6)


def test_distances_are_those_of_the_first_six_chains(
    plots: Path, starts: list[MAPEstimate]
) -> None:
    table = read_csv(plots / "distances.csv")
    path = {start.chain: start.path.astype(np.float64) for start in starts}
    assert table["epoch"].tolist() == [0, 2, 5] * 15
    assert {*table["first"], *table["second"]} == set(CHAINS[:6])
    assert len({*zip(table["first"], table["second"], strict=True)}) == 15
    for epoch, first, second, distance in table.to_numpy():
        place = [0, 2, 5].index(epoch)
        expected = np.linalg.norm(path[first][place] - path[second][place])
        np.testing.assert_allclose(distance, expected, rtol=1e-6)


def test_energies_that_are_not_finite_are_empty_cells(
    starts: list[MAPEstimate], dataset_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A posterior that vanishes just beyond the MAPs."""
    radius = 1.01 * max(np.linalg.norm(start.position) for start in starts[:3])
    build_model = builder.build_model

    def bounded(*arguments: Any) -> builder.Model:
        model = build_model(*arguments)

        def logdensity_fn(position: Any, inverse_temperature: Any = 1.0) -> Any:
            inside = jnp.linalg.norm(position) < radius
            return jnp.where(inside, model.logdensity_fn(position, inverse_temperature), -jnp.inf)

        return model._replace(sampled=model.sampled._replace(logdensity_fn=logdensity_fn))

    monkeypatch.setattr(builder, "build_model", bounded)
    landscape(json.dumps(SPEC), dataset_path, write(tmp_path, starts[:3]), tmp_path / "plots")
    text = (tmp_path / "plots/landscape.csv").read_text()
    energies = [line.split(",")[2] for line in text.splitlines()[1:]]
    assert energies[0] == ""
    assert 100 < energies.count("") < 1600
    assert not {"inf", "-inf", "nan"} & set(energies)
    assert read_csv(tmp_path / "plots/landscape_maps.csv")["energy"].notna().all()


@pytest.fixture
def refuse(dataset_path: Path, tmp_path: Path) -> Callable[..., None]:
    """Check that MAPs in these files are refused and nothing is written."""

    def check(paths: list[Path], code: str, **fields: Any) -> None:
        with refused(code, **fields):
            landscape(json.dumps(SPEC), dataset_path, paths, tmp_path / "plots")
        assert not (tmp_path / "plots").exists()

    return check


@pytest.mark.parametrize("number", [0, 1, 2])
def test_fewer_than_three_maps_are_refused(
    starts: list[MAPEstimate], refuse: Refuse, tmp_path: Path, number: int
) -> None:
    refuse(write(tmp_path, starts[:number]), "commands.too_few_maps", maps=number)


def test_a_chain_given_twice_is_refused(
    starts: list[MAPEstimate], refuse: Refuse, tmp_path: Path
) -> None:
    paths = write(tmp_path, [*starts[:2], starts[0]])
    refuse(paths, "commands.repeated_chains", chains=[4, 0, 4])


def test_maps_of_several_runs_are_refused(
    starts: list[MAPEstimate], refuse: Refuse, tmp_path: Path
) -> None:
    longer = starts[2]._replace(path_epochs=np.array([0, 2, 6], np.int32))
    paths = write(tmp_path, [*starts[:2], longer])
    refuse(paths, "commands.other_epochs", where=paths[2])
