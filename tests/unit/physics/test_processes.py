"""Every pair that two quarks produce has one name, in either order."""

from itertools import product

import pytest

from nlobayes.physics.processes import ELECTROWEAKINOS, Process, charge_of, make_process
from tests.refusals import refused
from tests.spectra import PROCESSES


def test_there_are_thirty_processes() -> None:
    """Ten of neutralinos, sixteen of a neutralino and a chargino, four of charginos."""
    made = {
        make_process(*pair)
        for pair in product(ELECTROWEAKINOS, repeat=2)
        if abs(sum(map(charge_of, pair))) <= 1
    }
    assert made == {Process(*pair) for pair in PROCESSES}
    kinds = [(p.of_neutralinos, p.of_charginos, abs(p.charge)) for p in made]
    assert [
        kinds.count(kind) for kind in ((True, False, 0), (False, False, 1), (False, True, 0))
    ] == [10, 16, 4]


@pytest.mark.parametrize("pair", PROCESSES, ids=str)
def test_order_does_not_matter(pair: tuple[int, int]) -> None:
    assert make_process(*pair[::-1]) == make_process(*pair) == pair


def test_columns_are_those_of_both_particles() -> None:
    n2, c1 = ("m2", "n21", "n22", "n23", "n24"), ("mc1", "u11", "u12", "v11", "v12")
    assert make_process(-1000024, 1000023).columns == (*n2, *c1)
    assert make_process(1000023, 1000023).columns == n2
    assert make_process(-1000024, 1000024).columns == c1
    assert make_process(1000024, -1000037).columns == (*c1, *(n.replace("1", "2", 1) for n in c1))


@pytest.mark.parametrize(
    ("pair", "code", "received"),
    [
        ((1000022, 1000021), "physics.unknown_particle", 1000021),
        ((-1000022, 1000022), "physics.unknown_particle", -1000022),
        ((0, 1000022), "physics.unknown_particle", 0),
        ((1000024, 1000024), "physics.doubly_charged", (1000024, 1000024)),
        ((-1000024, -1000037), "physics.doubly_charged", (-1000024, -1000037)),
    ],
)
def test_other_pairs_are_refused(
    pair: tuple[int, int], code: str, received: int | tuple[int, int]
) -> None:
    with refused(code, received=received):
        make_process(*pair)
