"""Thousands of damaged files: one clear line, or exactly the numbers of a plain reader."""

import csv
import gzip
import io
import math
import random
import re
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pyslha
import pytest

from nlobayes.data.prospino import make_layout
from nlobayes.data.selection import Request, Selection, select
from nlobayes.data.spectra import SpectrumRequest, read_file
from nlobayes.data.table_files import read_table
from nlobayes.errors import InputError
from nlobayes.physics.processes import make_process
from tests.prospino_points import make_point

SLHA_FILES, CSV_FILES, GZIP_FILES = 6000, 5000, 500
BATCHES = 10
ASKED = SpectrumRequest(
    make_process(1000022, 1000023), 13000.0, "nlo_ms", False, make_layout(None, "nlo_ms")
)
USED = (4, 0, 5, 6, 7, 8, 9, 3)
"""Positions of the columns that the table has, among the ten of a row."""
WORDS = (
    *("nan", "NaN", "inf", "-inf", "-1", "0", "-0.0", "1e999", "1e-400", "1_0", "0x10", "1.0D+01"),
    *("１", "٣", "+", "-", "", ".", "e", "1.", ".5", "+5", "1,5", "'1'", '"', '"1"', "#", "# x\n"),
    *("BLOCK", "Block NMIX", "BLOCK MASS", "DECAY 1 2", "\0", "\ufeff", "\x0c", "\x85", "\u2028"),
    *("1000022", "1000023", "1", "2", "13000", "9" * 400, "-" * 300, "(" * 300, "x" * 2000, "\t"),
    *(":", ":fb", ":pb", ",", ",,", "\n", "\r", "\r\n", "\n\n", "# k: v\n", " ", "  ", "None"),
)
UNITS = {"": 1.0, "pb": 1.0, "fb": 1e-3, "nb": 1e3, "ab": 1e-6}
CSV = "# energy: 13 TeV\nm1:GeV,n11,sigma:fb,delta,source\n" + "".join(
    f"{100.5 + 7 * n!r},{math.sin(n)!r},{10 ** (2 - n / 4)!r},{0.001 * (1 + n % 5)!r},scan {n}\n"
    for n in range(15)
)


def mutate(content: bytes, chance: random.Random) -> bytes:
    """Damage a text in one to three places."""
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        content = chance.choice(DAMAGES)(content, chance)
    return content


def _word(content: bytes, chance: random.Random) -> bytes:
    """Replace a word by another one."""
    found = [*re.finditer(rb"[^\s,]+", content)]
    if not found:
        return content
    start, end = chance.choice(found).span()
    return content[:start] + chance.choice(WORDS).encode() + content[end:]


def _insert(content: bytes, chance: random.Random) -> bytes:
    place = chance.randint(0, len(content))
    return content[:place] + chance.choice(WORDS).encode() + content[place:]


def _byte(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(max(1, len(content)))
    return content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :]


def _cut(content: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(max(1, len(content)))
    return content[:start] + content[start + chance.choice([1, 2, 30, 10**6]) :]


def _lines(content: bytes, chance: random.Random) -> bytes:
    """Repeat, remove or move a line."""
    lines = content.splitlines(keepends=True)
    line = lines.pop(chance.randrange(len(lines))) if lines else b""
    for _ in range(chance.randint(0, 2)):
        lines.insert(chance.randint(0, len(lines)), line)
    return b"".join(lines)


DAMAGES = (_word, _word, _insert, _byte, _cut, _lines)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mutated")


def assert_one_line(error: InputError, path: Path) -> None:
    message = str(error)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message


@pytest.mark.by_day(5)
@pytest.mark.parametrize("batch", range(BATCHES))
def test_damaged_slha_files(path: Path, batch: int) -> None:
    chance, outcomes = random.Random(batch), Counter[str]()
    file = path / f"{batch}.slha"
    for number in range(SLHA_FILES // BATCHES):
        original = make_point(number % 7).text(header=None if number % 3 else "by Prospino")
        content = mutate(original.encode(), chance)
        file.write_bytes(content)
        reading = read_file(file, ASKED)
        if reading.refusal:
            assert_one_line(reading.refusal, file)
            outcomes["refused"] += 1
        elif reading.values is None:
            outcomes["no point"] += 1
        else:
            text = content.decode("utf-8-sig", "replace")
            assert [*reading.values] == plain_point(text)
            outcomes["answered"] += 1
            if number % 5 == 0:
                outcomes["compared"] += agrees_with_pyslha(text, reading.values)
    assert min(outcomes["refused"], outcomes["answered"]) > 100
    assert outcomes["compared"] > 10
    assert outcomes["no point"]


def plain_point(text: str) -> list[float]:
    """Read a point in the simplest way, columns by position, without checks or names."""
    blocks: dict[str, list[list[str]]] = {}
    name = ""
    for line in re.split("\r\n|\r|\n", text):
        words = line.split("#")[0].split()
        if words and words[0].upper() in ("BLOCK", "DECAY", "XSECTION"):
            name = " ".join(words[:2]).upper()
        elif words:
            blocks.setdefault(name, []).append(words)
    masses = {int(words[0]): float(words[1]) for words in blocks["BLOCK MASS"]}
    mixings = {(int(w[0]), int(w[1])): float(w[2]) for w in blocks["BLOCK NMIX"]}
    rows = [[*map(float, words)] for words in blocks["BLOCK PROSPINO_OUTPUT"]]
    (row,) = (row for row in rows if {*row[:2]} == {1000022, 1000023} and row[2] == 13000)
    features = [
        [masses[pid], *(mixings[i, k] for k in range(1, 5))]
        for i, pid in ((1, 1000022), (2, 1000023))
    ]
    return [*features[0], *features[1], *(row[3 + position] for position in USED)]


def agrees_with_pyslha(text: str, values: tuple[float, ...]) -> bool:
    """Compare with the masses and mixings of pyslha, if it can read the file at all."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            blocks = pyslha.readSLHA(text).blocks
    except Exception:
        return False
    found = [blocks["MASS"].get(1000022), blocks["MASS"].get(1000023)]
    mixings = (
        [blocks["NMIX"].get((i, k)) for i in (1, 2) for k in range(1, 5)]
        if "NMIX" in blocks
        else []
    )
    ours = [values[0], values[5], *values[1:5], *values[6:10]]
    same = [one == other for one, other in zip(ours, found + mixings, strict=False)]
    numbers = [isinstance(other, float) for other in found + mixings]
    assert all(equal for equal, number in zip(same, numbers, strict=True) if number)
    return any(numbers)


def chosen(path: Path) -> Selection:
    units = {"m1": "GeV", "sigma": "pb"}
    request = Request(["m1", "n11"], ["sigma"], units, relative_error="delta")
    return select(read_table(path, 1.0), request, str(path), "keep")


def chosen_or_refused(path: Path) -> Selection | None:
    """Select from a table; None if it is refused in one line."""
    try:
        return chosen(path)
    except InputError as error:
        assert_one_line(error, path)
    return None


@pytest.mark.by_day(5)
@pytest.mark.parametrize("batch", range(BATCHES))
def test_damaged_csv_files(path: Path, batch: int) -> None:
    chance, answered = random.Random(1000 + batch), 0
    file = path / f"{batch}.csv"
    for _ in range(CSV_FILES // BATCHES):
        content = mutate(CSV.encode(), chance)
        file.write_bytes(content)
        selection = chosen_or_refused(file)
        if selection is not None:
            answered += 1
            assert selection.relative_error is not None
            found = [*selection.inputs.T, selection.target, selection.relative_error]
            for ours, plain in zip(found, plain_columns(content.decode("utf-8-sig")), strict=True):
                np.testing.assert_allclose(ours, plain, rtol=1e-15)
    assert 50 < answered < CSV_FILES // BATCHES - 50


def number(cell: str) -> float:
    """Read a number, also with Fortran's exponent."""
    return float(re.sub(r"(?<=[0-9.])[dD](?=[+-]?[0-9])", "E", cell))


def plain_columns(text: str) -> list[list[float]]:
    """Read the columns in the simplest way, in GeV and pb."""
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if any(row)]
    while rows[0][0].startswith("#"):
        del rows[0]
    header = [cell.partition(":") for cell in rows[0]]
    columns = []
    for name, factors in (("m1", {"GeV": 1, "TeV": 1e3}), ("n11", None), ("sigma", UNITS)):
        place = [cell[0].strip() for cell in header].index(name)
        factor = factors[header[place][2].strip()] if factors else 1
        columns.append([number(row[place]) * factor for row in rows[1:]])
    place = [cell[0].strip() for cell in header].index("delta")
    return [*columns, [number(row[place]) for row in rows[1:]]]


def test_damaged_compressed_files(path: Path) -> None:
    """A checksum reveals damage: the file is refused, or its content is unchanged."""
    chance = random.Random(7)
    file = path / "points.csv.gz"
    original = gzip.compress(CSV.encode(), mtime=0)
    file.write_bytes(original)
    whole, answered = chosen(file), 0
    for _ in range(GZIP_FILES):
        file.write_bytes(mutate(original, chance))
        selection = chosen_or_refused(file)
        if selection is not None:
            answered += 1
            np.testing.assert_array_equal(selection.inputs, whole.inputs)
            np.testing.assert_array_equal(selection.target, whole.target)
    assert answered < GZIP_FILES / 2
