"""Notebooks run as they stand, by the command with which `make docs` executes them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import jupytext
import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.py"))


def executed(name: str, folder: Path) -> str:
    """Execute a notebook in a folder, and give what it prints and the types of what it shows."""
    programs = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", ROOT / "notebooks"))),
        "JAX_PLATFORMS": "cpu",
    }
    recipe = re.search(r"jupytext --quiet (--to ipynb --execute) ", (ROOT / "Makefile").read_text())
    assert recipe is not None
    out = folder / "executed.ipynb"
    command = ["jupytext", *recipe[1].split(), "--run-path", folder, "--output", out]
    done = subprocess.run(
        [*command, ROOT / f"notebooks/{name}.py"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    outputs = [each for cell in jupytext.read(out).cells for each in cell.get("outputs", ())]
    return "".join(each.get("text") or "\n".join(each.data) for each in outputs)


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


def test_a_scan_is_predicted_and_plotted(tmp_path: Path) -> None:
    shown = executed("scan", tmp_path)
    assert "BLOCK MASS" in shown
    assert re.search(r"warning: \d+ of 120 points lie outside", shown)
    assert "image/png" in shown
    assert "\x1b" not in shown, "a moving bar is no output"
    assert len((tmp_path / "scan.csv").read_text().splitlines()) == 121


@pytest.mark.slow
def test_errors_of_a_sum_are_correlated(tmp_path: Path) -> None:
    shown = executed("sums", tmp_path)
    (found,) = re.findall(r"sum .*\+([\d.]+)%\n.* wrong: \+([\d.]+)%", shown)
    total, apart = map(float, found)
    assert total > 2 * apart
    (low, high), (narrow_low, narrow_high) = (
        map(float, ends) for ends in re.findall(r"strength ([\d.]+) to ([\d.]+)", shown)
    )
    assert high - low > narrow_high - narrow_low


@pytest.mark.slow
def test_a_table_is_fitted_and_its_chains_are_extended(tmp_path: Path) -> None:
    shown = executed("own_table", tmp_path)
    assert "NOT CONVERGED" in shown
    after = shown[shown.index("rhat_f ") + 1 :]
    assert "FAILED" in shown
    assert "FAILED" not in after[after.index("rhat_f ") :].split("coverage_68")[0]
    low, high = map(float, re.findall(r"coverage ([\d.]+)% and ([\d.]+)%", shown)[0])
    assert 55 < low < 81
    assert 89 < high < 99
    assert (tmp_path / "own_table.nc").is_file()
    assert (tmp_path / "own_table/study.yaml").is_file()


@pytest.mark.slow
def test_a_program_becomes_a_surrogate(tmp_path: Path) -> None:
    """The notebook itself asserts the error of its predictions."""
    assert "converged: True" in executed("program", tmp_path)


@pytest.mark.slow
def test_chains_in_different_modes_are_told_from_slow_ones(tmp_path: Path) -> None:
    shown = executed("not_converged", tmp_path)
    tight, longer, loose, wide = map(float, re.findall(r"pooled over within ([\d.]+)", shown))
    assert max(tight, longer) < 0.2 < loose
    assert wide > 0.5
    assert "recipe wide: converged" in shown
    errors = [float(error) for error in re.findall(r"RMSE ([\d.]+)", shown)]
    assert errors[1] < errors[0] / 3


@pytest.mark.slow
def test_priors_are_compared(tmp_path: Path) -> None:
    shown = executed("priors", tmp_path)
    assert len(re.findall(r"R-hat of f 1\.0", shown)) == 3
    assert shown.count("image/png") == 2


@pytest.mark.slow
def test_pymc_finds_the_noise_of_our_chains(tmp_path: Path) -> None:
    """Within five Monte-Carlo errors."""
    shown = executed("posterior", tmp_path)
    assert "converged: True" in shown
    (ours, error), (theirs, other) = (
        map(float, found) for found in re.findall(r"noise ([\d.]+) \+- ([\d.]+)", shown)
    )
    assert abs(ours - theirs) < 5 * (error**2 + other**2) ** 0.5


@pytest.mark.slow
@pytest.mark.workflow
def test_results_of_a_colleague_are_audited(tmp_path: Path) -> None:
    shown = executed("audit", tmp_path)
    assert "Nothing to be done" in shown
    assert "18 files verified, no problems" in shown
    assert "1 file verified, 1 problem" in shown
    assert shown.rstrip().endswith("no problems")
