"""Bundles of grids of pure states, of one generation, and of sums, at whole spectra."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyslha
import pytest

from nlobayes import Bundle
from nlobayes.bundles.embedded import by_engine
from nlobayes.commands.tools.bundle import bundle
from nlobayes.commands.tools.predict import predict
from nlobayes.data.slha import key_of
from nlobayes.physics.hadronic import of_process
from nlobayes.physics.processes import make_process
from nlobayes.types import SurrogateContent
from tests.refusals import refused
from tests.unit.bundles.grids import spectrum, write_grid

MASSES = {1000022: 100.0, 1000023: 300.0, 1000024: 301.0, 1000025: -700.0, 1000035: 800.0}
MASSES |= {1000037: 790.0, 1000011: 250.0, 2000011: 200.0, 1000013: 450.0, 2000013: 400.0}
MASSES |= {number: 3000.0 for of in (1000001, 2000001) for number in range(of, of + 4)}
WINOS = "wino_1000023 = 1 1 (0.98 to 1.001); wino_1000024 = 1 1 (0.98 to 1.001)"
HIGGSINOS = WINOS.replace("wino", "higgsino")
TURNED = math.sqrt(0.5)
MIXED = ((1.0, 0, 0, 0), (0, TURNED, 0, TURNED), (0, TURNED, 0, -TURNED), (0, 0, 1.0, 0))
CHARGED = ((TURNED, TURNED), (-TURNED, TURNED))
BOTH = ("mass_1000023_1000024",)
C1N2, SELECTRONS, SMUONS = (1000023, 1000024), (1000011, -1000011), (1000013, -1000013)


@pytest.fixture(scope="module")
def folder(
    make_surrogate: Callable[..., SurrogateContent], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Charginos with neutralinos as winos and higgsinos, and sleptons alone and added."""
    place = tmp_path_factory.mktemp("grids")
    pair, left = {"outgoing": "1000023 1000024"}, {"outgoing": "1000011 -1000011"}
    added = {"inclusive": "1000011 -1000011 and 2000011 -2000011"}
    squarks = {"outgoing": "1000002 -1000002", "inclusive": "8 flavours"}
    states: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
        "winos": (BOTH, pair | {"fixed": WINOS}),
        "winos_of_squarks": ((*BOTH, "msq"), pair | {"fixed": WINOS}),
        "higgsinos": (BOTH, pair | {"fixed": HIGGSINOS, "order": "aNNLO+NNLL"}),
        "left": (("mass_1000011",), left),
        "both": (("mass_1000011_2000011",), left | added),
        "squarks": (("msq",), squarks),
        "gluinos": (("mass_1000021",), {"outgoing": "1000021 1000021"}),
    }
    files = [
        write_grid(place, make_surrogate, name, columns, stated)
        for name, (columns, stated) in states.items()
    ]
    bundle(files, place / "made")
    return place / "made"


@pytest.fixture(scope="module")
def loaded(folder: Path) -> Bundle:
    return Bundle.load(folder)


def test_the_state_of_a_spectrum_chooses_the_entry(loaded: Bundle) -> None:
    """Squarks of 3 TeV are outside of the grid of squark masses, lighter ones inside."""
    heavy = loaded.predict(spectrum(MASSES))
    assert (heavy[C1N2].entry, heavy[C1N2].domain) == ("winos", "inside")
    light = loaded.predict(spectrum({**MASSES, **dict.fromkeys(squarks(), 500.0)}))
    assert (light[C1N2].entry, light[C1N2].domain) == ("winos_of_squarks", "inside")
    unlike = (*heavy.keys(),)
    assert unlike == ((1000002, -1000002), SELECTRONS, SMUONS, (1000021, 1000021), C1N2)
    nearly = ((1.0, 0, 0, 0), (0, 0.95, 0, 0.3122), (0, 0.3122, 0, -0.95), (0, 0, 1.0, 0))
    found = loaded.predict(spectrum(MASSES, nearly, ((1.0, 0.0), (0.0, 1.0))))[C1N2]
    assert (found.entry, found.domain) == ("winos", "outside")  # nearer than a higgsino
    assert "wino_1000023 is 0.9025, must be within 0.98 to 1.001" in found.reason


def squarks() -> list[int]:
    return [number for number in MASSES if number % 1000000 in range(1, 5)]


def test_smuons_are_predicted_as_selectrons_of_their_mass(loaded: Bundle) -> None:
    found = loaded.predict(spectrum(MASSES))
    swapped = {**MASSES, 1000011: MASSES[1000013], 1000013: MASSES[1000011]}
    other = loaded.predict(spectrum(swapped))
    assert found[SMUONS].entry == found[SELECTRONS].entry == "left"
    assert found[SMUONS] == other[SELECTRONS]
    assert found[SELECTRONS] == other[SMUONS]
    assert found[SMUONS].median < found[SELECTRONS].median


def test_a_particle_that_a_spectrum_lacks_stops_no_other(loaded: Bundle) -> None:
    """The sum is of the others, and names what is missing; alone, it is refused in one line."""
    light = {**MASSES, **dict.fromkeys(squarks(), 500.0)}
    found = loaded.predict(spectrum(light))
    gluinos = found[1000021, 1000021]
    assert math.isnan(gluinos.median)
    assert (gluinos.domain, gluinos.entry) == ("outside", "gluinos")
    assert "mass_1000021" in gluinos.reason
    added = loaded.total(spectrum(light))
    whole = loaded.total(spectrum(light), [pair for pair in found if pair != (1000021, 1000021)])
    assert added.median == whole.median
    assert (added.domain, whole.domain) == ("inside", "inside")
    assert added.reason.endswith("without 1000021 1000021")
    with refused("surrogate.not_in_spectrum", where="1000021 1000021", missing=["mass_1000021"]):
        loaded.predict(spectrum(light), [(1000021, 1000021)])
    outside = loaded.total(spectrum(MASSES))  # squarks of 3 TeV
    assert outside.domain == "outside"
    assert "without 1000002 -1000002, 1000021 1000021" in outside.reason


def test_a_sum_is_told_and_never_added_to_its_part(loaded: Bundle) -> None:
    light = spectrum({**MASSES, **dict.fromkeys(squarks(), 500.0)})
    found = loaded.predict(light)
    assert found[1000002, -1000002].reason == "added up: 8 flavours"
    names = [one.entry for one in loaded.candidates(light, SELECTRONS)]
    assert names == ["left", "both"]


def test_the_engine_computes_mixed_states(loaded: Bundle, folder: Path, tmp_path: Path) -> None:
    """Its numbers are those of the engine at these masses and mixings."""
    slha = tmp_path / "mixed.slha"
    slha.write_text(spectrum(MASSES, MIXED, CHARGED))
    plain = loaded.predict(slha)
    found = loaded.predict(slha, engine=True)
    assert (plain[C1N2].entry, plain[C1N2].domain) == ("higgsinos", "outside")
    assert {pair for pair in found if found[pair] != plain[pair]} == {C1N2}
    named = dict(zip(("n21", "n22", "n23", "n24"), MIXED[1], strict=True))
    named |= {f"{letter}1{k}": x for letter in "uv" for k, x in enumerate(CHARGED[0], 1)}
    named |= {"m2": 300.0, "mc1": 301.0}
    expected = of_process(make_process(*C1N2), named, 13.0, 3000.0)
    one = found[C1N2]
    assert (one.entry, one.domain, one.low) == ("embedded engine", "inside", one.median)
    assert one.median == pytest.approx(expected.nlo_pb[0], rel=1e-12)
    ends = np.sort([expected.scale_up_pb[0], expected.scale_down_pb[0]]) / one.median - 1
    assert (one.errors["scale_down"], one.errors["scale_up"]) == pytest.approx(tuple(ends))
    assert one.errors["total_up"] == pytest.approx(max(ends[1], 0))
    both = [C1N2, SELECTRONS]
    added = loaded.total(slha, both, engine=True)
    alone = found[SELECTRONS]
    assert added.median == pytest.approx(one.median + alone.median, rel=1e-3)
    assert added.high - added.median == pytest.approx(alone.high - alone.median, rel=0.03)
    assert "orders: NLO QCD, NLO+NLL" in added.reason
    rows = by_command(folder, slha, tmp_path, with_engine=True, total=True)
    assert [row["entry"] for row in rows if row["process"] == "1000023 1000024"] == [
        "higgsinos",
        "embedded engine",
    ]
    (row,) = [row for row in rows if row["entry"] == "embedded engine"]
    assert (row["sigma_pb_median"], row["order"]) == (one.median, "NLO QCD")
    assert row["scale_up_rel"] == one.errors["scale_up"]
    assert rows[-1]["sigma_pb_median"] == loaded.total(slha, engine=True).median


def by_command(folder: Path, slha: Path, place: Path, **options: Any) -> list[dict[str, Any]]:
    predict(folder, str(slha), str(place / "out.jsonl"), **options)
    return [json.loads(line) for line in (place / "out.jsonl").read_text().splitlines()]


def test_the_engine_computes_sleptons_without_squarks() -> None:
    """Light ones neither change the cross section nor refuse it, and missing ones are not named."""
    point = {"mass_1000011": 200.0, "mass_1000012": 190.0}
    found = by_engine((-1000011, 1000012), point, 13000.0)
    light = by_engine((-1000011, 1000012), point | {"msq": 500.0}, 13000.0)
    assert found == light
    expected = of_process(make_process(-1000011, 1000012), point, 13.0)
    assert found.median == expected.nlo_pb[0]
    assert "squarks" not in found.reason


def test_what_the_engine_cannot_compute_has_a_reason(loaded: Bundle) -> None:
    """These are charginos above its range. Squarks that a spectrum lacks count as decoupled."""
    heavy = {**MASSES, 1000023: 6000.0, 1000024: 6000.0}
    found = loaded.predict(spectrum(heavy), engine=True)[C1N2]
    assert math.isnan(found.median)
    assert found.domain == "outside"
    assert found.reason.startswith("embedded engine: ")
    few = {number: mass for number, mass in MASSES.items() if number not in squarks()}
    found = loaded.predict(spectrum(few, MIXED, CHARGED), engine=True)[C1N2]
    assert found.reason.endswith("squarks are not given and count as decoupled")


def test_every_entry_has_a_row_on_request(folder: Path, tmp_path: Path) -> None:
    slha = tmp_path / "a.slha"
    slha.write_text(spectrum(MASSES))
    rows = by_command(folder, slha, tmp_path, all_entries=True)
    of_pair = [row["entry"] for row in rows if row["process"] == "1000023 1000024"]
    assert of_pair == ["winos", "winos_of_squarks", "higgsinos"]
    assert [row["order"] for row in rows if row["entry"] == "higgsinos"] == ["aNNLO+NNLL"]
    with refused("bundles.no_order", received="LO"):
        by_command(folder, slha, tmp_path, order="LO")
    ordered = by_command(folder, slha, tmp_path, order="aNNLO+NNLL")
    assert [row["entry"] for row in ordered] == ["higgsinos"]


def pair_of(block: tuple[int, ...]) -> tuple[int, ...]:
    """Order the particles of a block of pyslha."""
    return key_of(block[2:])


def test_blocks_are_of_single_processes_with_their_order(folder: Path, tmp_path: Path) -> None:
    slha, out = tmp_path / "a.slha", tmp_path / "out.slha"
    slha.write_text(spectrum({**MASSES, **dict.fromkeys(squarks(), 500.0)}, MIXED, CHARGED))
    with pytest.raises(ValueError, match="adds several processes"):
        by_command(folder, slha, tmp_path, slha_out=out, process=["1000002 -1000002"])
    by_command(folder, slha, tmp_path, slha_out=out)
    blocks = pyslha.read(str(out)).xsections
    assert {*map(pair_of, blocks)} == {SELECTRONS, SMUONS}
    heavy = spectrum(MASSES, MIXED, CHARGED)
    slha.write_text(heavy)
    by_command(folder, slha, tmp_path, slha_out=out, with_engine=True)
    blocks = pyslha.read(str(out)).xsections
    orders = {pair_of(block): found.xsecs[0].qcd_order for block, found in blocks.items()}
    assert orders == {SELECTRONS: 2, SMUONS: 2, C1N2: 1}
