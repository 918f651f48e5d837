"""Files become rows in their order, and every file without a row is counted."""

from nlobayes.data.parquet_tables import to_arrow
from nlobayes.data.prospino import make_layout
from nlobayes.data.spectra import Account, Reading, SpectrumRequest, read_point, tabulate
from nlobayes.data.table_files import to_csv_text
from nlobayes.errors import InputError
from nlobayes.physics.processes import neutralino_pair
from nlobayes.types import Table
from tests.prospino_points import make_point
from tests.refusals import refused

REQUEST = SpectrumRequest(
    neutralino_pair((1, 1)), 13000.0, "nlo_ms", False, make_layout(None, "nlo_ms")
)
TARGETS = (
    *("sigma_pb", "lo_pb", "scale_up", "scale_down", "pdf_error_pb", "alpha_s_up"),
    *("alpha_s_down", "rel_error"),
)


def ingested(texts: dict[str, str], request: SpectrumRequest = REQUEST) -> tuple[Table, Account]:
    return tabulate(
        {name: read_point(text, request, name) for name, text in texts.items()}, request
    )


def test_a_table_has_features_targets_and_units() -> None:
    points = [make_point(number) for number in range(3)]
    table, account = ingested({f"{n}.slha": point.text() for n, point in enumerate(points)})
    assert tuple(table.columns) == ("m1", "n11", "n12", "n13", "n14", "msq", *TARGETS, "file")
    assert table.columns["m1"].tolist() == [point.masses[0] for point in points]
    assert table.columns["file"].tolist() == ["0.slha", "1.slha", "2.slha"]
    assert {table.units[name] for name in TARGETS[:-1]} == {"pb"}
    assert [table.units[name] for name in ("m1", "n11", "msq", "rel_error")] == [
        *("GeV", "1", "GeV", "1")
    ]
    assert account["files"] == account["points"] == 3
    assert to_csv_text(table).count("\n") == 4 + len(table.metadata)
    assert to_arrow(table).num_rows == 3


def test_cross_sections_are_in_pb_whatever_they_were_in() -> None:
    point = make_point(2)
    columns = point.rows[1, 1]
    table, _ = ingested({"a": point.text()})
    assert table.columns["sigma_pb"][0] == columns["nlo_ms"] / 1000
    assert table.columns["pdf_error_pb"][0] == columns["nlo_ms_pdferr"] / 1000
    assert table.columns["rel_error"][0] == columns["nlo_relnumerr"]
    request = REQUEST._replace(
        layout=make_layout(["nlo_ms:pb", "lo:fb", "nlo_relnumerr"], "nlo_ms")
    )
    text = point.text(header=None, names=["nlo_ms", "lo", "nlo_relnumerr"])
    table, _ = ingested({"a": text}, request)
    assert table.columns["sigma_pb"][0] == columns["nlo_ms"]
    assert table.columns["lo_pb"][0] == columns["lo"] / 1000
    assert table.columns["rel_error"][0] == columns["nlo_relnumerr"]


def test_a_pair_of_two_has_ten_features() -> None:
    table, _ = ingested(
        {"a": make_point(1).text()}, REQUEST._replace(process=neutralino_pair((2, 4)))
    )
    assert tuple(table.columns)[:11] == (
        *("m2", "n21", "n22", "n23", "n24", "m4", "n41", "n42", "n43", "n44", "msq"),
    )
    assert table.metadata["process"] == "p p -> chi0_2 chi0_4"
    assert table.metadata["sqrt_s_tev"] == "13.0"


def test_files_without_a_point_are_counted_and_named() -> None:
    failed = {f"f{n}": make_point(n).text(failed=[(1, 1), (2, 3)]) for n in range(7)}
    other = {"o": make_point(7).text(failed=[(2, 3)]), "e": make_point(8).text(energy="8000")}
    table, account = ingested(
        {**failed, **other, "n": make_point(9).text(without="PROSPINO_OUTPUT")}
    )
    assert table.columns["file"].tolist() == ["o"]
    assert account == {
        "files": 10,
        "points": 1,
        "failed": {
            "1000022 1000022": {"count": 7, "files": ["f0", "f1", "f2", "f3", "f4"]},
            "1000023 1000025": {"count": 8, "files": ["f0", "f1", "f2", "f3", "f4"]},
        },
        "absent": {"count": 2, "files": ["e", "n"]},
        "repeated": {"count": 0, "files": []},
        "doubtful": {},
    }


def test_repeated_points_are_left_out_and_named() -> None:
    one, two = make_point(1).text(), make_point(2).text()
    table, account = ingested({"a": one, "b": two, "c": one, "d": one})
    assert table.columns["file"].tolist() == ["a", "b"]
    assert account["points"] == 2
    assert account["repeated"] == {"count": 2, "files": ["c", "d"]}


def test_doubtful_points_are_kept_and_named() -> None:
    one, two = make_point(1), make_point(2)
    light = one.text().replace(repr(one.masses[0]), "-45.5")
    odd = two.text().replace(repr(two.mixings[0, 1].item()), "1.5")
    table, account = ingested({"a": light, "b": odd, "c": make_point(3).text()})
    assert len(table.columns["m1"]) == 3
    doubt = "mixings of neutralino 1 outside [-1, 1] or not of length 1"
    assert account["doubtful"] == {
        "|m1| + |m1| below the Z mass, 91.1876 GeV": {"count": 1, "files": ["a"]},
        doubt: {"count": 1, "files": ["b"]},
    }


def test_a_file_that_cannot_be_read_stops_all_of_them() -> None:
    faults = {name: InputError("slha.nul", where=name) for name in "bc"}
    readings = {"a": Reading()} | {name: Reading(refusal=fault) for name, fault in faults.items()}
    with refused("slha.files_refused", reason=str(faults["b"]), more=1, files=3):
        tabulate(readings, REQUEST)
    with refused("slha.nul", where="b"):
        tabulate({name: readings[name] for name in "ab"}, REQUEST)
