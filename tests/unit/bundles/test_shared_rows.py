"""The interval of a sum has its nominal coverage, due to rows that its surrogates share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes import Bundle
from nlobayes.artifacts.contents import write_dataset
from nlobayes.artifacts.seals import digest
from nlobayes.bundles.shared_rows import SharedRows, as_mapping, read_rows, widening
from nlobayes.bundles.training_data import TrainedSurrogate, share
from nlobayes.commands.tools.bundle import bundle
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Dataset, SurrogateContent
from tests.refusals import refused
from tests.unit.conftest import ATTRS
from tests.unit.spectra_with_surrogates import STATED, spectrum_of, write

ROWS, NEW = 1000, 20_000
FILES = ("a.nc", "b.nc", "c.nc")
PAIRS = {"1000022 1000022": 12, "1000022 1000023": 8}
"""Produced particles, and units of the network."""


def drawn(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated errors of three processes, with intervals of a fixed share of their sd."""
    sds = rng.lognormal(size=(3, rows))
    errors = sds * (rng.standard_normal((3, rows)) + rng.standard_normal(rows))
    return errors, 0.7 * sds


@pytest.mark.statistical
@pytest.mark.parametrize("files", [FILES, FILES[:2], FILES[2:]])
def test_a_widened_interval_covers_new_sums(files: tuple[str, ...]) -> None:
    """Tolerance: four standard errors of the 1000 rows that set it and of the 20 000 new ones."""
    rng = np.random.default_rng(3)
    factor = widening([SharedRows(FILES, *drawn(rng, ROWS))], files)
    errors, half_widths = (of[[FILES.index(file) for file in files]] for of in drawn(rng, NEW))
    covered = np.abs(errors.sum(axis=0)) < factor * np.linalg.norm(half_widths, axis=0)
    independent = np.abs(errors.sum(axis=0)) < np.linalg.norm(half_widths, axis=0)
    assert abs(covered.mean() - 0.68) < 4 * np.sqrt(0.68 * 0.32 * (1 / ROWS + 1 / NEW))
    assert independent.mean() < 0.55


def test_an_interval_is_never_narrowed() -> None:
    """Half widths five times as large cover nearly all sums."""
    errors, half_widths = drawn(np.random.default_rng(3), ROWS)
    assert widening([SharedRows(FILES, errors, 5 * half_widths)], FILES) == 1.0


@pytest.fixture(scope="module")
def project(
    make_surrogate: Callable[..., SurrogateContent], dataset: Dataset, tmp_path_factory: Any
) -> Path:
    """Two surrogates below `results/`, and their datasets, which have validation rows only."""
    root = tmp_path_factory.mktemp("project")
    held = dataset._replace(split=np.ones_like(dataset.split))
    for number, (outgoing, hidden) in enumerate(PAIRS.items()):
        path = root / f"results/data/{number}.nc"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_dataset(path, held, ATTRS)
        exported = make_surrogate(dataset, hidden, 40)
        facts = {**exported.facts, "inputs": {f"results/data/{number}.nc": digest(path)}}
        file = root / f"results/surrogates/{number}.nc"
        file.parent.mkdir(parents=True, exist_ok=True)
        write(file, exported._replace(facts=facts), dataset, STATED | {"outgoing": outgoing})
    return root


def surrogates(project: Path) -> list[Path]:
    return sorted((project / "results/surrogates").iterdir())


def test_a_bundle_widens_the_sum_by_the_rows_of_its_datasets(
    project: Path, dataset: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle(surrogates(project), tmp_path / "pairs")
    assert "times as wide as those of independent errors, by 60 rows" in capsys.readouterr().err
    made = Bundle.load(tmp_path / "pairs")
    parts = [*made.surrogates.values()]
    found = [one.predict(dataset.inputs) for one in parts]
    errors = sum(dataset.observed - one.median for one in found)
    half_widths = [(one.quantiles[1] - one.quantiles[0]) / 2 for one in found]
    ratios = np.sort(np.abs(errors) / np.hypot(*half_widths))
    factor = made.widening([*made.surrogates])
    assert ratios[40] < factor == pytest.approx(0.52 * ratios[40] + 0.48 * ratios[41], rel=1e-4)
    text = spectrum_of(parts[0])
    widened = made.total(text)
    made.shared = ()
    plain = made.total(text)
    assert widened.median == plain.median
    assert widened.high - widened.median == pytest.approx(factor * (plain.high - plain.median))
    assert widened.errors["regression_down"] == pytest.approx(widened.low / widened.median - 1)


def test_a_bundle_without_the_datasets_states_that_errors_are_independent(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = [tmp_path / path.name for path in surrogates(project)]
    for path, copy in zip(surrogates(project), elsewhere, strict=True):
        copy.write_bytes(path.read_bytes())
    bundle(elsewhere, tmp_path / "pairs")
    assert "errors of sums at 13000 GeV are taken as independent" in capsys.readouterr().err
    assert Bundle.load(tmp_path / "pairs").shared == ()


def test_rows_of_other_spectra_are_not_shared(project: Path, dataset: Dataset) -> None:
    one, other = map(Surrogate.load, surrogates(project))
    held = dataset._replace(split=np.ones_like(dataset.split))
    renamed = held._replace(input_names=tuple(f"of_other_{n}" for n in held.input_names))
    scan = {"scan": "bino_gev -1000 to 1000", "seed": "1"}
    shifted = held._replace(inputs=held.inputs + 1.0)
    reordered = held._replace(split=held.split.copy())
    reordered.split[0] = 0

    def shared(data: Dataset, stated: dict[str, str], names: Dataset = held) -> bool:
        pair = [
            TrainedSurrogate("a.nc", one, names, scan),
            TrainedSurrogate("b.nc", other, data, stated),
        ]
        return share(pair) is not None

    assert shared(held, {})
    assert not shared(shifted, scan)
    assert not shared(reordered, scan)
    assert not shared(renamed, {"scan": scan["scan"], "seed": "2"})
    few = dataset._replace(split=np.where(np.arange(60) < 39, 1, 0))
    assert not shared(few, scan, few)
    one.facts = {**one.facts, "kept": {"draws": 40, "of": 40, "rows": 60}}  # learned them too
    assert not shared(held, {})


@pytest.mark.parametrize(
    "change",
    [
        lambda given: given.pop("error_pb"),
        lambda given: given.update(surrogates=["other.nc"] * 3),
        lambda given: given.update(surrogates=[["a.nc"], "b.nc", "c.nc"]),
        lambda given: given.update(surrogates=[]),
        lambda given: given["error_pb"].pop(),
        lambda given: given["error_pb"][0].pop(),
        lambda given: given.update(error_pb=[1.0, 2.0, 3.0]),
        lambda given: given["error_pb"][0].__setitem__(0, float("nan")),
        lambda given: given["error_pb"][0].__setitem__(0, True),
        lambda given: given["error_pb"][0].__setitem__(0, 10**400),
        lambda given: given["half_width_pb"][0].__setitem__(0, 0.0),
        lambda given: given.update({name: [[1.0]] * 3 for name in ("error_pb", "half_width_pb")}),
    ],
)
def test_rows_of_an_unknown_source_are_checked(change: Callable[[Any], object]) -> None:
    given = as_mapping(SharedRows(FILES, *drawn(np.random.default_rng(4), 50)))
    change(given)
    with refused("bundles.shared_rows", where="here"):
        read_rows(given, FILES, "here")
