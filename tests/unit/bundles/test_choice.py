"""Which entry of several predicts a process: by domain, conditions, order, inputs and name."""

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlobayes import Bundle
from nlobayes.bundles.index import Entry
from nlobayes.bundles.offers import Offer, among, offers_of, overlapping, preference, together
from nlobayes.surrogate.cross_section import Standing
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Dataset, SurrogateContent
from tests.refusals import refused
from tests.unit.spectra_with_surrogates import STATED, spectrum_of, write

ONE = (1000022, 1000022)
DOMAINS = ("inside", "near edge", "outside")
ORDERS = ("aNNLO+NNLL", "NLO+NLL QCD", "NLO QCD", "LO", "by hand")
"""From high to low."""


def entry(
    name: str, outgoing: Sequence[int] = ONE, order: str = "NLO", inclusive: str = ""
) -> Entry:
    process = "p p -> x", (2212, 2212), tuple(outgoing)
    return Entry(name, *process, 13000.0, order, inclusive, "0" * 64, True, {})


ranks = st.tuples(
    st.sampled_from(DOMAINS), st.booleans(), st.sampled_from(ORDERS), st.integers(1, 2)
)


@given(st.lists(ranks, min_size=2, max_size=5), st.randoms())
def test_the_first_of_a_sorted_list_is_preferred(drawn: list, random) -> None:  # type: ignore[no-untyped-def]
    """The list is in the order of the documentation; the order of entries does not matter."""
    named = [(f"entry{number}", *each) for number, each in enumerate(drawn)]

    def place(one: tuple[str, str, bool, str, int]) -> tuple[int, bool, int, int, int]:
        name, domain, holds, order, inputs = one
        last = -int(name.removeprefix("entry"))
        return DOMAINS.index(domain), not holds, ORDERS.index(order), -inputs, last

    def key(one: tuple[str, str, bool, str, int]) -> tuple[object, ...]:
        name, domain, holds, order, inputs = one
        offer = Offer(entry(name, order=order), ONE)
        return preference(offer, Standing(domain, "", holds), inputs)

    expected = sorted(named, key=place)
    random.shuffle(named)
    assert sorted(named, key=key, reverse=True) == expected


def test_lo_and_sums_count_where_there_is_nothing_else() -> None:
    lo, nlo = entry("lo", order="LO"), entry("nlo")
    added = entry("added", order="NLO+NLL", inclusive="sum of both")
    for listed, expected in (
        ([lo, nlo, added], [nlo]),
        ([lo, added], [lo]),
        ([added, entry("more", order="LO", inclusive="sum of both")], [added]),
        ([lo], [lo]),
    ):
        for some in permutations(offers_of(listed)):
            assert [offer.entry for offer in among(some)] == expected


SELECTRONS, STOPS = (1000011, -1000011), (1000006, -1000006)


def test_a_grid_of_one_generation_serves_the_other() -> None:
    names = "mass_1000011_2000013", "mass_ratio_1000012_1000015", "tan_beta", "m1", "n11"
    mine, other = offers_of([entry("sleptons", SELECTRONS)])
    assert [mine.outgoing, other.outgoing] == [SELECTRONS, (1000013, -1000013)]
    assert tuple(map(mine.named, names)) == names
    assert [other.named(name) for name in names[:2]] == [
        "mass_1000013_2000011",
        "mass_ratio_1000014_1000015",
    ]
    assert tuple(map(other.named, names[2:])) == names[2:]
    (_, mixed) = offers_of([entry("mixed", (1000012, -1000011))])
    assert mixed.outgoing == (-1000013, 1000014)
    assert len(offers_of([entry("staus", (1000015, -1000015))])) == 1
    served = {offer.outgoing for offer in offers_of([entry("stops", STOPS)])}
    assert served == {(n, -n) for n in (1000005, 1000006, 2000005, 2000006)}


def test_no_process_is_added_twice() -> None:
    left, right = entry("left", SELECTRONS), entry("right", (2000011, -2000011))
    both = entry("both", SELECTRONS, inclusive="sum of 1000011 -1000011 and 2000011 -2000011")
    squarks = [entry(n, (1000001, -1000001), inclusive="8 flavours") for n in ("a", "b")]
    smuons = {(1000013, -1000013), (2000013, -2000013)}
    selectrons = {SELECTRONS, right.outgoing}
    assert {*together(offers_of([left, right, both]))} == selectrons | smuons
    assert {*together(offers_of([right, both]))} == {right.outgoing, (2000013, -2000013)}
    assert together(offers_of([both])) == [SELECTRONS, (1000013, -1000013)]
    assert together(offers_of(squarks)) == [(1000001, -1000001)]
    of_right, of_both = offers_of([right])[0], offers_of([both])[0]
    assert overlapping([of_right, of_both]) == (of_right, of_both)
    assert overlapping([of_right, offers_of([left])[0], *offers_of([both])[1:]]) is None


@pytest.fixture(scope="module")
def named(
    exported: SurrogateContent, dataset: Dataset, tmp_path_factory: pytest.TempPathFactory
) -> list[Path]:
    """Surrogates of one process: two orders for squarks of 3 TeV, NLO for lighter ones, and LO."""
    folder = tmp_path_factory.mktemp("named")
    states = {
        "nlo": {"order": "NLO"},
        "resummed": {"order": "NLO+NLL"},
        "light": {"order": "NLO", "fixed": "msq = 500 GeV (400 to 600)"},
        "lo": {"order": "LO", "fixed": "none"},
    }
    return [
        write(folder / f"{name[:2]}.nc", exported, dataset, STATED | {"name": name} | of)
        for name, of in states.items()
    ]


def chosen(bundle: Bundle, spectrum: str, **given: object) -> tuple[str, str]:
    found = bundle.predict(spectrum, [ONE], **given)[ONE]
    return found.entry, found.domain


def test_the_entry_that_applies_predicts(named: list[Path]) -> None:
    """This holds in any order of the files, and the numbers are those of the surrogate."""
    surrogate = Surrogate.load(named[0])
    heavy, light, other = (spectrum_of(surrogate, mass) for mass in (3000.0, 500.0, 1000.0))
    for files in permutations(named):
        bundle = Bundle.of(*files)
        assert [one.name for one in bundle.entries] == ["light", "lo", "nlo", "resummed"]
        assert chosen(bundle, heavy) == ("resummed", "inside")
        assert chosen(bundle, light) == ("light", "inside")
        assert chosen(bundle, other) == ("resummed", "outside")
        assert chosen(bundle, heavy, order="NLO") == ("nlo", "inside")
        assert chosen(bundle, other, order=0) == ("lo", "inside")
    found = bundle.candidates(light, ONE)
    assert [one.entry for one in found] == ["light", "resummed", "nlo", "lo"]
    assert [one.domain for one in found] == ["inside", "outside", "outside", "inside"]
    assert "msq is 500, must be within 2970 to 3030" in found[1].reason
    assert bundle.predict(light)[ONE] == found[0]


def test_names_are_those_of_files(
    named: list[Path], exported: SurrogateContent, dataset: Dataset, tmp_path: Path
) -> None:
    with refused("bundles.twice", path=named[0], first=named[0], name="nlo"):
        Bundle.of(named[0], named[0])
    for name in ("../up", "a b", "é", "a" * 201):
        path = write(tmp_path / "a.nc", exported, dataset, STATED | {"name": name})
        with refused("bundles.no_name", where=path):
            Bundle.of(path)
    path = write(tmp_path / "a.nc", exported, dataset, STATED | {"name": "unknown"})
    assert [one.name for one in Bundle.of(path).entries] == ["13000GeV_1000022_1000022"]
