"""One unusable point, alone and beside others, through every way to ask for a prediction."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nlobayes import Bundle, Surrogate
from nlobayes.commands.tools.bundle import bundle
from nlobayes.commands.tools.predict import predict
from nlobayes.gambit import Backend
from tests.refusals import refused
from tests.unit.spectra_with_surrogates import STATED, write
from tests.unit.surrogate.conftest import dataset
from tests.unit.surrogate.test_in_jax import ENGINE, relative_to, seen_by
from tests.unit.surrogate.test_rows import of_process

ONE, TWO = (1000022, 1000022), (1000022, 1000023)
GOOD = ((0.6, -0.2, 0.5, -0.6), (0.3, 0.8, -0.4, 0.3))
HIGGSINOS = ((0.0, 0.0, 0.707, -0.707), (0.0, 0.0, -0.707, -0.707))


def spectrum(mass: float, rows: tuple[tuple[float, ...], ...] = GOOD) -> str:
    masses = (mass, -abs(mass) - 60, 900.0, 2000.0)
    particles = zip((1000022, 1000023, 1000025, 1000035), masses, strict=True)
    squarks = [*range(1000001, 1000005), *range(2000001, 2000005)]
    entries = [(i, j, x) for i, row in enumerate(rows, 1) for j, x in enumerate(row, 1)]
    entries += [(i, j, float(i == j + 2)) for i in (3, 4) for j in range(1, 5)]
    return "\n".join(
        [
            "BLOCK MASS",
            *(f" {number} {value}" for number, value in particles),
            *(f" {number} 3000" for number in squarks),
            "BLOCK NMIX",
            *(f" {i} {j} {value}" for i, j, value in entries),
            "",
        ]
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Surrogates of two processes, relative to the cross section of the engine."""
    folder, made = tmp_path_factory.mktemp("surrogates"), []
    pair = of_process("pair_invariants")
    for name, exported, outgoing in (
        ("one", seen_by(relative_to(ENGINE), "channels"), ONE),
        ("two", pair, TWO),
    ):
        columns = exported.facts["columns"]
        features = tuple(f"feature {n}" for n in range(exported.features.shape[1]))
        names = dataset()._replace(input_names=columns, feature_names=features)
        stated = STATED | {"outgoing": " ".join(map(str, outgoing))}
        made.append(write(folder / f"{name}.nc", exported, names, stated))
    return made


@pytest.fixture(scope="module")
def pairs(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle") / "pairs"
    bundle(files, folder)
    return folder


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("mass", [42.8, 31.0, 2000.1, 9.6e9])
@pytest.mark.parametrize("place", ["model.spc", "folder", "points.csv"])
def test_predict_writes_a_row_without_numbers(
    files: list[Path], tmp_path: Path, mass: float, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--skip-bad` leaves it out, and `--strict` refuses it."""
    points, out, surrogate = tmp_path / place, tmp_path / "out.jsonl", Surrogate.load(files[0])
    if place == "folder":
        points.mkdir()
        (points / "a.slha").write_text(spectrum(mass))
        (points / "b.slha").write_text(spectrum(300.0))
    elif place == "model.spc":
        points.write_text(spectrum(mass))
    else:
        with points.open("w") as file:
            csv.writer(file).writerows([surrogate.inputs, [mass, *GOOD[0]]])
    predict(files[0], str(points), str(out))
    bad, *others = rows_of(out)
    assert (bad["sigma_pb_median"], bad["domain"]) == (None, "outside")
    assert bad["reason"].startswith("no such point can be predicted; allowed: finite inputs, |m|")
    assert "points have no prediction (columns domain, reason), the first: " in (
        capsys.readouterr().err
    )
    assert all(row["sigma_pb_median"] > 0 for row in others)
    assert len(others) == (place == "folder")
    predict(files[0], str(points), str(out), skip_bad=True)
    assert rows_of(out) == others
    with refused("commands.bad_point"):
        predict(files[0], str(points), str(out), strict=True)


@pytest.mark.parametrize("mass", [42.8, 9.6e9])
def test_a_bundle_and_gambit_have_no_number(
    files: list[Path], pairs: Path, tmp_path: Path, mass: float
) -> None:
    path, out, loaded = tmp_path / "model.slha", tmp_path / "out.jsonl", Bundle.load(pairs)
    path.write_text(spectrum(mass))
    for found in (*loaded.predict(path).values(), loaded.total(path)):
        assert math.isnan(found.median)
        assert found.domain == "outside"
        assert "no such point" in found.reason
    predict(pairs, str(path), str(out), total=True)
    assert [row["sigma_pb_median"] for row in rows_of(out)] == [None] * 3
    predict(pairs, str(path), str(out), total=True, skip_bad=True)
    assert rows_of(out) == []
    with refused("commands.bad_point"):
        predict(pairs, str(path), str(out), strict=True)
    backend = Backend()
    backend.set_parameters({"surrogates": files, "energy": 13000})
    backend.import_slha_string(path.read_text())
    answer = backend.get_xsection(ONE)
    assert math.isnan(float(answer["central"]))
    assert answer["trust_level"] == -1
    assert "no such point" in str(answer["reason"])


def test_a_vanishing_pair_is_0_pb_beside_the_others(
    files: list[Path], pairs: Path, tmp_path: Path
) -> None:
    path, out = tmp_path / "model.slha", tmp_path / "out.jsonl"
    path.write_text(spectrum(150.0, HIGGSINOS))
    requested = [" ".join(map(str, pair)) for pair in (ONE, TWO)]
    predict(pairs, str(path), str(out), total=True, process=requested)
    one, two, added = rows_of(out)
    assert (one["sigma_pb_median"], one["domain"]) == (0, "inside")
    assert "vanishes" in one["reason"]
    assert two["sigma_pb_median"] > 0
    assert added["sigma_pb_median"] == pytest.approx(two["sigma_pb_median"], rel=0.05)
    within = Bundle.load(pairs).total(path)  # of all, without the one that is outside
    assert (within.median, within.domain) == (0, "outside")
    assert within.reason.endswith("without 1000022 1000023")
    backend = Backend()
    backend.set_parameters({"surrogates": files, "energy": 13000})
    backend.import_slha_string(path.read_text())
    answer = backend.get_xsection(ONE)
    assert (answer["central"], answer["tot_err_up"], answer["trust_level"]) == (0, 0, 1)


def test_a_bundle_refuses_several_points_and_arrays(pairs: Path) -> None:
    loaded = Bundle.load(pairs)
    with refused("surrogate.several_points", rows=2):
        loaded.predict(pd.DataFrame([{"m1": 300.0}, {"m1": 310.0}]))
    with refused("surrogate.no_spectrum", kind="ndarray"):
        loaded.predict(np.zeros((1, 5)))
    with refused("surrogate.not_in_spectrum"):
        loaded.predict({"m1": 300.0})
