"""SLHA files as rows: their content, and which of them cannot be used."""

import os
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from nlobayes.data.row_chunks import numbers
from nlobayes.data.slha_blocks import is_slha
from nlobayes.data.spectrum_chunks import open_spectra
from tests.refusals import refused
from tests.spectra import all_processes, spectrum_of

PARTICLES = (1000022, 1000023, 1000025, 1000035)
SQUARKS = (*range(1000001, 1000005), *range(2000001, 2000005))
WANTED = {"m1": "GeV", "n11": "1", "n14": "1", "m2": "GeV"}


def spectrum(mass: float, squarks: int = 8) -> str:
    masses = zip(PARTICLES, (mass, -200.0, 300.0, 400.0), strict=True)
    others = ((particle, 2000.0 + 10 * i) for i, particle in enumerate(SQUARKS[:squarks]))
    lines = [f" {particle} {value:.8e} # ~chi" for particle, value in [*masses, *others]]
    mixings = [f" {i} {j} {i + j / 10:.8e}" for i in range(1, 5) for j in range(1, 5)]
    return "\n".join(["Block MASS", *lines, "BLOCK NMIX", *mixings, ""])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write files in a folder and a subfolder, one of them no spectrum."""
    (tmp_path / "more").mkdir()
    for number, name in enumerate(("a", "b", "more/c", "more/d")):
        (tmp_path / f"{name}.slha").write_text(spectrum(100.0 + number))
    (tmp_path / "b.slha").write_text("Block MASS\n 1000022 x\n")
    (tmp_path / "notes.txt").write_text("no spectrum")
    return tmp_path


def test_every_file_is_a_row_and_those_that_are_none_are_named(folder: Path) -> None:
    source = open_spectra(folder, [*WANTED], rows=3)
    chunks = [*source.chunks]
    assert (source.name, source.label) == (str(folder), "file")
    assert [name for chunk in chunks for name in chunk.labels] == [
        *("a.slha", "b.slha", "more/c.slha", "more/d.slha")
    ]
    assert [chunk.share for chunk in chunks] == [0.75, 1]
    values, faults = numbers(source, chunks[0], WANTED)
    assert values[[0, 2]].tolist() == [[100, 1.1, 1.4, -200], [102, 1.1, 1.4, -200]]
    assert [*faults] == [1]
    assert faults[1].startswith("line 2, in block MASS, holds '1000022 x'")
    assert numbers(source, chunks[1], WANTED)[0].tolist() == [[103, 1.1, 1.4, -200]]


def test_the_squark_mass_is_missed_only_where_it_is_requested(tmp_path: Path) -> None:
    for name, squarks in (("a", 8), ("b", 7)):
        (tmp_path / f"{name}.slha").write_text(spectrum(100.0, squarks))
    (with_squarks,) = open_spectra(tmp_path, ["m1", "msq"]).chunks
    assert np.array_equal(with_squarks.columns["msq"], [2035, np.nan], equal_nan=True)
    assert "block MASS lacks entry 2000004" in with_squarks.faults[1]
    assert [*with_squarks.faults] == [1]
    (without,) = open_spectra(tmp_path, ["m1"]).chunks
    assert without.faults == {}


TEXT = spectrum(100.0)
NAMES = (
    "SPheno.spc",
    "param_card.dat",
    "prospino.in.les_houches",
    "isajet.txt",
    "spectrum",
    "a.csv",
)


def test_spectra_of_any_name_are_read_and_other_files_are_not(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).write_text(TEXT)
    (tmp_path / "empty.slha").write_text("")
    (tmp_path / "README").write_text("Block diagrams and\nDecay widths\nof 3 scans, Block MASS.\n")
    (tmp_path / "points.csv").write_text("block,decay\n1,2\n")
    (tmp_path / "points.parquet").write_bytes(b"PAR1\x00\xff" * 99)
    (tmp_path / "empty").write_text("")
    os.mkfifo(tmp_path / "pipe")
    (chunk,) = open_spectra(tmp_path, ["m1"]).chunks
    assert chunk.labels.tolist() == sorted((*NAMES, "empty.slha"))
    assert [chunk.labels[row] for row in chunk.faults] == ["empty.slha"]


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.upper(),
        TEXT.lower(),
        TEXT.replace("\n", "\r\n"),
        "\ufeff" + TEXT,
        "\n# by André\n" * 500 + TEXT,
        " block\tMODSEL Q=1.0 # model\n" + TEXT,
        "Spectrum of a program,\nwhich greets first\n" + TEXT,
        "DECAY 1000022 0.0\n" + TEXT,
        "XSECTION 1.3E+04 2212 2212 2 1000022 1000023 # [pb]\n" + TEXT,
        "<LesHouchesEvents>\n" + "1 = run card\n" * 500 + f"<slha>\n{TEXT}</slha>\n",
    ],
)
def test_a_spectrum_is_recognised_by_its_first_section(tmp_path: Path, text: str) -> None:
    path = tmp_path / "spectrum"
    path.write_text(text, encoding="utf-8", newline="")
    assert is_slha(path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "m1,sigma\n1,2\n",
        "block mass tan_beta\n1 2 3\n",
        "decay = 3\n",
        "Blocks MASS and NMIX are read.\n",
        "# Block MASS\n1 2 3\n",
        "1 2 3\n" * 20 + TEXT,
    ],
)
def test_tables_and_words_are_no_spectrum(tmp_path: Path, text: str) -> None:
    path = tmp_path / "points.dat"
    path.write_text(text)
    assert not is_slha(path)
    assert not is_slha(tmp_path)
    assert not is_slha(tmp_path / "nowhere.dat")


def test_charginos_are_read_where_they_are_requested(tmp_path: Path) -> None:
    path = tmp_path / "a.slha"
    path.write_text(spectrum(100.0))
    (without,) = open_spectra(tmp_path, ["m1", "mc1"]).chunks
    assert without.faults[0].startswith("there is no block UMIX")
    with refused("slha.no_block", where=str(path), block="UMIX"):
        [*open_spectra(path, ["m1", "mc1"]).chunks]
    path.write_text(all_processes(3))
    (chunk,) = open_spectra(path, ["mc1", "v21", "m1"]).chunks
    assert chunk.faults == {}
    point = spectrum_of(3)
    assert [chunk.columns[name][0] for name in ("mc1", "v21", "m1")] == [
        *(point[name] for name in ("mc1", "v21", "m1"))
    ]


def test_no_files_and_names_that_do_not_print_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with refused("slha.no_spectra", where=tmp_path):
        open_spectra(tmp_path, ["m1"])
    with refused("slha.no_such_file", where=tmp_path / "a.slha"):
        open_spectra(tmp_path / "a.slha", ["m1"])
    (tmp_path / "a\nb.slha").write_text(spectrum(100.0))
    with refused("slha.name_does_not_print"):
        open_spectra(tmp_path, ["m1"])
    monkeypatch.setattr(Path, "rglob", Mock(side_effect=PermissionError))
    with refused("slha.folder_not_listed", where=tmp_path):
        open_spectra(tmp_path, ["m1"])
