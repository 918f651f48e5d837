"""Statements of a table are read as they are spelled; contradictions are refused."""

from typing import Any

import numpy as np
import pytest

from nlobayes.data.simulators.simulate import Settings, scan_table
from nlobayes.data.statements import complete, fixed_around, read_fixed, read_process, spell
from tests.refusals import refused

FIXED = "msq = 3000 GeV (2970 to 3030)"


@pytest.mark.parametrize(
    "text",
    [
        *("", "unknown", "msq", "msq = 3000", "msq = x GeV (1 to 2)", f"{FIXED};", f"{FIXED}; n"),
        *("msq = 3000 GeV (3001 to 3030)", "msq = 1..2 GeV (0 to 5)", "msq = 1 GeV (0 to 1e999)"),
    ],
)
def test_other_words_are_no_fixed_parameters(text: str) -> None:
    assert read_fixed(text) is None


@pytest.mark.parametrize("text", ["", "p p", "p p -> ", "p p -> N1 N1", "p p -> p -> p"])
def test_other_words_are_no_process(text: str) -> None:
    assert read_process(text) is None


def test_an_input_was_not_held_fixed() -> None:
    two = f"{FIXED}; tan_beta = 10 1 (5 to 20)"
    assert complete({"fixed": two}, {}, ["m1"])["fixed"] == two
    assert complete({"fixed": two}, {}, ["msq"])["fixed"] == "tan_beta = 10 1 (5 to 20)"
    assert complete({"fixed": FIXED}, {}, ["msq"])["fixed"] == "none"
    assert complete({"fixed": "unknown"}, {}, ["msq"])["fixed"] == "unknown"
    assert complete({"seed": "1"}, {}, ["msq"]) == {"seed": "1"}


def test_words_of_a_table_become_particles() -> None:
    found = complete({"process": "p p -> chi0_2 chi+_1"}, {}, [])
    assert found["outgoing"] == "1000023 1000024"
    assert complete({"process": "gluinos"}, {}, []) == {"process": "gluinos"}


GIVEN: dict[str, Any] = {
    "incoming": (2212, 2212),
    "outgoing": (1000022, 1000022),
    "sqrt_s_tev": 13.0,
}


def test_what_the_user_gives_is_added_to_what_the_table_states() -> None:
    parameters = {
        "msq": {"value": 3000.0, "unit": "GeV"},
        "a": {"value": 1.0, "low": 0.0, "unit": "1"},
    }
    entries = spell(GIVEN | {"order": "NLO", "fixed": parameters})
    stated = {"seed": "1", "sqrt_s_tev": "13", "order": "unknown", "process": "pp to N1 N1"}
    assert complete(stated, entries, []) == {
        "seed": "1",
        "process": "p p -> chi0_1 chi0_1",
        "incoming": "2212 2212",
        "outgoing": "1000022 1000022",
        "sqrt_s_tev": "13.0",
        "order": "NLO",
        "fixed": f"{FIXED}; a = 1 1 (0 to 1.01)",
    }


@pytest.mark.parametrize(
    ("stated", "name"),
    [
        ({"sqrt_s_tev": "13.6"}, "sqrt_s_tev"),
        ({"outgoing": "1000022 1000023"}, "outgoing"),
        ({"process": "p p -> chi0_1 chi0_2"}, "outgoing"),
    ],
)
def test_a_contradiction_is_refused(stated: dict[str, str], name: str) -> None:
    with refused("data.stated_otherwise", name=name):
        complete(stated, spell(GIVEN), [])


def test_one_per_cent_of_the_squark_mass_moves_cross_sections_little() -> None:
    """As `SPAN` states: at most 5 %, in the median 2.5 %."""
    fixed = fixed_around("msq", [3000.0], "GeV")
    for pair in ((1, 1), (1, 2), (2, 2)):
        at = {
            mass: scan_table(1, 100, Settings(13.0, mass, pair)).columns["sigma_pb"]
            for mass in (fixed.low, 3000.0, fixed.high)
        }
        moved = [np.abs(at[mass] / at[3000.0] - 1) for mass in (fixed.low, fixed.high)]
        assert np.max(moved) < 0.055
        assert np.median(moved) < 0.025


@pytest.mark.parametrize("name", ["incoming", "outgoing", "sqrt_s_tev", "fixed"])
def test_an_entry_that_cannot_be_read_is_refused(name: str) -> None:
    with refused("data.statement", name=name, stated="x"):
        complete({name: "x"}, {}, [])
