"""The code digest of a job follows what the job runs through, and what that means."""

from __future__ import annotations

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
from nlobayes.stages import module_of

INSIDE = {
    "simulate": {"data.physics.source", "data.physics.pdf", "data.tables", "artifacts.files"},
    "ingest": {"data.slha", "data.prospino", "data.spectra", "data.tables", "artifacts.files"},
    "prepare": {
        "data.datasets",
        "data.transforms",
        "data.features",
        "data.feature_maps.raw",
        "data.splits",
        "artifacts.netcdf",
    },
    "rival": {"rivals", "rivals.gaussian_process", "rivals.network_ensemble", "data.transforms"},
    "pretrain": {"model.density", "inference.pretrain", "diagnostics.tightness", "builder"},
    "warmup": {
        "model.density",
        "inference.warmup",
        "inference.adaptations.windows",
        "inference.kernels.nuts",
    },
    "draw": {
        "model.density",
        "inference.sampling",
        "inference.chain_groups",
        "inference.kernels.hmc",
        "commands.shared.runtime",
    },
    "check_convergence": {"artifacts.chains", "diagnostics.verdict", "diagnostics.convergence"},
    "approximate": {
        "builder",
        "inference.methods.map_ensemble",
        "inference.methods.pathfinder",
        "model.linearised",
        "evaluation.reweighting.importance",
        "artifacts.draws",
    },
    "sample": {"builder", "model.sampling", "artifacts.chains", "artifacts.draws"},
    "assemble": {"artifacts.chains", "artifacts.contents", "artifacts.netcdf", "provenance"},
    "diagnose": {
        "diagnostics.convergence",
        "diagnostics.verdict",
        "diagnostics.estimators",
        "commands.shared.posteriors",
    },
    "thin": {"artifacts.netcdf", "diagnostics.thinning", "evaluation.predictive.noises.gaussian"},
    "posterior_predictive": {
        "surrogate.prediction",
        "model.linearised",
        "model.networks",
        "data.transforms",
    },
    "evaluate": {
        "evaluation.tasks.regression",
        "evaluation.tasks.classification",
        "evaluation.scores.of_split",
        "evaluation.scores.regression.accuracy",
        "evaluation.scores.classification.classes",
        "evaluation.predictive.noises.conformal",
        "distributions.laws.laplace",
        "evaluation.calibration.calibration",
    },
    "tabulate_chains": {"diagnostics.tables", "commands.shared.chain_tables"},
    "tabulate_sizes": {
        "diagnostics.size_tables",
        "evaluation.tasks.sizes",
        "commands.shared.predictions",
        "builder.architecture",
    },
    "tabulate": {
        "diagnostics.tables",
        "evaluation.tables.predictions",
        "commands.shared.covariates",
        "commands.shared.chain_tables",
        "commands.shared.predictions",
        "evaluation.classification.decisions",
        "evaluation.classification.calibration",
    },
    "export": {
        "surrogate.evaluation",
        "surrogate.domain",
        "evaluation.predictive.noises.conformal",
        "model.networks",
    },
    "describe": {"artifacts.contents", "data.splits"},
    "landscape": {"model.density", "inference.landscape", "builder", "commands.shared.runtime"},
    "prior_predictive": {
        "model.density",
        "model.priors",
        "builder",
        "evaluation.tables.prior",
        "data.transforms",
    },
    "agree": {"diagnostics.agreement", "diagnostics.estimators"},
    "fidelity": {
        "evaluation.fidelity",
        "evaluation.comparison.posteriors",
        "distributions.mixture",
        "artifacts.contents",
    },
    "compare": {"evaluation.comparison.runs", "artifacts.files"},
    "speed": {"model.density", "surrogate.prediction", "builder"},
    "plot": {"plots.registry", "plots.calibration", "plots.style", "plots.scan", "figures"},
    "reweight": {
        "model.density",
        "evaluation.reweighting.importance",
        "commands.shared.functions",
        "commands.shared.posteriors",
    },
    "sensitivity": {
        "model.density",
        "evaluation.reweighting.sensitivity",
        "commands.shared.functions",
    },
    "condense": {"model.earlier_data", "builder", "commands.shared.functions", "data.transforms"},
    "fit": {"fitting.fits", "fitting.running", "fitting.studies", "workflow.plan"},
    "bundle": {"bundles.index", "bundles.surrogates", "artifacts.folders", "surrogate.surrogate"},
    "onnx": {"surrogate.in_onnx", "surrogate.in_jax", "surrogate.trained", "artifacts.files"},
    "predict": {"surrogate.answers", "data.chunks", "data.spectrum_chunks", "artifacts.streams"},
    "serve": {"service.application", "service.guards", "surrogate.surrogate"},
    "summary": {"diagnostics.tightness"},
    "watch": {"artifacts.drawn_so_far", "diagnostics.convergence"},
    "record": {"artifacts.files"},
    "show": {
        "artifacts.audit.summary",
        "artifacts.audit.origins",
        "artifacts.audit.lineage",
        "provenance",
    },
    "verify": {"artifacts.audit.inspection", "artifacts.audit.origins", "code_digest"},
    "provenance": {
        "artifacts.audit.lineage",
        "artifacts.audit.prov_document",
        "artifacts.audit.crate",
    },
}
WINGS = (
    *("data", "model", "inference", "diagnostics", "distributions", "evaluation", "surrogate"),
    *("plots", "rivals"),
)
USED = {
    "simulate": {"data"},
    "ingest": {"data"},
    "prepare": {"data"},
    "rival": {"data", "rivals"},
    "pretrain": {"data", "model", "inference", "diagnostics"},
    "warmup": {"data", "model", "inference"},
    "draw": {"data", "model", "inference"},
    "check_convergence": {"diagnostics"},
    "approximate": {"data", "model", "inference", "diagnostics", "evaluation"},
    "sample": {"data", "model", "inference"},
    "assemble": set(),
    "diagnose": {"model", "diagnostics"},
    "thin": {"data", "diagnostics", "distributions", "evaluation"},
    "posterior_predictive": {"data", "model", "surrogate"},
    "evaluate": {"data", "diagnostics", "distributions", "evaluation"},
    "tabulate": {"data", "model", "diagnostics", "distributions", "evaluation"},
    "tabulate_chains": {"model", "diagnostics"},
    "tabulate_sizes": {
        *("data", "model", "inference", "diagnostics", "distributions", "evaluation"),
    },
    "export": {"data", "model", "distributions", "evaluation", "surrogate"},
    "describe": {"data"},
    "landscape": {"data", "model", "inference"},
    "prior_predictive": {"data", "model", "inference", "evaluation"},
    "agree": {"diagnostics"},
    "fidelity": {"data", "diagnostics", "distributions", "evaluation"},
    "compare": {"diagnostics", "evaluation"},
    "speed": {"data", "model", "inference", "surrogate"},
    "plot": {"plots"},
    "reweight": {
        "data",
        "model",
        "inference",
        "diagnostics",
        "evaluation",
        "surrogate",
    },
    "sensitivity": {
        "data",
        "model",
        "inference",
        "diagnostics",
        "distributions",
        "evaluation",
        "surrogate",
    },
    "condense": {"data", "model", "inference", "diagnostics", "surrogate"},
    "fit": {"data", "model", "diagnostics", "distributions", "surrogate"},
    "predict": {"data", "model", "distributions", "surrogate"},
    "bundle": {"data", "model", "distributions", "surrogate"},
    "onnx": {"data", "model", "distributions", "surrogate"},
    "serve": {"data", "model", "distributions", "surrogate"},
    "summary": {"data", "diagnostics", "surrogate"},
    "watch": {"diagnostics"},
    "record": set(),
    "show": {"data", "model", "surrogate"},
    "verify": set(),
    "provenance": set(),
}


def closure(verb: str) -> set[str]:
    """What a verb imports, without the name of the package."""
    found = code_digest.modules_of(module_of(verb), {})
    return {name.removeprefix("nlobayes.") for name in found}


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_verb_imports_what_it_uses(verb: str) -> None:
    assert closure(verb) >= INSIDE[verb] | {module_of(verb).removeprefix("nlobayes."), "errors"}


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_verb_uses_its_wings_only(verb: str) -> None:
    """So that another figure does not draw chains anew."""
    wings = {name.split(".")[0] for name in closure(verb)} & {*WINGS}
    assert wings == USED[verb]


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_study_is_in_the_specification_and_not_in_the_digest(verb: str) -> None:
    assert not [name for name in closure(verb) if name.startswith("study")]


@pytest.mark.parametrize("verb", COMMANDS)
def test_another_verb_is_not_in_the_digest(verb: str) -> None:
    commands = {module_of(each).removeprefix("nlobayes.") for each in COMMANDS}
    assert closure(verb) & commands == {module_of(verb).removeprefix("nlobayes.")}


NAMED_IN_SPEC = {"nlobayes.data.parameters", "nlobayes.data.slha_blocks"}
"""What the settings ask for a name, or which files are SLHA; a verb that computes with it has it in
its closure."""

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
    loaded = {
        name for name in done.stdout.split() if not name.startswith(code_digest.STATED_IN_SPEC)
    }
    above = {name for name in loaded if (code_digest._source(name)).name == "__init__.py"}
    assert loaded - above - NAMED_IN_SPEC <= code_digest.modules_of(module, {})


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
    read, known = module._read.__wrapped__, {}

    def read_once(name: str) -> Any:
        """A test changes one module, and most are big: read again what has changed alone."""
        version = name, module._source(name).read_bytes()
        if version not in known:
            known[version] = read(name)
        return known[version]

    module._read = read_once  # type: ignore[attr-defined]
    return module


def digest(package: Path, verb: str, spec: dict[str, Any] | None = None) -> str:
    """The digest of a verb of a copy of the package, computed afresh."""
    module = module_of_copy(package)
    module._digest.cache_clear()
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


@pytest.mark.parametrize("verb", ["thin", pytest.param("draw", marks=pytest.mark.slow)])
def test_a_change_inside_the_closure_changes_the_digest_and_no_other_does(
    copied: Path, verb: str
) -> None:
    inside = {code_digest._source(name) for name in code_digest.modules_of(module_of(verb), {})}
    before = digest(copied, verb)
    assert before == code_digest.code_digest(verb)
    for source in sorted(code_digest.PACKAGE.rglob("*.py")):
        with changed(copied / source.relative_to(code_digest.PACKAGE), "CHANGED = 1\n"):
            assert (digest(copied, verb) != before) is (source in inside), source
    assert digest(copied, verb) == before


def test_words_and_layout_change_no_digest(copied: Path) -> None:
    """Comments, blank lines, docstrings of a module, a class, a function and an attribute."""
    before = {verb: digest(copied, verb) for verb in COMMANDS}
    for path in copied.rglob("*.py"):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = "Other words."
        path.write_text("# mended\n\n\n" + ast.unparse(tree))
    assert {verb: digest(copied, verb) for verb in COMMANDS} == before


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
    "inference/kernels/hmc",
    "inference/adaptations/windows",
    "model/activations/tanh",
    "model/activations/relu",
    "model/priors/fan_in",
    "model/likelihoods/gaussian",
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


def test_a_number_behind_a_name_chooses_the_member_of_that_name() -> None:
    spec = {"network": {"activation": ["leaky_relu(0.3)", "tanh"]}}
    assert code_digest.chosen_names(spec, "activation") == ("leaky_relu", "tanh")


@pytest.mark.parametrize("family", code_digest.CHOSEN_BY)
def test_a_new_member_of_a_family_changes_no_job_that_names_another(
    copied: Path, family: str
) -> None:
    before = digest(copied, "draw", CHOSEN)
    with changed(copied.joinpath(*family.split(".")[1:], "new.py"), "NEW = 1\n"):
        assert digest(copied, "draw", CHOSEN) == before


def test_a_member_brings_what_it_is_made_of(copied: Path) -> None:
    """Tempering moves by HMC, NUTS does not."""
    for kernel, counts in (("tempering", True), ("nuts", False)):
        spec = {**CHOSEN, "kernel": {"kind": kernel}}
        before = digest(copied, "draw", spec)
        with changed(copied / "inference/kernels/hmc.py", "CHANGED = 1\n"):
            assert (digest(copied, "draw", spec) != before) is counts


def test_names_are_found_at_any_depth() -> None:
    spec = {"runs": [{"kernel": {"kind": "a"}}, {"deep": {"kernel": "b"}}], "kernel": ["c", "d"]}
    assert code_digest.chosen_names(spec, "kernel") == ("a", "b", "c", "d")
    assert code_digest.chosen_names({"kernels": "a"}, "kernel") == ()
    assert code_digest.chosen_names({"kernel": None}, "kernel") == ()


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


def test_verbs_have_digests_of_their_own() -> None:
    digests = {verb: code_digest.code_digest(verb) for verb in COMMANDS}
    assert len(set(digests.values())) == len(COMMANDS)
    assert all(len(value) == 16 for value in digests.values())
