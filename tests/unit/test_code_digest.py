"""The code digest of a job follows what the job runs through, and what that means."""

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nlobayes import code_digest
from nlobayes.cli import COMMANDS
from nlobayes.stages import PIPELINE, module_of

WITHOUT = {
    "simulate ingest prepare": "model inference diagnostics evaluation surrogate",
    "design run_program gather": "model inference diagnostics evaluation surrogate",
    "pretrain warmup draw sample": "evaluation surrogate distributions",
    "assemble": "data physics model inference evaluation surrogate distributions",
    "diagnose tabulate_chains agree check_convergence": (
        "data physics inference evaluation surrogate"
    ),
    "thin evaluate": "model inference surrogate",
    "posterior_predictive": "inference diagnostics evaluation distributions",
    "tabulate export": "inference",
    "plot": "data physics model inference diagnostics evaluation surrogate distributions",
}
"""Rooms whose change does not run these verbs again: another score draws no chain anew."""


def closure(verb: str) -> set[str]:
    """What a verb imports, without the name of the package."""
    found = code_digest.modules_of(module_of(verb), {})
    return {name.removeprefix("nlobayes.") for name in found}


def test_a_verb_leaves_out_what_it_does_not_use() -> None:
    """Nor the study, which is in the specification, nor another verb; only `plot` draws.

    `fit` also fits the rival of its run.
    """
    rooms = {verb: {name.split(".")[0] for name in closure(verb)} for verb in COMMANDS}
    for verbs, others in WITHOUT.items():
        assert [verb for verb in verbs.split() if rooms[verb] & {*others.split()}] == []
    users_of = {"study": set(), "plots": {"plot"}, "rivals": {"fit", "propose", "rival"}}
    for room, users in {**users_of, "storage": {"assemble"}}.items():
        assert {verb for verb in COMMANDS if room in rooms[verb]} == users
    commands = {verb: module_of(verb).removeprefix("nlobayes.") for verb in COMMANDS}
    for verb, own in commands.items():
        assert closure(verb) & {*commands.values()} == {own}


READ_BY_SETTINGS = {
    *("data.fixed_parameters", "data.slha_blocks", "own_functions", "physics.processes"),
    *("data.units", "exchange", "exchange.fields"),
    *(
        "model.activations",
        "model.infinite",
        "model.networks",
        "model.prior",
        "model.likelihood",
        "inference.kernel",
        "inference.adaptation",
        "inference.method",
    ),
}
"""What settings import; a verb that computes with it has it in its closure."""
FAMILIES = tuple(code_digest.CHOSEN_BY)

LOADED = """
import sys, importlib
importlib.import_module(sys.argv[1])
print(*(name for name in sys.modules if name.startswith("nlobayes")))
"""


@pytest.mark.parametrize("verb", ["simulate", "prepare", "assemble", "plot"])
def test_what_python_loads_is_in_the_closure(verb: str) -> None:
    """Packages above a module hold a docstring or names of modules that are in it anyway."""
    module = module_of(verb)
    done = subprocess.run(
        [sys.executable, "-c", LOADED, module], capture_output=True, text=True, check=True
    )
    known = (*code_digest.STATED_IN_SPEC, *FAMILIES)
    loaded = {name for name in done.stdout.split() if not name.startswith(known)}
    above = {name for name in loaded if (code_digest._source(name)).name == "__init__.py"}
    assert loaded - above - {
        f"nlobayes.{name}" for name in READ_BY_SETTINGS
    } <= code_digest.modules_of(module, {})


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package."""
    ignore = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(code_digest.PACKAGE, tmp_path / "nlobayes", ignore=ignore))


@cache
def module_of_copy(package: Path) -> Any:
    """The module of a copy of the package."""
    spec = importlib.util.spec_from_file_location("copied", package / "code_digest.py")
    assert spec
    assert spec.loader
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.STORE = package.with_name("code.json")  # type: ignore[attr-defined]
    return module


def digest(package: Path, verb: str, spec: dict[str, Any] | None = None) -> str:
    """The digest of a verb of a copy of the package, computed afresh."""
    module = module_of_copy(package)
    for name in ("_digest", "_read", "_source", "_is_ours", "_data_beside"):
        getattr(module, name).cache_clear()
    value = module.code_digest(verb, spec)
    assert isinstance(value, str)
    return value


@contextmanager
def changed(path: Path, text: str) -> Iterator[None]:
    """Append to a file, or make a new one, for a while."""
    before = path.read_text() if path.exists() else None
    path.write_text((before or "") + text)
    yield
    if before is None:
        path.unlink()
    else:
        path.write_text(before)


@pytest.mark.parametrize(
    ("verb", "every"), [("thin", 8), pytest.param("draw", 1, marks=pytest.mark.slow)]
)
def test_a_change_inside_the_closure_changes_the_digest_and_no_other_does(
    copied: Path, verb: str, every: int
) -> None:
    inside = {code_digest._source(name) for name in code_digest.modules_of(module_of(verb), {})}
    before = digest(copied, verb)
    assert before == code_digest.code_digest(verb)
    for source in sorted(code_digest.PACKAGE.rglob("*.py"))[::every]:
        with changed(copied / source.relative_to(code_digest.PACKAGE), "CHANGED = 1\n"):
            assert (digest(copied, verb) != before) is (source in inside), source
    assert digest(copied, verb) == before


def test_words_and_layout_change_no_digest(copied: Path) -> None:
    """Comments, blank lines, docstrings of a module, a class, a function and an attribute."""
    before = {stage: digest(copied, stage) for stage in PIPELINE}
    for path in copied.rglob("*.py"):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = "Other words."
        path.write_text("# mended\n\n\n" + ast.unparse(tree))
    assert {stage: digest(copied, stage) for stage in PIPELINE} == before


CHOSEN = {
    "model": {
        "network": {"activation": ["tanh", "relu"]},
        "prior": {"kind": "fan_in", "slopes": None},
        "likelihood": {"kind": "gaussian"},
    },
    "kernel": {"kind": "hmc"},
    "warmup": {"kind": "windows"},
}
NAMED = {
    "kernels/hmc",
    "adaptations/windows",
    "priors/independent",
    "priors/slopes",
    "likelihoods/gaussian",
}
"""The members of families that the specification names."""
CORE = {"model/density", "model/posterior", "inference/sampling", "inference/kernel"}


def test_of_a_family_only_the_members_that_a_job_names_are_digested(copied: Path) -> None:
    before = digest(copied, "draw", CHOSEN)
    members = {
        path.relative_to(copied).with_suffix("").as_posix()
        for family in code_digest.CHOSEN_BY
        for path in copied.joinpath(*family.split(".")[1:]).glob("[!_]*.py")
    }
    assert members > NAMED
    for name in members | CORE:
        with changed(copied / f"{name}.py", "CHANGED = 1\n"):
            counts = digest(copied, "draw", CHOSEN) != before
        assert counts is (name in NAMED | CORE), name
    for family in code_digest.CHOSEN_BY:
        with changed(copied.joinpath(*family.split(".")[1:], "new.py"), "NEW = 1\n"):
            assert digest(copied, "draw", CHOSEN) == before, family


def test_a_member_brings_what_it_is_made_of(copied: Path) -> None:
    """Tempering moves by HMC, NUTS does not."""
    for kernel, counts in (("tempering", True), ("nuts", False)):
        spec = {**CHOSEN, "kernel": {"kind": kernel}}
        before = digest(copied, "draw", spec)
        with changed(copied / "kernels/hmc.py", "CHANGED = 1\n"):
            assert (digest(copied, "draw", spec) != before) is counts


def test_names_are_found_at_any_depth() -> None:
    spec = {"runs": [{"kernel": {"kind": "a"}}, {"deep": {"kernel": "b"}}], "kernel": ["c", "d"]}
    assert code_digest.chosen_names(spec, "kernel") == ("a", "b", "c", "d")
    assert code_digest.chosen_names({"kernels": "a"}, "kernel") == ()
    assert code_digest.chosen_names({"kernel": None}, "kernel") == ()
    behind_a_number = {"network": {"activation": ["leaky_relu(0.3)", "tanh"]}}
    assert code_digest.chosen_names(behind_a_number, "activation") == ("leaky_relu", "tanh")


def test_a_new_import_joins_the_digest(copied: Path) -> None:
    late = "\n\ndef late() -> None:\n    import nlobayes.plots.style\n"
    with changed(copied / "commands/pipeline/thin.py", late):
        before = digest(copied, "thin")
        with changed(copied / "plots/style.py", "CHANGED = 1\n"):
            assert digest(copied, "thin") != before


def test_the_digest_does_not_depend_on_the_place(copied: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(copied, tmp_path / "elsewhere"))
    os.utime(moved / "commands/pipeline/thin.py", (0, 0))
    assert digest(moved, "thin") == digest(copied, "thin")


def test_files_are_parsed_once_for_all_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copied: Path
) -> None:
    """The digest is the same with what is stored, without, and where nothing can be stored."""
    monkeypatch.chdir(tmp_path)
    code = "from nlobayes.code_digest import code_digest; print(code_digest('plot'))"
    parsed = (
        "import ast; parse = ast.parse; ast.parse = lambda text: print('parsed') or parse(text)"
    )

    def lines() -> list[str]:
        words, environment = [sys.executable, "-c", f"{parsed}\n{code}"], dict(os.environ)
        environment["PYTHONPATH"] = str(copied.parent)
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    assert lines() == lines()
    assert not (tmp_path / ".cache").exists(), "a folder that is no project's is left alone"
    (tmp_path / ".cache").mkdir()
    first, second = lines(), lines()
    assert len(first) > 30
    assert second == first[-1:] == [digest(copied, "plot")]
    with changed(copied / "plots/style.py", "CHANGED = 1\n"):
        assert lines() == ["parsed", digest(copied, "plot")]
    (tmp_path / ".cache/code.json").write_text("{half of")
    assert lines() == first
    (tmp_path / ".cache/code.json").unlink()
    (tmp_path / ".cache").rmdir()
    (tmp_path / ".cache").write_text("no folder")
    assert lines() == lines() == first
