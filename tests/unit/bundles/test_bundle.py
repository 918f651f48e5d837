"""A bundle predicts what its surrogates predict, and refuses other requests in one line."""

import math
from pathlib import Path
from typing import Any

import pytest

from nlobayes import Bundle
from nlobayes.surrogate.cross_section import cross_section
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Dataset, SurrogateContent
from tests.refusals import refused
from tests.unit.spectra_with_surrogates import STATED, spectrum_of, write

ONE, TWO = (1000022, 1000022), (1000022, 1000023)
GLUINOS = (1000021, 1000021)


@pytest.fixture(scope="module")
def bundle(folder: Path) -> Bundle:
    return Bundle.load(folder)


@pytest.fixture(scope="module")
def slha(files: list[Path]) -> str:
    return spectrum_of(Surrogate.load(files[0]))


def test_five_lines_from_a_file_to_numbers(folder: Path, slha: str, tmp_path: Path) -> None:
    """The lines are those of docs/codes.md."""
    (tmp_path / "model.slha").write_text(slha)
    bundle = Bundle.load(folder)
    found = bundle.predict(tmp_path / "model.slha", energy=13000)
    assert [*found] == [ONE, TWO]
    for one in found.values():
        assert one.low < one.median < one.high
        assert one.errors["total_up"] > 0


def test_a_prediction_is_that_of_the_surrogate(
    bundle: Bundle, files: list[Path], slha: str, tmp_path: Path
) -> None:
    surrogate = Surrogate.load(files[1])
    point = dict(zip(surrogate.inputs, surrogate.typical.values(), strict=True)) | {"msq": 3000.0}
    expected = cross_section(surrogate, point)
    (tmp_path / "model.slha").write_text(slha)
    for given in (slha, tmp_path / "model.slha", str(tmp_path / "model.slha"), point):
        found = bundle.predict(given, [(1000023, 1000022)], 13000.0)
        assert found == {TWO: expected._replace(entry="13000GeV_1000022_1000023")}


@pytest.mark.parametrize("call", ["predict", "total"])
@pytest.mark.parametrize(
    ("words", "code", "fields"),
    [
        ({}, "bundles.energies", {"energies": [13000.0, 13600.0]}),
        ({"processes": [ONE]}, "bundles.energies", {"energies": [13000.0, 13600.0]}),
        ({"energy": 8000}, "bundles.no_energy", {"known": (13000.0, 13600.0)}),
        ({"energy": 13000, "order": 0}, "bundles.no_order", {"known": ["NLO QCD"]}),
        ({"energy": 13000, "order": "LO"}, "bundles.no_order", {"known": ["NLO QCD"]}),
        ({"energy": 13000, "order": "N"}, "bundles.no_order", {"received": "N"}),
        ({"energy": 13000, "order": 9}, "bundles.no_order", {"received": 9}),
        ({"processes": []}, "bundles.lacks", {"missing": []}),
        (
            {"processes": [GLUINOS], "energy": 13600},
            "bundles.lacks",
            {"missing": ["1000021 1000021"]},
        ),
        ({"processes": [ONE, (1, 2)]}, "bundles.lacks", {"missing": ["1 2"]}),
        ({"processes": [ONE, ONE]}, "bundles.requested_twice", {"pair": "1000022 1000022"}),
        ({"processes": [TWO, TWO[::-1]]}, "bundles.requested_twice", {"pair": "1000022 1000023"}),
        ({"processes": ONE}, "bundles.no_pairs", {"received": ONE}),
        ({"processes": "none"}, "bundles.no_pairs", {"received": "none"}),
    ],
)
def test_what_it_has_not_is_refused(
    bundle: Bundle, slha: str, call: str, words: dict[str, Any], code: str, fields: dict[str, Any]
) -> None:
    with refused(code, **fields):
        getattr(bundle, call)(slha, **words)


@pytest.mark.parametrize("call", ["predict", "total"])
def test_a_spectrum_that_cannot_be_used_is_refused(bundle: Bundle, call: str) -> None:
    ask = getattr(bundle, call)
    with refused("slha.no_block", where="SLHA", block="MASS"):
        ask("Block NMIX\n", energy=13000)
    with refused("slha.unreadable", where="missing.slha"):
        ask("missing.slha", energy=13000)
    with refused("surrogate.not_in_spectrum", where="1000022 1000022"):
        ask({"m1": 100.0}, energy=13000)


def test_lo_is_not_added_to_other_orders(
    files: list[Path], exported: SurrogateContent, dataset: Dataset, slha: str, tmp_path: Path
) -> None:
    """Orders above LO are added, and the reason states them."""
    for order in ("LO QCD", "by hand", "NLO+NLL QCD"):
        stated = STATED | {"outgoing": "1000023 1000023", "order": order}
        both = Bundle.of(files[0], write(tmp_path / "lo.nc", exported, dataset, stated))
        assert len(both.predict(slha)) == 2
        if order == "NLO+NLL QCD":
            assert both.total(slha).reason == "orders: NLO QCD, NLO+NLL QCD"
        else:
            with refused("bundles.orders", orders=sorted({order, "NLO QCD"})):
                both.total(slha)


def test_differences_of_what_is_added_are_in_the_reason(
    exported: SurrogateContent, dataset: Dataset, slha: str, tmp_path: Path
) -> None:
    """These are the parton distributions and the engines; spellings of one set are equal."""
    ours = {"parton_distributions": "CT18 NLO", "engine": "ours 1"}
    states = {
        "one": ours,
        "unlike": {"outgoing": "1000023 1000023", "parton_distributions": "MSTW2008 NLO"},
        "unstated": {"outgoing": "1000025 1000025", "engine": "ours 1"},
        "like": {"outgoing": "1000022 1000023", "engine": "theirs"}
        | {"parton_distributions": "ct18nlo"},
    }
    mixed = Bundle.of(
        *(write(tmp_path / f"{n}.nc", exported, dataset, STATED | states[n]) for n in states)
    )
    found = mixed.total(slha, [ONE, (1000023, 1000023)])
    assert found.reason == (
        "parton distributions: CT18 NLO, MSTW2008 NLO; engines: ours 1, unknown"
    )
    found = mixed.total(slha, [ONE, (1000025, 1000025)])
    assert found.reason == "parton distributions: CT18 NLO, unknown"
    assert mixed.total(slha, [ONE, TWO]).reason == "engines: ours 1, theirs"
    assert mixed.total(slha, [ONE]).reason == ""


def test_only_blocks_of_requested_processes_are_needed(
    files: list[Path], exported: SurrogateContent, dataset: Dataset, slha: str, tmp_path: Path
) -> None:
    """A surrogate with charginos needs UMIX; one without does not, and is not stopped by it."""
    names = dict(zip(exported.facts["columns"], ("mc1", "u11", "u12", "v11", "v12"), strict=True))
    units = {names.get(name, name): unit for name, unit in exported.facts["units"].items()}
    limits = {"|mc1|": exported.facts["domain"]["limits"]["|m1|"]}
    facts = {**exported.facts, "columns": [*names.values()], "units": units}
    facts["domain"] = {**exported.facts["domain"], "limits": limits}
    stated = STATED | {"outgoing": "1000024 -1000024"}
    charged = write(tmp_path / "c.nc", exported._replace(facts=facts), dataset, stated)
    both, pair = Bundle.of(files[0], charged), (1000024, -1000024)
    alone = both.predict(slha, [ONE])
    found = both.predict(slha)
    assert found[ONE] == alone[ONE]
    assert math.isnan(found[pair].median)
    assert (found[pair].domain, found[pair].entry) == ("outside", "13000GeV_1000024_-1000024")
    assert "UMIX" in found[pair].reason
    added = both.total(slha)
    assert added.median == alone[ONE].median
    assert (added.domain, added.reason) == (found[ONE].domain, "without 1000024 -1000024")
    assert math.isnan(both.total(slha, [ONE, pair]).median)  # requested, and so not left out
    for ask in (both.predict, both.total):
        with refused("slha.no_block", block="UMIX"):
            ask(slha, [pair])
    spectrum = both.surrogates["13000GeV_1000024_-1000024"].typical
    assert both.predict(spectrum, [pair])[pair].median > 0


def test_another_spectrum_has_another_answer(bundle: Bundle, files: list[Path]) -> None:
    """Predictions are cached for the same spectrum only, and callers cannot change the cache."""
    surrogate = Surrogate.load(files[0])
    point = dict(zip(surrogate.inputs, surrogate.typical.values(), strict=True))
    first = bundle.predict(point, [ONE], 13000)[ONE]
    dict.clear(first.errors)
    point["m1"] *= 1.01
    second = bundle.predict(point, [ONE, TWO], 13000)
    assert second[ONE].median != first.median
    point["m1"] /= 1.01
    again = bundle.predict(point, [ONE], 13000)[ONE]
    assert again.median == pytest.approx(first.median, rel=1e-9)
    assert again.errors


def test_calls_with_new_spectra_open_no_file(
    bundle: Bundle, slha: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand calls are fast because of this; `benchmarks/bundle_calls.py` measures them."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a file was opened")

    mass = repr(bundle.surrogates["13000GeV_1000022_1000022"].typical["m1"])
    spectra = [slha.replace(mass, repr(float(mass) * (1 + 1e-6 * n))) for n in range(20)]
    for where in ("builtins.open", "io.open", "netCDF4.Dataset"):
        monkeypatch.setattr(where, refuse)
    medians = {bundle.predict(one, [ONE], 13000)[ONE].median for one in spectra}
    monkeypatch.undo()
    assert len(medians) == 20
