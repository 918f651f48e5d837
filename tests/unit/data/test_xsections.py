"""Blocks XSECTION are read at the requested energy and order, or refused."""

import pytest

from nlobayes.data.prospino import make_layout
from nlobayes.data.spectra import Reading, SpectrumRequest, read_point, tabulate
from nlobayes.errors import InputError
from nlobayes.physics.processes import make_process
from tests.refusals import refused
from tests.spectra import PROCESSES, spectrum_of, spectrum_text, xsection

PAIR = (1000023, 1000024)
REQUEST = SpectrumRequest(
    make_process(*PAIR), 13000.0, "nlo_ms", False, make_layout(None, "nlo_ms"), order=2
)
ENTRIES = [(0, "0", 0.5), (1, "0", 0.61), (2, "0", 0.63)]
SPECTRUM = spectrum_text(1)


def read(blocks: str, request: SpectrumRequest = REQUEST) -> Reading:
    return read_point(SPECTRUM + blocks, request, "a.slha")


def value(blocks: str, request: SpectrumRequest = REQUEST) -> float:
    found = read(blocks, request)
    assert found.values is not None
    return found.values[-1]


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_order_chooses_the_value(order: int) -> None:
    request = REQUEST._replace(order=order)
    found = read(xsection(PAIR, ENTRIES), request)
    columns = spectrum_of(1)
    assert found.values == (*(columns[n] for n in request.process.columns), ENTRIES[order][2])
    assert found.also == {"lo_pb": 0.5}


@pytest.mark.parametrize("pair", PROCESSES, ids=str)
def test_every_process_is_found_among_all_others_in_either_order(pair: tuple[int, int]) -> None:
    text = "".join(
        xsection(p[::-1], [(2, "1.0", 0.1 + place)]) for place, p in enumerate(PROCESSES)
    )
    request = REQUEST._replace(process=make_process(*pair))
    assert value(text, request) == 0.1 + PROCESSES.index(pair)


def test_variations_of_the_scale_are_columns_where_both_factors_vary() -> None:
    entries = [*ENTRIES, (2, "0.5", 0.66), (2, "2.0", 0.60), (1, "0.5", 0.7)]
    assert read(xsection(PAIR, entries)).also == {
        "lo_pb": 0.5,
        "scale_up": 0.66,
        "scale_down": 0.60,
    }
    one_factor = xsection(PAIR, ENTRIES) + " 0 2 0 0.5 1.0 0 0.9 Made\n"
    assert read(one_factor).also == {"lo_pb": 0.5}
    with_electroweak = xsection(PAIR, ENTRIES) + " 0 2 1 0 0 0 0.9 Made\n"
    assert read(with_electroweak) == read(xsection(PAIR, ENTRIES))


def test_several_energies_and_blocks_do_not_mix() -> None:
    low = xsection(PAIR, [(2, "0", 0.2)], "8000.")
    others = xsection((1000023, -1000024), [(2, "0", 0.3)]) + xsection((5, -5), [(2, "0", 9.0)])
    lepton = xsection(PAIR, [(2, "0", 7.0)]).replace("2212 2212", "11 -11")
    three = xsection((*PAIR, 21), [(2, "0", 8.0)]).replace("2212 2 ", "2212 3 ")
    split = xsection(PAIR, ENTRIES[:2]) + xsection(PAIR[::-1], ENTRIES[2:])
    both = low + others + lepton + three + split
    assert value(both) == 0.63
    assert value(both, REQUEST._replace(sqrt_s_gev=8000.0)) == 0.2


def test_a_file_without_the_process_has_no_point() -> None:
    assert read(xsection((1000022, 1000024), ENTRIES)) == Reading()
    readings = {"a": read("")}
    with refused("slha.no_points", files=1, pair="1000023 1000024", failed=0, absent=1):
        tabulate(readings, REQUEST)


@pytest.mark.parametrize("bad", ["-1.0", "0.0", "nan", "inf"])
def test_a_cross_section_that_is_none_failed(bad: str) -> None:
    text = xsection(PAIR, [(2, "0", 0.63)]).replace("0.63", bad)
    assert read(text) == Reading(failed=("1000023 1000024",))


@pytest.mark.parametrize(
    ("text", "code", "fields"),
    [
        (xsection(PAIR, ENTRIES[:2]), "slha.xsection_order", {"order": 2, "found": [0, 1]}),
        (xsection(PAIR, []), "slha.xsection_order", {"found": []}),
        (
            xsection(PAIR, ENTRIES, "8.0E+03") + xsection(PAIR, ENTRIES, "13600"),
            "slha.xsection_energies",
            {"sqrt_s_tev": 13.0, "found": ["8", "13.6"]},
        ),
        (
            xsection(PAIR, ENTRIES) * 2,
            "slha.xsection_twice",
            {"order": 2, "lines": [38, 42]},
        ),
        (
            xsection(PAIR, [*ENTRIES, (2, "1", 0.64)]),
            "slha.xsection_twice",
            {"pair": "1000023 1000024"},
        ),
        ("XSECTION\n", "slha.xsection_head", {"words": "XSECTION"}),
        ("XSECTION 13000 2212 2212 2\n", "slha.xsection_head", {}),
        ("XSECTION 13TeV 2212 2212 2 1 2\n", "slha.xsection_head", {}),
        ("XSECTION 13000 2212 2212 3 1 2\n", "slha.xsection_head", {}),
        ("XSECTION 13000 2212 2212 2 1 2 3\n", "slha.xsection_head", {}),
        ("XSECTION nan 2212 2212 2 1 2\n", "slha.xsection_head", {}),
        ("XSECTION 13000 p p 2 1 2\n", "slha.xsection_head", {}),
        (xsection(PAIR, []) + " 0 2 0 0 0 0\n", "slha.xsection_line", {"words": "0 2 0 0 0 0"}),
        (xsection(PAIR, []) + " 0 2 0 0 0 0 x Made\n", "slha.xsection_line", {}),
        (xsection(PAIR, []) + " 0 2.5 0 0 0 0 1 Made\n", "slha.xsection_line", {}),
    ],
)
def test_what_is_not_clear_is_refused_in_one_line(
    text: str, code: str, fields: dict[str, object]
) -> None:
    with refused(code, where="a.slha", **fields) as caught:
        read(text)
    assert isinstance(caught.value, InputError)
    assert "\n" not in str(caught.value)


def test_points_become_a_table_in_pb() -> None:
    texts = {
        name: spectrum_text(number) + xsection(PAIR, [*ENTRIES[:2], (2, "0", 0.1 * number), *more])
        for number, (name, more) in enumerate({"a": [(2, "0.5", 0.9)], "b": []}.items(), start=1)
    }
    readings = {name: read_point(text, REQUEST, name) for name, text in texts.items()}
    table, account = tabulate(readings, REQUEST)
    assert [*table.columns] == [*REQUEST.process.columns, "lo_pb", "sigma_pb", "file"]
    assert table.columns["sigma_pb"].tolist() == [0.1, 0.2]
    assert table.units["sigma_pb"] == table.units["lo_pb"] == "pb"
    assert table.metadata["order"] == "NLO+NLL QCD; XSECTION of QCD order 2"
    assert table.metadata["process"] == "p p -> chi0_2 chi+_1"
    assert account["points"] == 2
