"""Process and settings of a surrogate are those of its table, and unknown if it states none."""

import pytest

from nlobayes.data.simulators.simulate import Settings, scan_table
from nlobayes.data.statements import spell_order
from nlobayes.surrogate.identity import conditions, in_words, origin, process_of, qcd_order

EMBEDDED = {
    "process": "p p -> chi0_1 chi0_1",
    "order": "NLO QCD; lo_pb: LO with the same parton distributions",
    "sqrt_s_tev": "13.0",
    "squark_mass_gev": "3000.0",
    "parton_distributions": "MSTW2008 NLO (arXiv:0901.0002)",
}


@pytest.mark.parametrize(
    ("stated", "text"),
    [
        (
            EMBEDDED,
            "p p -> chi0_1 chi0_1 at 13 TeV, NLO QCD, MSTW2008 NLO (arXiv:0901.0002), "
            "squarks of 3000 GeV; unknown: particles by PDG number, alpha_s, engine",
        ),
        (
            EMBEDDED | {"squark_mass_gev": "2500 to 5000, uniform in the logarithm"},
            "p p -> chi0_1 chi0_1 at 13 TeV, NLO QCD, MSTW2008 NLO (arXiv:0901.0002), "
            "squarks of 2500 to 5000 GeV (uniform in the logarithm); "
            "unknown: particles by PDG number, alpha_s, engine",
        ),
        (
            {"process": "p p -> chi0_1 chi0_2", "sqrt_s_tev": "13.6"},
            "p p -> chi0_1 chi0_2 at 13.6 TeV; unknown: particles by PDG number, order, "
            "parton distributions, alpha_s, squark masses, engine",
        ),
        (
            {"sqrt_s_tev": "7.0"},
            "process unknown at 7 TeV; unknown: particles by PDG number, order, "
            "parton distributions, alpha_s, squark masses, engine",
        ),
        ({"problem": "cubic", "seed": "1"}, "cubic"),
        ({}, "a table that states no process"),
    ],
)
def test_it_is_described_in_words(stated: dict[str, str], text: str) -> None:
    assert in_words(origin({"table_metadata": stated})) == text


def test_a_strangers_entries_are_short_and_printable() -> None:
    stated = {"process": "a\x1b]0;b\x07\nc", "order": "x" * 1000, "sqrt_s_tev": 13}
    found = origin({"table_metadata": stated})
    assert found["process"] == "a?]0;b??c"
    assert found["order"] == "x" * 200 + "…"
    assert found["sqrt_s_tev"] == "13"
    for other in ("text", 4, ["a"], None):
        assert {*origin({"table_metadata": other}).values()} == {"unknown"}


def test_the_embedded_engine_states_all_of_it() -> None:
    found = scan_table(1, 1, Settings(sqrt_s_tev=7, squark_mass_gev=2000.0, pair=(1, 2))).metadata
    stated = origin({"table_metadata": found, "target": "sigma_pb"})
    of_tables = dict.fromkeys(("name", "source", "inclusive", "doubt"), "unknown")
    assert stated == found | {"order": "NLO QCD"} | of_tables
    assert "unknown" not in found.values()
    assert in_words(stated) == (
        "p p -> chi0_1 chi0_2 at 7 TeV, PDG 2212 2212 -> 1000022 1000023, NLO QCD, "
        "MSTW2008 NLO (arXiv:0901.0002), alpha_s 0.12018 at 91.1876 GeV, "
        "for msq = 2000 GeV (1980 to 2020), nlobayes embedded NLO engine, version 1"
    )
    assert process_of(stated) == ((2212, 2212), (1000022, 1000023), 7000.0)
    assert qcd_order(stated) == 1
    assert [one.name for one in conditions(stated, ["m1"])] == ["msq"]
    assert conditions(stated, ["m1", "msq"]) == ()


@pytest.mark.parametrize(
    ("order", "number"),
    [
        *(("NLO+NLL, Resummino", 2), ("LO", 0), ("NNLO", None), ("unknown", None), ("nlo", None)),
        *(("NLO+NLL+NNLL QCD; x", 3), ("aNNLO+NNLL, HEPi", 3), ("QCD order 4; x", None)),
    ],
)
def test_an_order_has_a_number_or_none(order: str, number: int | None) -> None:
    assert qcd_order(origin({"table_metadata": {"order": order}})) == number


@pytest.mark.parametrize(
    ("number", "name"),
    [(0, "LO"), (1, "NLO QCD"), (2, "NLO+NLL QCD"), (3, "NLO+NLL+NNLL QCD"), (4, "QCD order 4")],
)
def test_an_order_that_was_ingested_can_be_written(number: int, name: str) -> None:
    """Programs choose their own numbers for further orders in blocks."""
    assert spell_order(number) == name
    stated = {"table_metadata": {"order": f"{name}; XSECTION of QCD order {number}"}}
    assert qcd_order(origin(stated)) == (number if number < 4 else None)


@pytest.mark.parametrize(
    "other",
    [{"incoming": "p p"}, {"outgoing": "unknown"}, {"sqrt_s_tev": "13 TeV"}, {"sqrt_s_tev": "-1"}],
)
def test_a_process_is_whole_or_unknown(other: dict[str, str]) -> None:
    stated = {"incoming": "2212 2212", "outgoing": "1000022 -1000024", "sqrt_s_tev": "13.6"}
    whole = process_of(origin({"table_metadata": stated}))
    assert whole == ((2212, 2212), (1000022, -1000024), 13600.0)
    assert process_of(origin({"table_metadata": stated | other})) is None
