"""Which entry of several predicts a process: by domain, conditions, order, inputs and name."""

from collections.abc import Sequence
from itertools import combinations, permutations
from pathlib import Path
from random import Random
from unittest.mock import ANY

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlobayes import Bundle
from nlobayes.bundles.index import Entry
from nlobayes.bundles.offers import Offer, among, apart, offers_of, together
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Dataset, SurrogateContent
from tests.refusals import refused
from tests.unit.spectra_with_surrogates import STATED, spectrum_of, write

ONE = (1000022, 1000022)
DOMAINS = ("inside", "near edge", "outside")
ORDERS = ("aNNLO+NNLL", "NLO+NLL QCD", "NLO QCD", "LO", "by hand")
"""From high to low."""


def entry(
    name: str,
    outgoing: Sequence[int] = ONE,
    order: str = "NLO",
    inclusive: str = "",
    doubt: str = "",
    inputs: Sequence[str] = ("m1",),
    fixed: str = "none",
) -> Entry:
    process = "p p -> x", (2212, 2212), tuple(outgoing), 13000.0
    return Entry(name, *process, order, inclusive, doubt, tuple(inputs), fixed, "0" * 64, True, {})


WINO = "wino_1000023 = 1 1 (0.98 to 1.001); msq = 3000 GeV (2970 to 3030)"
CONTENTS = {None: (False, 0.0), 0.99: (True, 0.0), 0.9: (False, 0.08), 0.2: (False, 0.78)}
"""Values of a content: whether conditions hold, and the distance to their range."""
cases = st.tuples(
    st.sampled_from(DOMAINS), st.sampled_from([*CONTENTS]), st.sampled_from(ORDERS), st.booleans()
)
Case = tuple[str, float | None, str, bool]


@given(st.lists(cases, min_size=2, max_size=5), st.randoms())
def test_the_first_of_a_sorted_list_is_preferred(drawn: list[Case], random: Random) -> None:
    """The list is in the order of the documentation; the order of entries does not matter."""

    def place(number: int) -> tuple[float, ...]:
        domain, content, order, has_two = drawn[number]
        holds, gap = CONTENTS[content]
        worst = "outside" if gap else domain
        first = DOMAINS.index(worst), not holds, round(gap, 6), DOMAINS.index(domain)
        return *first, ORDERS.index(order), -has_two, -number

    def key(number: int) -> tuple[object, ...]:
        domain, content, order, has_two = drawn[number]
        inputs = ("m1", "m2") if has_two else ("m1",)
        offer = Offer(entry(f"entry{number}", order=order, inputs=inputs, fixed=WINO))
        point = {"msq": 3000.0} | ({} if content is None else {"wino_1000023": content})
        known = offer.preference(point, domain)
        assert known <= offer.preference(point)  # the bound before the domain is known
        return known

    numbers = [*range(len(drawn))]
    random.shuffle(numbers)
    assert sorted(numbers, key=key, reverse=True) == sorted(numbers, key=place)


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


FIXED = "left_1000011 = 1 1 (0.9 to 1.1); msq = 3000 GeV (2970 to 3030)"
SELECTRONS, STOPS = (1000011, -1000011), (1000006, -1000006)


def test_a_grid_of_one_generation_serves_the_other() -> None:
    names = "mass_1000011_2000013", "mass_1000012_over_mass_1000015", "tan_beta", "m1", "n11"
    (mine, other), fixed = (
        offers_of([entry("sleptons", SELECTRONS, inputs=names, fixed=FIXED)]),
        {
            "left_1000011": "left_1000013",
            "msq": "msq",
        },
    )
    assert [mine.outgoing, other.outgoing] == [SELECTRONS, (1000013, -1000013)]
    assert mine.needs == (dict(zip(names, names, strict=True)), {n: n for n in fixed})
    exchanged = ["mass_1000013_2000011", "mass_1000014_over_mass_1000015"]
    assert [*other.needs.inputs.values()] == [*exchanged, *names[2:]]
    assert other.needs.conditions == fixed
    (_, mixed) = offers_of([entry("mixed", (1000012, -1000011))])
    assert mixed.outgoing == (-1000013, 1000014)
    sneutrinos = offers_of([entry("sneutrinos", (1000012, -1000012))])
    assert [one.outgoing[0] for one in sneutrinos] == [1000012, 1000014, 1000016]
    assert len(offers_of([entry("staus", (1000015, -1000015))])) == 1
    served = {offer.outgoing for offer in offers_of([entry("stops", STOPS)])}
    assert served == {(n, -n) for n in (1000005, 1000006, 2000005, 2000006)}


def test_no_process_is_added_twice() -> None:
    left, right = entry("left", SELECTRONS), entry("right", (2000011, -2000011))
    both = entry("both", SELECTRONS, inclusive="sum of 1000011 -1000011 and 2000011 -2000011")
    squarks = [entry(n, (1000001, -1000001), inclusive="8 flavours") for n in ("a", "b")]
    smuons: set[tuple[int, ...]] = {(1000013, -1000013), (2000013, -2000013)}
    selectrons = {SELECTRONS, right.outgoing}
    assert {*together(offers_of([left, right, both]))} == selectrons | smuons
    assert {*together(offers_of([right, both]))} == {right.outgoing, (2000013, -2000013)}
    assert together(offers_of([both])) == [SELECTRONS, (1000013, -1000013)]
    assert together(offers_of(squarks)) == [(1000001, -1000001)]
    ours, of_right, of_both = (Offer(one) for one in (left, right, both))
    assert apart([of_both, of_right, ours]) == [of_right, ours]
    assert apart([of_both, of_right]) == [of_right]
    assert apart([of_both, *map(Offer, squarks)]) == [of_both, ANY]
    smuons_of_both = offers_of([both])[1]
    assert apart([of_right, smuons_of_both]) == [of_right, smuons_of_both]


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


def test_an_entry_of_pure_states_serves_all_that_may_be_such_states() -> None:
    """Two neutralinos stay in order, and a calculation of any mixing serves its own pair alone."""
    pure = "higgsino_1000022 = 1 1 (0.98 to 1); higgsino_1000023 = 1 1 (0.98 to 1)"
    names = ("mass_1000022", "mass_1000023")
    offers = offers_of([entry("pair", (1000022, 1000023), inputs=names, fixed=pure)])
    neutralinos = (1000022, 1000023, 1000025, 1000035)
    assert {offer.outgoing for offer in offers} == {*combinations(neutralinos, 2)}
    other = next(offer for offer in offers if offer.outgoing == (1000023, 1000025))
    assert other.needs.inputs == {"mass_1000022": "mass_1000023", "mass_1000023": "mass_1000025"}
    assert {*other.needs.conditions.values()} == {"higgsino_1000023", "higgsino_1000025"}
    assert (
        len(offers_of([entry("mixed", (1000022, 1000023), fixed="msq = 3000 GeV (1 to 9000)")]))
        == 1
    )
    winos = "wino_1000023 = 1 1 (0.98 to 1); wino_1000024 = 1 1 (0.98 to 1)"
    assert len(offers_of([entry("wino", (1000023, -1000024), fixed=winos)])) == 4 * 2
