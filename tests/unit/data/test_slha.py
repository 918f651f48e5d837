"""SLHA text is read as by pyslha; ambiguous text is refused."""

import os
from collections.abc import Iterable
from pathlib import Path

import pyslha
import pytest

from nlobayes.data.slha import NMSSM, OF_CHARGINOS, OF_NEUTRALINOS, read_spectrum, spectrum_of
from nlobayes.data.slha_blocks import MOST_BYTES, read_sections, read_text
from tests.prospino_points import make_point
from tests.refusals import refused

PIDS = (1000022, 1000023, 1000025, 1000035)
SMALL = """\
Block MASS
  1000022   -97.5
  1000023    1.805e+02
  1000025   -3.6E+02 # a comment
  1000035   +381
BLOCK NMIX
""" + "".join(f"  {i}  {j}  {0.1 * i + 0.01 * j}\n" for i in range(1, 5) for j in range(1, 5))


CHARGINOS = (
    """\
Block MASS
  1000024    103.25
  1000037   -405.5
Block UMIX Q= 1.0e3 # chargino U
"""
    + "".join(f"  {i}  {j}  {0.2 * i + 0.01 * j}\n" for i in (1, 2) for j in (1, 2))
    + """\
BLOCK Vmix
"""
    + "".join(f"  {i}  {j}  {0.3 * i + 0.01 * j}\n" for i in (1, 2) for j in (1, 2))
)


def spectrum(text: str, columns: Iterable[str] = OF_NEUTRALINOS) -> dict[str, float]:
    return read_spectrum(read_sections(text, "a.slha"), "a.slha", columns)


def test_masses_keep_their_signs_and_mixings_their_places() -> None:
    columns = spectrum(SMALL)
    assert [columns[f"m{i}"] for i in range(1, 5)] == [-97.5, 180.5, -360.0, 381.0]
    assert columns["n34"] == 0.1 * 3 + 0.01 * 4
    assert len(columns) == 20


def test_pyslha_reads_the_same() -> None:
    """Compare with an independent reader, for files that both accept."""
    for number in range(20):
        text = make_point(number).text()
        ours, theirs = spectrum(text), pyslha.readSLHA(text).blocks
        for i, pid in enumerate(PIDS, start=1):
            assert ours[f"m{i}"] == theirs["MASS"][pid]
            for j in range(1, 5):
                assert ours[f"n{i}{j}"] == theirs["NMIX"][i, j]


@pytest.mark.parametrize("missing", [1000001, 2000004])
def test_the_mean_squark_mass_needs_all_eight_light_squarks(missing: int) -> None:
    """Stops and sbottoms do not count."""
    light = [*range(1000001, 1000005), *range(2000001, 2000005)]
    assert spectrum(make_point(1).text(squarks=light))["msq"] == 2765.25
    few = [number for number in light if number != missing]
    assert "msq" not in spectrum(make_point(1).text(squarks=[*few, 1000005, 1000006]))


def test_charginos_have_two_matrices() -> None:
    columns = spectrum(CHARGINOS, OF_CHARGINOS)
    assert (columns["mc1"], columns["mc2"]) == (103.25, -405.5)
    assert columns["u21"] == 0.2 * 2 + 0.01 * 1
    assert columns["v12"] == 0.3 * 1 + 0.01 * 2
    assert {*columns} == OF_CHARGINOS
    both = (
        CHARGINOS.replace("Block MASS\n", SMALL.split("BLOCK")[0])
        + "BLOCK NMIX"
        + (SMALL.split("BLOCK NMIX")[1])
    )
    found = spectrum(both, OF_CHARGINOS | OF_NEUTRALINOS)
    assert found == spectrum(SMALL) | columns


@pytest.mark.parametrize(
    ("old", "new", "code", "fields"),
    [
        ("Block UMIX", "Block UMAX", "slha.no_block", {"block": "UMIX"}),
        ("BLOCK Vmix", "BLOCK", "slha.no_block", {"block": "VMIX"}),
        ("  1000037   -405.5\n", "", "slha.no_entry", {"entry": "1000037"}),
        (f"  2  1  {0.2 * 2 + 0.01}\n", "", "slha.no_entry", {"block": "UMIX", "entry": "2 1"}),
        ("  2  1  0.41", "  2  3  0.41", "slha.other_model", {"found": "block UMIX has entry 2 3"}),
        ("Block UMIX", "Block RVUMIX", "slha.other_model", {"found": "block RVUMIX"}),
        (
            "BLOCK Vmix",
            "BLOCK IMVMIX\n 1 1 0.5\nBLOCK Vmix",
            "slha.complex_mixings",
            {"particle": "chi+_1"},
        ),
    ],
)
def test_charginos_that_are_not_complete_are_refused(
    old: str, new: str, code: str, fields: dict[str, object]
) -> None:
    assert CHARGINOS.count(old) == 1
    with refused(code, where="a.slha", **fields) as caught:
        spectrum(CHARGINOS.replace(old, new), OF_CHARGINOS)
    assert "\n" not in str(caught.value)


def test_matrices_that_are_not_requested_may_be_broken() -> None:
    broken = SMALL + "BLOCK UMIX\n nonsense\nBLOCK UMIX\n"
    assert spectrum(broken) == spectrum(SMALL)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Block MASS", "  BLOCK   mass Q= 1e3"),
        ("\n", "\r\n"),
        ("\n", "\r"),
        ("\n", "\n\n  # nothing\n"),
        ("  1000022   -97.5", "1000022\t-97.5# at the margin"),
        ("Block MASS", "<LesHouchesEvents>\n<header>\n 1 = run\n<slha>\nBlock MASS"),
        ("  4  4  0.44\n", "  4  4  0.44\n</slha>\n</header>\n<init>\n 2 2 6.5e3\n d\n</init>\n"),
        ("BLOCK NMIX", "DECAY 1000022 0.1\n  1.0 2 3 nonsense\nXSECTION so\nBlock\nBLOCK NMIX"),
    ],
)
def test_writing_it_otherwise_changes_nothing(old: str, new: str) -> None:
    """Nor does skipping all other blocks."""
    assert old in SMALL
    text = SMALL.replace(old, new)
    assert spectrum(text) == spectrum(SMALL)
    further = f"{text}block minpar # a\n 3 10.0\nDECAY 6 1.0 # b\n 0.5 nonsense\nBLOCK OTHER\n x\n"
    assert spectrum_of(further, "a", OF_NEUTRALINOS, ["tan_beta", "mu"]) == {
        **spectrum(SMALL),
        "tan_beta": 10.0,
    }


@pytest.mark.parametrize(
    ("old", "new", "code", "fields"),
    [
        ("Block MASS", "Block MASSES", "slha.no_block", {"block": "MASS"}),
        ("BLOCK NMIX", "BLOCK", "slha.no_block", {"block": "NMIX"}),
        ("BLOCK NMIX", "BLOCK MASS", "slha.block_twice", {"block": "MASS"}),
        ("  1000023    1.805e+02\n", "", "slha.no_entry", {"entry": "1000023"}),
        ("1000023  ", "1000022  ", "slha.entry_twice", {"line": 3, "entry": "1000022"}),
        ("  1  2  ", "  1  1  ", "slha.entry_twice", {"line": 8, "entry": "1 1"}),
        (f"  1  2  {0.1 * 1 + 0.01 * 2}\n", "", "slha.no_entry", {"block": "NMIX", "entry": "1 2"}),
        ("  1  2  ", "  1  5  ", "slha.other_model", {"found": "block NMIX has entry 1 5"}),
        ("BLOCK NMIX", "BLOCK NMNMIX", "slha.other_model", {"found": "block NMNMIX"}),
        ("BLOCK NMIX", " 1000045 9.0\nBLOCK NMIX", "slha.other_model", {"model": NMSSM}),
        (
            "BLOCK NMIX",
            "BLOCK IMNMIX\n 1 1 0.5\nBLOCK NMIX",
            "slha.complex_mixings",
            {"particle": "chi0_1"},
        ),
        ("-97.5", "-97.5\0", "slha.nul", {}),
    ],
)
def test_what_is_not_clear_is_refused(
    old: str, new: str, code: str, fields: dict[str, object]
) -> None:
    assert SMALL.count(old) == 1
    with refused(code, where="a.slha", **fields) as caught:
        spectrum(SMALL.replace(old, new))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("BLOCK NMIX", "BLOCKNMIX", 6, "BLOCKNMIX"),
        ("1000023    1.805e+02", "1000023", 3, "1000023"),
        ("1.805e+02", "1.805e+02 1", 3, "1000023 1.805e+02 1"),
        ("1.805e+02", "1.805D+02", 3, "1000023 1.805D+02"),
        ("1.805e+02", "1_805", 3, "1000023 1_805"),
        ("1.805e+02", "nan", 3, "1000023 nan"),
        ("1.805e+02", "1e999", 3, "1000023 1e999"),
        ("1.805e+02", "１８０", 3, "1000023 １８０"),
        ("1.805e+02", "0x10", 3, "1000023 0x10"),
        ("1000023  ", "1000023.0  ", 3, "1000023.0 1.805e+02"),
        ("  1  2  ", "  12  ", 8, f"12 {0.1 * 1 + 0.01 * 2}"),
    ],
)
def test_lines_of_other_numbers_are_refused(old: str, new: str, line: int, words: str) -> None:
    assert SMALL.count(old) == 1
    with refused("slha.line_of_block", where="a.slha", line=line, words=words):
        spectrum(SMALL.replace(old, new))


def test_what_is_no_file_of_a_sensible_size_is_refused(tmp_path: Path) -> None:
    with refused("slha.unreadable", where=tmp_path / "nowhere.slha") as caught:
        read_text(tmp_path / "nowhere.slha")
    assert "No such file" in caught.value.fields["reason"]
    with refused("slha.unreadable", where=tmp_path, reason="not a regular file"):
        read_text(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with refused("slha.unreadable", reason="not a regular file"):
        read_text(tmp_path / "pipe")
    with (tmp_path / "large.slha").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with refused("slha.too_large", most=10_000_000):
        read_text(tmp_path / "large.slha")
