"""What a surrogate is of is what its table states, and unknown where that states nothing."""

from __future__ import annotations

import pytest

from nlobayes.data.physics.source import Settings, simulate
from nlobayes.surrogate.identity import STATED, in_words, origin, run_of

EMBEDDED = {
    "process": "p p -> chi0_1 chi0_1",
    "order": "NLO QCD; lo_pb: LO with the same parton distributions",
    "sqrt_s_tev": "13.0",
    "squark_mass_gev": "3000.0",
    "parton_distributions": "MSTW2008 NLO (arXiv:0901.0002)",
}


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        (
            EMBEDDED,
            "p p -> chi0_1 chi0_1 at 13 TeV, NLO QCD, MSTW2008 NLO (arXiv:0901.0002), "
            "squarks of 3000 GeV",
        ),
        (
            EMBEDDED | {"squark_mass_gev": "2500 to 5000, uniform in the logarithm"},
            "p p -> chi0_1 chi0_1 at 13 TeV, NLO QCD, MSTW2008 NLO (arXiv:0901.0002), "
            "squarks of 2500 to 5000 GeV (uniform in the logarithm)",
        ),
        (
            {"process": "p p -> chi0_1 chi0_2", "sqrt_s_tev": "13.6"},
            "p p -> chi0_1 chi0_2 at 13.6 TeV, order unknown, parton distributions unknown, "
            "squark masses unknown",
        ),
        (
            {"sqrt_s_tev": "7.0"},
            "process unknown at 7 TeV, order unknown, parton distributions unknown, "
            "squark masses unknown",
        ),
        ({"problem": "cubic", "seed": "1"}, "cubic"),
        ({}, "a process unknown: its table states none"),
    ],
)
def test_it_is_said_in_words(stated: dict[str, str], said: str) -> None:
    assert in_words(origin({"table_metadata": stated})) == said


def test_a_file_without_it_is_of_unknown_origin() -> None:
    assert origin({}) == dict.fromkeys(STATED, "unknown")


def test_a_strangers_entries_are_short_and_printable() -> None:
    stated = {"process": "a\x1b]0;b\x07\nc", "order": "x" * 1000, "sqrt_s_tev": 13}
    found = origin({"table_metadata": stated})
    assert found["process"] == "a?]0;b??c"
    assert found["order"] == "x" * 200 + "…"
    assert found["sqrt_s_tev"] == "13"
    for other in ("text", 4, ["a"], None):
        assert {*origin({"table_metadata": other}).values()} == {"unknown"}


@pytest.mark.parametrize(
    ("path", "run"),
    [
        ("results/surrogates/a/b/s1.nc", "a/b/s1"),
        ("/tmp/results/surrogates/a.nc", ""),
        ("results/surrogates/a.csv", ""),
        ("", ""),
    ],
)
def test_the_run_is_named_by_its_place(path: str, run: str) -> None:
    assert run_of({"place": path} if path else {}) == run


def test_the_embedded_engine_states_all_of_it() -> None:
    found = simulate(1, 1, Settings(sqrt_s_tev=7, squark_mass_gev=2000.0, pair=(1, 2))).metadata
    stated = origin({"table_metadata": found})
    assert stated == found
    assert "unknown" not in stated.values()
    assert in_words(stated).startswith("p p -> chi0_1 chi0_2 at 7 TeV, NLO QCD, MSTW2008 NLO")
