"""Notebooks are scripts that run as they stand."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.py"))


def run(name: str, folder: Path) -> str:
    """Run a notebook in a folder and give what it prints."""
    programs = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "MPLBACKEND": "agg",
        "JAX_PLATFORMS": "cpu",
    }
    command = [sys.executable, str(ROOT / f"notebooks/{name}.py")]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_has_a_title_text_and_code(name: str) -> None:
    notebook = jupytext.read(ROOT / f"notebooks/{name}.py")
    first, *cells = notebook.cells
    assert re.match(r"# \S.+\n\n\S", first.source)
    assert {cell.cell_type for cell in cells} == {"code", "markdown"}
    for cell in cells:
        if cell.cell_type == "code":
            compile(cell.source, name, "exec")
    assert f"]({name}.py)" in (ROOT / "notebooks/README.md").read_text()


def test_a_scan_is_predicted_and_plotted(surrogate_path: Path, tmp_path: Path) -> None:
    """With a surrogate of the tests where `make run` would have left its own."""
    text = (ROOT / "notebooks/scan.py").read_text()
    (named,) = re.findall(r'PATH = "(.+)"', text)
    (tmp_path / named).parent.mkdir(parents=True)
    shutil.copy(surrogate_path, tmp_path / named)
    printed = run("scan", tmp_path)
    assert "BLOCK MASS" in printed
    assert re.search(r"ratio of two neighbours: [\d.]+ \+- [\d.]+", printed)
    assert (tmp_path / "scan.png").stat().st_size > 10_000
    assert len((tmp_path / "scan.csv").read_text().splitlines()) == 42


@pytest.mark.slow
def test_a_table_is_fitted_and_its_chains_are_extended(tmp_path: Path) -> None:
    printed = run("own_table", tmp_path)
    assert "NOT CONVERGED" in printed
    after = printed[printed.index("rhat_f ") + 1 :]
    assert "FAILED" in printed
    assert "FAILED" not in after[after.index("rhat_f ") :].split("coverage_68")[0]
    low, high = map(float, re.findall(r"coverage ([\d.]+)% and ([\d.]+)%", printed)[0])
    assert 55 < low < 81
    assert 89 < high < 99
    assert (tmp_path / "own_table.nc").is_file()
    assert (tmp_path / "own_table/study.yaml").is_file()
