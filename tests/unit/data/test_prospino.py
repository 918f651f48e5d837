"""Cross sections are read by the names of their columns; a failed point gives none."""

from collections.abc import Callable
from itertools import combinations_with_replacement

import pytest

from nlobayes.data.prospino import LAYOUT, make_layout
from nlobayes.data.spectra import Reading, SpectrumRequest, read_point
from nlobayes.errors import InputError
from nlobayes.physics.processes import make_process, neutralino_pair
from tests.prospino_points import Point, make_point
from tests.refusals import refused
from tests.spectra import PROCESSES, all_processes, cross_sections_of, spectrum_of

PAIRS = [*combinations_with_replacement(range(1, 5), 2)]


REQUEST = SpectrumRequest(
    neutralino_pair((1, 1)), 13000.0, "nlo_ms", False, make_layout(None, "nlo_ms")
)
NAMES = [entry.partition(":")[0] for entry in LAYOUT]
HEADER = "PID1 PID2 sqrt_s " + " ".join(NAMES)


def layout(*entries: str) -> SpectrumRequest:
    return REQUEST._replace(layout=make_layout(entries, "nlo_ms"))


def read(text: str, request: SpectrumRequest = REQUEST) -> Reading:
    return read_point(text, request, "a.slha")


def targets(text: str, request: SpectrumRequest = REQUEST) -> dict[str, float]:
    """Return the targets by their names in the table."""
    reading = read(text, request)
    assert reading.values is not None
    names = request.sources
    return dict(zip(names, reading.values[-len(names) :], strict=True))


def assert_refused(
    text: str, code: str, request: SpectrumRequest = REQUEST, **fields: object
) -> InputError:
    """Assert that a file is refused, in one line that begins with its path."""
    with refused(code, where="a.slha", **fields) as caught:
        read(text, request)
    assert "\n" not in str(caught.value)
    return caught.value


def test_columns_go_by_name() -> None:
    point = make_point(1)
    columns = point.rows[1, 1]
    assert targets(point.text()) == {
        "sigma_pb": columns["nlo_ms"],
        "lo_pb": columns["lo"],
        "scale_up": columns["nlo_ms_scale05"],
        "scale_down": columns["nlo_ms_scale2"],
        "pdf_error_pb": columns["nlo_ms_pdferr"],
        "alpha_s_up": columns["nlo_ms_aup"],
        "alpha_s_down": columns["nlo_ms_adn"],
        "rel_error": columns["nlo_relnumerr"],
    }


def test_another_cross_section_takes_no_variations_of_the_first() -> None:
    point = make_point(1)
    request = REQUEST._replace(cross_section="nlo")
    columns = point.rows[1, 1]
    expected = {"sigma_pb": columns["nlo"], "lo_pb": columns["lo"]}
    assert targets(point.text(), request) == expected | {"rel_error": columns["nlo_relnumerr"]}


def test_another_order_of_the_columns_changes_nothing() -> None:
    point = make_point(2)
    for turn in range(len(NAMES)):
        names = [*NAMES[turn:], *NAMES[:turn]][::-1]
        units = dict(entry.partition(":")[::2] for entry in LAYOUT)
        request = layout(*(f"{name}:{units[name]}" for name in names))
        text = point.text(names=names, header=None)
        assert targets(text, request) == targets(point.text())
        assert read(text, request).values == read(point.text()).values


def test_a_layout_may_have_unknown_columns_and_lack_others() -> None:
    point = make_point(2)
    request = layout("nlo_ms:pb", "seconds", "lo:fb")
    text = point.text(header=None, names=["nlo_ms", "nlo_ms_aup", "lo"])
    columns = point.rows[1, 1]
    assert targets(text, request) == {"sigma_pb": columns["nlo_ms"], "lo_pb": columns["lo"]}


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_every_pair_has_its_features_and_its_row(pair: tuple[int, int]) -> None:
    point = make_point(4)
    reading = read(point.text(), REQUEST._replace(process=neutralino_pair(pair)))
    features = [
        value
        for i in dict.fromkeys(pair)
        for value in (point.masses[i - 1], *point.mixings[i - 1].tolist())
    ]
    assert reading.values is not None
    assert len(features) == (5 if pair[0] == pair[1] else 10)
    assert list(reading.values[: len(features)]) == features
    assert reading.values[len(features)] == point.rows[pair]["nlo_ms"]
    assert (reading.failed, reading.refusal, reading.also) == ((), None, {"msq": 2765.25})


def test_masses_can_lose_their_sign() -> None:
    request = REQUEST._replace(process=neutralino_pair((1, 2)))
    signed = read(make_point(5).text(), request).values
    absolute = read(make_point(5).text(), request._replace(absolute=True)).values
    assert signed is not None
    assert absolute is not None
    assert min(signed[0], signed[5]) < 0  # of unlike signs
    assert (absolute[0], absolute[5]) == (abs(signed[0]), abs(signed[5]))
    assert (absolute[1:5], absolute[6:]) == (signed[1:5], signed[6:])
    assert min(signed[1:5] + signed[6:10]) < 0


def row(point: Point, **changes: str) -> str:
    """Return the text of a point with changes of its first row."""
    words = [changes.get(name, repr(value)) for name, value in point.rows[1, 1].items()]
    lines = point.text().splitlines()
    lines[-10] = f"  1000022 1000022 13000 {' '.join(words)}"
    return "\n".join(lines)


@pytest.mark.parametrize("value", ["-1", "-1.0", "0", "0.0", "nan", "NaN", "-0.3", "inf", "-inf"])
@pytest.mark.parametrize("name", ["nlo_ms", "lo", "nlo_ms_aup"])
def test_a_cross_section_that_is_none_is_a_failed_point(name: str, value: str) -> None:
    text = row(make_point(1), **{name: value})
    assert read(text) == Reading(failed=("1000022 1000022",))
    other = read(text, REQUEST._replace(process=neutralino_pair((1, 2))))
    assert other.values is not None
    assert other.failed == ("1000022 1000022",)


def test_a_column_that_is_not_used_cannot_fail() -> None:
    text = row(make_point(1), nlo="-1", lo_relnumerr="nan")
    assert targets(text) == targets(make_point(1).text())
    assert read(text, REQUEST._replace(cross_section="nlo")).values is None


@pytest.mark.parametrize(
    "change",
    [
        lambda words: words[:-1],
        lambda words: [*words, "0.1"],
        lambda words: [*words[:-1], "********"],
        lambda words: [*words[:-1], "1_0"],
        lambda words: ["chi10", *words[1:]],
        lambda words: [words[0], "1000022.0", *words[2:]],
        lambda words: words[:2],
        lambda words: words[:1],
    ],
)
def test_a_row_that_is_not_in_the_layout_is_refused(
    change: Callable[[list[str]], list[str]],
) -> None:
    lines = make_point(1).text().splitlines()
    lines[-10] = " ".join(change(lines[-10].split()))
    code = "slha.line_not_in_layout"
    error = assert_refused("\n".join(lines), code, line=49, count=10, columns=NAMES)
    assert lines[-10].startswith(error.fields["words"])


def test_a_pair_that_stands_in_two_rows_is_refused() -> None:
    text = make_point(1).text().replace("1000022 1000022 13000", "1000022 1000023 13000")
    assert_refused(text, "slha.pair_twice", line=50)


def test_the_usual_comment_agrees() -> None:
    """On the line of the block, as the point has it, below it, or in other words."""
    plain = read(make_point(1).text(header=None))
    assert read(make_point(1).text()) == plain
    for comment in (
        HEADER,
        HEADER.upper(),
        HEADER.replace("nlo_ms ", "NLO_ms (fb) "),
        "by Prospino",
    ):
        assert read(make_point(1).text(header=comment)) == plain
        below = make_point(1).text(header=None).replace("_OUTPUT", f"_OUTPUT\n# {comment}")
        assert read(below) == plain


@pytest.mark.parametrize(
    "header",
    [
        HEADER.replace("nlo_ms_pdferr nlo_ms_aup", "nlo_ms_aup nlo_ms_pdferr"),
        HEADER.replace(" nlo_relnumerr", ""),
        HEADER.replace("nlo_ms ", "nlo_ms [pb] "),
        HEADER.replace("lo_relnumerr", "lo_relnumerr [fb]", 1),
        HEADER.replace("nlo_ms_aup", "alpha_s_up"),
        f"{HEADER} seconds",
    ],
)
def test_a_comment_that_disagrees_with_the_layout_is_refused(header: str) -> None:
    text = make_point(1).text(header=header)
    error = assert_refused(text, "slha.comment_against_layout", layout=[*LAYOUT])
    assert error.fields["found"][0] == "lo"
    below = make_point(1).text(header=None).replace("_OUTPUT", f"_OUTPUT\n#   {header}")
    assert_refused(below, "slha.comment_against_layout", found=error.fields["found"])


def test_a_layout_that_is_given_must_not_contradict_the_comment() -> None:
    names = [*NAMES[:-3], NAMES[-2], NAMES[-3], NAMES[-1]]
    header = "PID PID E " + " ".join(names)
    text = make_point(1).text(names=names, header=header.replace(" E ", " energy "))
    assert_refused(text, "slha.comment_against_layout", found=names)
    units = dict(entry.partition(":")[::2] for entry in LAYOUT)
    request = layout(*(f"{name}:{units[name]}" for name in names))
    assert targets(text, request) == targets(make_point(1).text())
    assert_refused(make_point(1).text(), "slha.comment_against_layout", request)


@pytest.mark.parametrize(
    ("entries", "code", "fields"),
    [
        (["nlo_ms"], "slha.layout_unit", {"entry": "nlo_ms", "name": "nlo_ms"}),
        (["nlo_ms:GeV"], "slha.layout_unit", {"entry": "nlo_ms:GeV", "name": "nlo_ms"}),
        (["nlo_ms:fb", "nlo_relnumerr:fb"], "slha.layout_ratio_with_unit", {}),
        (["nlo_ms:fb", ""], "slha.layout_without_name", {"entry": ""}),
        (["nlo_ms:fb", "NLO_ms:fb"], "slha.layout_repeats", {}),
        (["nlo:fb"], "slha.layout_lacks", {"name": "nlo_ms", "columns": ["nlo"]}),
        ([], "slha.layout_lacks", {"name": "nlo_ms", "columns": []}),
    ],
)
def test_incomplete_layouts_are_refused(
    entries: list[str], code: str, fields: dict[str, object]
) -> None:
    with refused(code, where="layout", **fields):
        make_layout(entries, "nlo_ms")


@pytest.mark.parametrize("pair", PROCESSES, ids=str)
def test_every_process_has_its_features_and_its_row(pair: tuple[int, int]) -> None:
    """Thirty rows of one file, the particles of each in both orders."""
    process = make_process(*pair)
    columns = spectrum_of(4)
    for text in (
        all_processes(4),
        all_processes(4).replace(f"{pair[0]} {pair[1]}", "{} {}").format(*pair[::-1]),
    ):
        reading = read(text, REQUEST._replace(process=process))
        assert reading.values is not None
        features = tuple(columns[name] for name in process.columns)
        assert reading.values[: len(features)] == features
        assert reading.values[len(features)] == cross_sections_of(4, pair)["nlo_ms"]


def test_conjugate_pairs_fail_each_for_itself() -> None:
    text = all_processes(4)
    (line,) = [line for line in text.splitlines() if line.startswith("  1000023 -1000024 ")]
    failed = text.replace(line, "  1000023 -1000024 13000 " + "-1 " * 10)
    minus, plus = (
        read(failed, REQUEST._replace(process=make_process(1000023, particle)))
        for particle in (-1000024, 1000024)
    )
    assert minus == Reading(failed=("1000023 -1000024",))
    assert plus.values is not None
    assert plus.failed == minus.failed
