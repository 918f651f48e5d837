"""The base install predicts; what needs an extra says which, in one line."""

import json
import os
import shutil
import sys
from importlib.metadata import files
from pathlib import Path

import numpy as np
import pytest

from nlobayes import code_digest
from nlobayes.artifacts.contents import write_surrogate
from nlobayes.data.references import completed
from nlobayes.data.table_files import read_table
from nlobayes.extras import extra_of
from nlobayes.stages import AUDIT, GROUPS, module_of
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Dataset, SurrogateContent
from tests.five_lines import PRINTED, PYTHON, SLHA
from tests.installed import OURS, ROOT, brought, call, packages_of_modules, run_without_extras, uv
from tests.unit.spectra_with_surrogates import spectrum_of, write

MOST, MOST_MB = 20, 210
"""Packages of the base install, ours included, and size of their files without compiled Python."""
COMMANDS = [name for commands in GROUPS.values() for name in commands]
EXTRAS: dict[str, str | None] = {
    **{"predict": None, "bundle": None, "record": None, "onnx": "onnx"},
    "serve": "serve",
}
"""Of commands that need no extra, or one of their own."""
BESIDE = {
    "predict": {"jax", "jaxlib", "pandas", "pooch", "pyarrow"},
    "bundle": {"jax", "jaxlib", "netcdf4", "pandas", "pooch", "pyarrow", "xarray"},
    "onnx": {"pandas", "pyarrow"},
    "serve": {"jax", "jaxlib", "pandas", "pooch", "pyarrow"},
    "record": {"pandas", "pyarrow"},
}
"""Packages that `--engine jax`, a download, a dataset or parquet asks for, or a function of others
in a file they share."""
RIVALS = {"scikit-learn", "joblib", "crepes", "mapie", "ngboost", "popsregression"}
RIVALS |= {"quantile-forest", "xgboost-cpu"}
"""What rivals need that a study may do without, and what starts their workers."""
CALCULATION = {"pair": [1, 1], "sqrt_s_tev": 13.0, "squark_mass_gev": 3000.0, "mu_over_q": 1.0}
POINTS = "m1:GeV,n11,n12,n13,n14\n150,0.1,-0.2,0.7,0.67\n-420,0.06,0.05,0.71,0.7\n"

PREDICTED = """
import nlobayes
imported = {name.split(".")[0] for name in sys.modules}
from nlobayes import Surrogate
surrogate = Surrogate.load(sys.argv[1])
points = [[150.0, 0.1, -0.2, 0.7, 0.67], [-420.0, 0.06, 0.05, 0.71, 0.7]]
found = surrogate.predict(points)
surrogate.domain(points), surrogate.sample(points)
light = not {"numpy", "h5py", "typer"} & imported
print(json.dumps([light, found.mean.tolist(), found.total_sd.tolist()]))
"""
BUNDLED = """
from nlobayes import Bundle
bundle = Bundle.load(sys.argv[1])
for process, one in bundle.predict(sys.argv[2]).items():
    print(process, one.median, one.errors["total_down"], one.errors["total_up"], one.domain)
"""
CALLED = """
from nlobayes.cli import start
start()
"""
CALLED_IN_TURN = """
import contextlib, io
from nlobayes.cli import main
ends = {}
for name in sys.argv[1:]:
    sys.argv = ["nlobayes", name, "--help"]
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(None):
        try:
            main()
        except SystemExit as end:
            ends[name] = [end.code, said.getvalue()]
print(json.dumps(ends))
"""


def extra_needed(command: str) -> str | None:
    """Name the extra whose packages a command may import beside those of the base install."""
    return EXTRAS.get(command, "audit" if command in AUDIT else "train")


@pytest.fixture(scope="module")
def surrogate_of_k(
    exported: SurrogateContent, dataset: Dataset, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A surrogate relative to Born, as the default study ends with: it computes that itself."""
    relative_to = completed({"calculation": "born", **CALCULATION}, "pb")
    transforms = exported.facts["transforms"]
    target = {**transforms["target"], "relative_to": relative_to}
    facts = {**exported.facts, "transforms": {**transforms, "target": target}}
    path = tmp_path_factory.mktemp("surrogate") / "of_k.nc"
    write_surrogate(path, exported._replace(facts=facts), dataset, {"verb": "export"})
    return path


@pytest.mark.parametrize("python", ["3.12", "3.13", "3.14"])
def test_the_base_install_is_small(python: str) -> None:
    packages = brought(python=python)
    assert {OURS, "numpy", "h5py"} <= packages
    assert len(packages) <= MOST, sorted(packages)
    assert not {"jax", "pymc", "snakemake", "dvc", "xarray", "matplotlib", "pyarrow"} & packages


def test_the_base_install_takes_little_room() -> None:
    """By the files that each package lists, in the environment of the tests."""
    sizes = {}
    for name in brought() - {OURS}:
        listed = [file for file in files(name) or [] if file.suffix != ".pyc"]
        sizes[name] = sum(os.stat(file.locate()).st_size for file in listed) / 1e6
    assert 0 < sum(sizes.values()) < MOST_MB, sizes


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_what_its_extra_brings(command: str) -> None:
    """Anywhere in its code, so that no import within a function fails later."""
    modules = code_digest.modules_of(module_of(command), {})
    imported = {
        name.split(".")[0] for module in modules for name in code_digest._read(module).imports
    }
    outside = imported - sys.stdlib_module_names - {OURS, "__future__"}
    may = brought(extra_needed(command)) | BESIDE.get(command, set()) | RIVALS
    known = packages_of_modules()
    assert {name for name in outside if not known.get(name, {name}) & may} == set()


@pytest.mark.parametrize("relative", [False, True], ids=["itself", "relative to Born"])
def test_a_surrogate_predicts_with_the_base_install(
    surrogate_path: Path, surrogate_of_k: Path, relative: bool
) -> None:
    path = surrogate_of_k if relative else surrogate_path
    done = run_without_extras(PREDICTED, str(path))
    assert done.returncode == 0, done.stderr
    light, mean, sd = json.loads(done.stdout)
    assert light, "`import nlobayes` imports nothing that takes time"
    points = [[150.0, 0.1, -0.2, 0.7, 0.67], [-420.0, 0.06, 0.05, 0.71, 0.7]]
    expected = Surrogate.load(path).predict(points)
    np.testing.assert_array_equal([mean, sd], [expected.mean, expected.total_sd])


def test_a_bundle_predicts_with_the_base_install(
    exported: SurrogateContent, dataset: Dataset, tmp_path: Path
) -> None:
    surrogate = write(tmp_path / "surrogate.nc", exported, dataset)
    (tmp_path / "model.slha").write_text(spectrum_of(Surrogate.load(surrogate)))
    folder = str(tmp_path / "bundle")
    made = run_without_extras(CALLED, "bundle", str(surrogate), "--out", folder)
    assert made.returncode == 0, made.stderr
    done = run_without_extras(BUNDLED, folder, str(tmp_path / "model.slha"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(1000022, 1000022) ")


@pytest.mark.parametrize("to", [["--json"], ["-o", "out.csv"]], ids=["printed", "csv"])
def test_a_table_is_predicted_with_the_base_install(
    surrogate_of_k: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("points.csv").write_text(POINTS)
    done = run_without_extras(CALLED, "predict", str(surrogate_of_k), "points.csv", *to)
    assert done.returncode == 0, done.stderr
    printed = [json.loads(line)["sigma_pb_mean"] for line in done.stdout.splitlines()]
    assert len(printed or read_table(Path("out.csv")).columns["sigma_pb_mean"]) == 2


def test_commands_without_their_extra_end_in_one_line_with_the_remedy() -> None:
    done = run_without_extras(CALLED_IN_TURN, *COMMANDS)
    assert done.returncode == 0, done.stderr
    ends = json.loads(done.stdout)
    assert ends.keys() == {*COMMANDS}
    for command, (status, said) in ends.items():
        extra = extra_needed(command)
        if command in EXTRAS:
            assert (status, said) == (0, ""), command
        else:
            assert status == 1, command
            assert said.startswith("nlobayes: error: No module named "), command
            assert said.count("\n") == 1
            assert f"`pip install 'nlobayes[{extra}]'`" in said, command


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["serve", "SURROGATE"], "serve"),
        (["predict", "SURROGATE", "-", "--engine=jax"], "jax"),
        (["predict", "SURROGATE", "points.parquet"], "parquet"),
        (["predict", "SURROGATE", "points.csv", "-o", "out.parquet"], "parquet"),
        (["onnx", "SURROGATE", "-o", "a.onnx"], "onnx"),
    ],
)
def test_what_is_imported_later_is_told_too(
    surrogate_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    extra: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for points in ("points.csv", "points.parquet"):
        Path(points).write_text(POINTS)
    given = [str(surrogate_path) if word == "SURROGATE" else word for word in words]
    done = run_without_extras(CALLED, *given)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert f"`pip install 'nlobayes[{extra}]'`" in done.stderr


@pytest.mark.parametrize(
    ("module", "preferred", "extra"),
    [
        ("pymc", "train", "train"),
        ("jax", "train", "train"),  # also of jax, which is smaller
        ("jax", "jax", "jax"),
        ("jax2onnx", "train", "onnx"),
        ("xarray", "train", "train"),
        ("xarray", "audit", "audit"),
        ("netCDF4", "audit", "audit"),
        ("prov", "train", "audit"),
        ("dvc", "audit", "dvc"),
        ("fastapi", "train", "serve"),
        ("sklearn", "train", "train"),
        ("mapie", "train", "rivals"),
        ("pooch", "train", "fetch"),
        ("pyarrow", "train", "train"),
        ("pyarrow", "parquet", "parquet"),
        ("snakemake", "train", "workflow"),
        ("numpyro", "train", "yardsticks"),
        ("numpy_of_nobody", "train", None),
        ("h5py", "train", None),
    ],
)
def test_the_extra_of_a_module_is_found(module: str, preferred: str, extra: str | None) -> None:
    assert extra_of(module, preferred) == extra


CALLED_BY_NAME = """
from nlobayes import Surrogate
from nlobayes.extras import MissingExtra
def said(call):
    try:
        call()
    except MissingExtra as error:
        return str(error)
surrogate = Surrogate.load(sys.argv[1])
import nlobayes
print(json.dumps({
    "engine": said(lambda: Surrogate.load(sys.argv[1], engine="jax")),
    "as_jax": said(surrogate.as_jax),
    **{name: said(lambda: getattr(nlobayes, name)) for name in sys.argv[2:]},
}))
"""


def test_python_says_in_one_line_which_extra_is_missing(surrogate_path: Path) -> None:
    named = {"pymc_model": "train", "inference_data": "train", "BayesianNetworkRegressor": ""}
    done = run_without_extras(CALLED_BY_NAME, str(surrogate_path), *named)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    for name, extra in {"engine": "jax", "as_jax": "jax", **named}.items():
        assert said[name].startswith("No module named "), name
        assert "\n" not in said[name]
        assert f"`pip install 'nlobayes[{extra}" in said[name], name


@pytest.mark.slow
def test_a_wheel_in_an_empty_environment_predicts(surrogate_of_k: Path, tmp_path: Path) -> None:
    """Built, installed from an index, and asked, all of it elsewhere than in the repository."""
    program = uv()
    call(program, "build", "--quiet", "--wheel", "--out-dir", str(tmp_path), cwd=ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    call(program, "venv", "--quiet", "--python", sys.executable, "empty", cwd=tmp_path)
    programs = tmp_path / "empty/bin"
    call(program, "pip", "install", "--quiet", "--python", "empty", str(wheel), cwd=tmp_path)
    listed = call(program, "pip", "list", "--format=json", "--python", "empty", cwd=tmp_path)
    packages = {package["name"] for package in json.loads(listed)}
    assert OURS in packages
    assert len(packages) <= MOST, sorted(packages)

    (tmp_path / "points.csv").write_text(POINTS)
    shutil.copy(surrogate_of_k, tmp_path / "surrogate.nc")
    said = ["predict", "surrogate.nc", "points.csv"]
    table = call(str(programs / "nlobayes"), *said, cwd=tmp_path)
    assert table.count("\n") == 3
    python = str(programs / "python")
    call(python, "-c", "from nlobayes import Surrogate", cwd=tmp_path)
    (package,) = (tmp_path / "empty").glob("lib/python*/site-packages/nlobayes")
    assert (package / "py.typed").is_file()

    (tmp_path / "model.slha").write_text(SLHA)  # the bundle in the package needs no network
    assert call(python, "-I", "-c", PYTHON, cwd=tmp_path) == PRINTED
