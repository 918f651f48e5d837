"""The command line from a user's view: fast help, and one line for every invalid input."""

import inspect
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nlobayes.cli import COMMANDS, app, main
from nlobayes.stages import AUDIT, PIPELINE, TOOLS, module_of

ROOT = Path(__file__).parents[2]
HEAVY = (
    "numpy pandas xarray netCDF4 h5py scipy jax pymc pytensor arviz matplotlib pydantic blackjax"
)

PREPARE: dict[str, Any] = {
    "features": {"columns": ["a", "b"], "map": "raw", "units": {}},
    "target": {"column": "sigma"},
    "split": {"train": 4, "validation": 2, "test": 2},
    "reference_points": 2,
    "units": {},
}
LISTS = {("compare", "runs"), ("summary", "grids"), ("bundle", "surrogates")}
"""Arguments with several values, which the help shows as `runs...`."""
TABLE = "a,b,sigma:pb\n" + "".join(f"{n},{n * n % 7},{n + 1}\n" for n in range(8))


def nlobayes(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the real command line."""
    command = [sys.executable, "-m", "nlobayes"]
    return subprocess.run(
        [*command, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONWARNINGS": "error"},
    )


def assert_refused(done: subprocess.CompletedProcess[str], message: str) -> None:
    """Check exit status 2, and that only one line with the reason is printed."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("nlobayes: error: ")
    assert message in done.stderr


def test_help_lists_every_verb_and_imports_nothing_heavy() -> None:
    program = (
        "import sys; from nlobayes.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit as end:\n    assert end.code == 0\n"
        f"loaded = set('{HEAVY}'.split()) & set(sys.modules)\n"
        "loaded |= {name for name in sys.modules if name.startswith('nlobayes.')}\n"
        "light = ('cli', 'errors', 'extras', 'runtime', 'stages')\n"
        "light = tuple(f'nlobayes.{name}' for name in light)\n"
        "loaded = {name for name in loaded if not name.startswith(light)}\n"
        "sys.exit(' '.join(loaded) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for title, verbs in (("Tools", TOOLS), ("Pipeline", PIPELINE), ("Audit", AUDIT)):
        (section,) = re.findall(rf"^{title}:\n((?:  .*\n)+)", done.stdout, re.MULTILINE)
        unwrapped = re.sub(r"\n {3,}", " ", section)
        helps = [(verb, command.help) for verb, command in verbs.items()]
        assert re.findall(r"^  (\w+) +(\S.*)$", unwrapped, re.MULTILINE) == helps


def test_the_help_of_a_tool_imports_no_slow_package() -> None:
    """Slow packages are imported only for computations; one process imports all these commands."""
    heavy = {"arviz", "blackjax", "jax", "matplotlib", "pymc", "scipy.interpolate", "scipy.stats"}
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r})\n"
        "from importlib import import_module\nfrom nlobayes.stages import module_of\n"
        f"for verb in {[*TOOLS, *AUDIT, 'compare', 'simulate', 'ingest']}:\n"
        "    import_module(module_of(verb))\n"
        f"sys.exit(' '.join({heavy} & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_model_loads_no_compiler_and_no_plots() -> None:
    """The density of a PyMC model needs JAX; Numba and Matplotlib would take seconds."""
    unused = {"numba", "matplotlib", "arviz", "arviz_plots"}
    program = (
        "import sys, nlobayes.model.density\n"
        f"sys.exit(' '.join({unused} & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_installed_command_is_this_one() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("nlobayes"), "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Bayesian neural networks by exact MCMC" in done.stdout


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_verb_is_a_function_of_its_name_in_a_module_of_its_name(verb: str) -> None:
    function = getattr(import_module(module_of(verb)), verb)
    assert inspect.isfunction(function)
    assert function.__module__ == module_of(verb)


@pytest.mark.parametrize("verb", COMMANDS)
def test_help_of_a_verb_explains_every_option(verb: str) -> None:
    done = CliRunner().invoke(app, [verb, "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
    assert done.exit_code == 0
    assert COMMANDS[verb].help in done.output
    function = getattr(import_module(module_of(verb)), verb)
    for name in inspect.signature(function).parameters:
        shown = name.replace("_", "-")
        message = re.search(rf"(--|│[ *]+){shown} ", done.output)
        assert message or (verb, name) in LISTS, name


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["simulat"], "No such command 'simulat'. Did you mean 'simulate'?"),
        (["quux"], "No such command 'quux'."),
        (["thin", "--posterier", "x"], "No such option: --posterier"),
        (["thin"], "Missing option '--posterior'"),
        (["pretrain", "--chain", "-1"], "Invalid value for '--chain'"),
        (["predict", "s.nc"], "Missing argument 'points'"),
        (["predict", "s.nc", "-", "--scale", "log"], "Invalid value for '--scale'"),
        (["serve", "s.nc", "--port", "70000"], "Invalid value for '--port'"),
    ],
)
def test_a_misspelt_command_is_refused_with_status_2(words: list[str], message: str) -> None:
    done = CliRunner().invoke(app, words, env={"COLUMNS": "200", "TERM": "dumb"})
    assert done.exit_code == 2
    assert message in done.output


def test_a_defect_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("nlobayes.cli.app", fail)
    with pytest.raises(ZeroDivisionError):
        main()


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_good_table_is_prepared(tmp_path: Path) -> None:
    """Valid arguments, of which each refusal below changes one."""
    table = write(tmp_path / "t.csv", TABLE)
    words: list[str | Path] = ["prepare", "--spec", json.dumps(PREPARE), "--table", table]
    done = nlobayes(*words, "--out", tmp_path / "out.nc")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "out.nc").exists()


@pytest.mark.parametrize(
    ("table", "spec", "message"),
    [
        (TABLE.replace("b,", "c,", 1), {}, "t.csv: features.columns: no column 'b'"),
        (TABLE, {"spilt": {}}, "PrepareJob specification: unknown key 'spilt'; known: "),
    ],
    ids=["missing column", "unknown key"],
)
def test_a_bad_table_or_specification_is_one_line_and_no_output(
    tmp_path: Path, table: str, spec: dict[str, Any], message: str
) -> None:
    path = write(tmp_path / "t.csv", table)
    out = tmp_path / "made/out.nc"
    done = nlobayes("prepare", "--spec", json.dumps(PREPARE | spec), "--table", path, "--out", out)
    assert_refused(done, message)
    assert not out.parent.exists()


def test_a_bad_file_is_one_line_and_no_output(tmp_path: Path, dataset_path: Path) -> None:
    cut = tmp_path / "cut.nc"
    cut.write_bytes(dataset_path.read_bytes()[:-100])
    words: list[str | Path] = ["describe", "--dataset", cut, "--plots", tmp_path / "made"]
    assert_refused(nlobayes(*words), "its seal is missing, so it is cut short")
    assert not (tmp_path / "made").exists()


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", TABLE)
    out = table / "out.nc"
    words: list[str | Path] = [
        "prepare",
        "--spec",
        json.dumps(PREPARE),
        "--table",
        table,
        "--out",
        out,
    ]
    assert_refused(nlobayes(*words), f"cannot write {out}: ")
    assert list(tmp_path.iterdir()) == [table]
