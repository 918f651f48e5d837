"""A surrogate that states its process flags other squarks and writes its cross section as SLHA."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyslha
import pytest

from nlobayes.commands.tools.predict import predict
from nlobayes.data.table_files import read_table
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Dataset, SurrogateContent
from tests.installed import call, uv
from tests.refusals import refused
from tests.unit.spectra_with_surrogates import STATED, spectrum_of, write

KEY = (2212, 2212, 1000022, 1000022)


@pytest.fixture(scope="module")
def path(
    exported: SurrogateContent, dataset: Dataset, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    return write(tmp_path_factory.mktemp("stated") / "s.nc", exported, dataset)


@pytest.fixture
def slha(path: Path, tmp_path: Path) -> Path:
    file = tmp_path / "param_card.dat"  # recognised by its content
    file.write_text(spectrum_of(Surrogate.load(path)))
    return file


def predicted(path: Path, points: Path, out: Path, **options: Any) -> dict[str, np.ndarray]:
    predict(path, str(points), str(out), **options)
    return read_table(out).columns


@pytest.mark.parametrize(
    ("squarks", "domain", "reason", "warning"),
    [
        (3000.0, "inside", "", ""),
        (3029.0, "inside", "", ""),
        (1000.0, "outside", "msq is 1000, must be within 2970 to 3030 GeV", "violate"),
        (5000.0, "outside", "msq is 5000, must be within 2970 to 3030 GeV", "violate"),
        (None, "inside", "msq is not given; the surrogate is for 2970 to 3030 GeV", "do not state"),
    ],
)
def test_a_file_with_other_squarks_is_outside_for_a_reason(
    path: Path,
    slha: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    squarks: float | None,
    domain: str,
    reason: str,
    warning: str,
) -> None:
    slha.write_text(spectrum_of(Surrogate.load(path), squarks))
    found = predicted(path, slha, tmp_path / "out.csv")
    assert [*found][-2:] == ["domain", "reason"]
    assert found["domain"].tolist() == [domain]
    assert ["" if cell != cell else cell for cell in found["reason"].tolist()] == [reason]
    assert warning in capsys.readouterr().err


def test_a_table_with_squarks_is_held_against_them(path: Path, tmp_path: Path) -> None:
    """In the unit of its header; without the column there is no reason."""
    surrogate = Surrogate.load(path)
    cells = ",".join(map(repr, surrogate.typical.values()))
    header, points = ",".join(surrogate.inputs), tmp_path / "points.csv"
    points.write_text(f"{header},msq:TeV\n{cells},3.0\n{cells},1.0\n{cells},\n")
    found = predicted(path, points, tmp_path / "out.csv")
    assert found["domain"].tolist() == ["inside", "outside", "inside"]
    assert "not given" in found["reason"][2]
    points.write_text(f"{header}\n{cells}\n")
    assert predicted(path, points, tmp_path / "out.csv")["reason"].tolist() == [""]


def test_python_takes_parameters_that_were_held_fixed(path: Path) -> None:
    surrogate = Surrogate.load(path)
    x = [[*surrogate.typical.values()]] * 3
    given = {"msq": [3000.0, 1000.0, np.nan]}
    assert surrogate.domain(x, given).tolist() == ["inside", "outside", "inside"]
    assert surrogate.domain(x).tolist() == ["inside"] * 3
    reasons = surrogate.reasons(x, given).tolist()
    assert reasons[0] == ""
    assert [text.startswith("msq is ") for text in reasons[1:]] == [True, True]


@pytest.mark.parametrize(
    "stated",
    [
        None,
        {},
        {"process": "p p -> chi0_1 chi0_1", "sqrt_s_tev": "13.0", "squark_mass_gev": "3000.0"},
    ],
)
def test_files_of_before_load_with_an_unknown_process(
    exported: SurrogateContent,
    dataset: Dataset,
    surrogate_path: Path,
    slha: Path,
    tmp_path: Path,
    stated: dict[str, str] | None,
) -> None:
    file = surrogate_path
    if stated is not None:
        file = write(tmp_path / "old.nc", exported, dataset, stated)
    surrogate = Surrogate.load(file)
    assert surrogate.process is None
    assert surrogate.conditions == ()
    assert {surrogate.origin[name] for name in ("incoming", "outgoing", "fixed")} == {"unknown"}
    assert ("unknown: " if stated else "a table that states no process") in repr(surrogate)
    assert [*predicted(file, slha, tmp_path / "out.csv")][-2:] == ["domain", "reason"]
    before = slha.read_bytes()
    with refused("surrogate.no_process", where="--slha-out"):
        predict(file, str(slha), str(tmp_path / "out.csv"), slha_out=slha)
    assert slha.read_bytes() == before


def test_the_cross_section_is_appended_as_pyslha_reads_it(
    path: Path, slha: Path, tmp_path: Path
) -> None:
    before = slha.read_bytes()
    found = predicted(path, slha, tmp_path / "out.csv", slha_out=slha)
    after = slha.read_bytes()
    assert after.startswith(before)
    (read,) = pyslha.read(str(slha)).xsections[KEY].xsecs
    assert read.value == pytest.approx(found["sigma_pb_median"][0], rel=1e-8)
    assert (read.sqrts, read.scale_scheme, read.qcd_order) == (13000.0, 2, 1)
    comments = after[len(before) :].decode()
    assert f"68 %: {found['sigma_pb_q16'][0]:.6g} to {found['sigma_pb_q84'][0]:.6g} pb" in comments
    assert "# nlobayes: inside of the training data" in comments
    predict(path, str(slha), str(tmp_path / "out.csv"), slha_out=slha)
    assert slha.read_bytes() == after


IN_SMODELS = """
import sys
from smodels.base.crossSection import getXsecFromSLHAFile
from smodels.base.physicsUnits import GeV, pb
(found,) = getXsecFromSLHAFile(sys.argv[1])
print(found.value.asNumber(pb), found.info.sqrts.asNumber(GeV), found.info.order, *found.pid)
"""


@pytest.mark.slow
def test_smodels_reads_the_cross_section(path: Path, slha: Path, tmp_path: Path) -> None:
    """In a separate environment, as its unum installs a package `tests` that would hide ours."""
    found = predicted(path, slha, tmp_path / "out.csv", slha_out=slha)
    alone = ("run", "--quiet", "--no-project", "--python", sys.executable)
    answer = call(
        uv(),
        *alone,
        "--with",
        "smodels==3.2.1",
        "python",
        "-c",
        IN_SMODELS,
        str(slha),
        cwd=tmp_path,
    )
    value, energy, order, *particles = map(float, answer.split())
    assert value == pytest.approx(found["sigma_pb_median"][0], rel=1e-8)
    assert (energy, order) == (13000.0, 1)
    assert particles == [1000022.0, 1000022.0]


def test_another_unit_becomes_pb(
    exported: SurrogateContent, dataset: Dataset, tmp_path: Path
) -> None:
    facts = {**exported.facts, "units": {**exported.facts["units"], "sigma_pb": "fb"}}
    file = write(tmp_path / "fb.nc", exported._replace(facts=facts), dataset)
    slha = tmp_path / "a.slha"
    slha.write_text(spectrum_of(Surrogate.load(file)))
    found = predicted(file, slha, tmp_path / "out.csv", slha_out=tmp_path / "b.slha")
    (read,) = pyslha.read(str(tmp_path / "b.slha")).xsections[KEY].xsecs
    assert read.value == pytest.approx(found["sigma_pb_median"][0] / 1000, rel=1e-8)


@pytest.mark.parametrize(
    ("other", "code"),
    [
        ({"outgoing": "unknown"}, "surrogate.no_process"),
        ({"sqrt_s_tev": "unknown"}, "surrogate.no_process"),
        ({"order": "unknown"}, "surrogate.no_order"),
        ({"order": "NNLO"}, "surrogate.no_order"),
        ({"fixed": "msq = 100 GeV (99 to 101)"}, "commands.outside_of_xsection"),
    ],
)
def test_nothing_is_written_where_it_would_not_be_true(
    exported: SurrogateContent,
    dataset: Dataset,
    slha: Path,
    tmp_path: Path,
    other: dict[str, str],
    code: str,
) -> None:
    file = write(tmp_path / "s.nc", exported, dataset, STATED | other)
    with refused(code):
        predict(file, str(slha), str(tmp_path / "out.csv"), slha_out=tmp_path / "b.slha")
    assert not (tmp_path / "b.slha").exists()
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("target", "unit", "code"),
    [
        ("scale_up", "pb", "surrogate.not_central"),
        ("k_factor", "", "surrogate.no_cross_section"),
        ("mass", "GeV", "surrogate.no_cross_section"),
    ],
)
def test_other_targets_are_no_cross_sections(
    exported: SurrogateContent,
    dataset: Dataset,
    slha: Path,
    tmp_path: Path,
    target: str,
    unit: str,
    code: str,
) -> None:
    units = {**exported.facts["units"], target: unit}
    facts = {**exported.facts, "target": target, "units": units}
    file = write(tmp_path / "s.nc", exported._replace(facts=facts), dataset)
    with refused(code, where="--slha-out"):
        predict(file, str(slha), str(tmp_path / "out.csv"), slha_out=tmp_path / "b.slha")


def test_only_one_slha_file_has_a_copy(path: Path, slha: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out.csv")
    (tmp_path / "run.lhe").write_text(f"<LesHouchesEvents>\n<slha>\n{slha.read_text()}</slha>\n")
    for points in (slha.parent, tmp_path / "points.csv", tmp_path / "run.lhe", "-"):
        with refused("commands.slha_out_of_other", where="--slha-out"):
            predict(path, str(points), out, slha_out=tmp_path / "b.slha")
    for taken in (Path(out), path):
        with refused("commands.out_is_read", where="--slha-out"):
            predict(path, str(slha), out, slha_out=taken)
    with refused("slha.unreadable"):
        predict(path, str(tmp_path / "none.slha"), out, slha_out=tmp_path / "b.slha")
    slha.write_text("Block MASS\n")
    with refused("slha.no_block", block="NMIX"):
        predict(path, str(slha), out, slha_out=tmp_path / "b.slha")
    assert not (tmp_path / "b.slha").exists()
