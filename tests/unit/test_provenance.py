"""The code digest of a verb follows the files that the verb imports, and nothing else."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nlobayes import provenance
from nlobayes.cli import VERBS

INSIDE = {
    "simulate": {"data.physics.source", "data.physics.pdf", "data.tables", "artifacts.files"},
    "ingest": {"data.slha", "data.prospino", "data.spectra", "data.tables", "artifacts.files"},
    "prepare": {"data.datasets", "data.transforms", "data.splits", "artifacts.netcdf"},
    "pretrain": {"model.density", "inference.pretrain", "assessment.tightness", "build"},
    "warmup": {
        "model.density",
        "inference.warmup",
        "inference.adaptation.windows",
        "inference.kernels.nuts",
    },
    "draw": {
        "model.density",
        "inference.sampling",
        "inference.blocks",
        "inference.kernels.hmc",
        "verbs.runtime",
    },
    "judge": {"artifacts.chains", "assessment.verdict", "assessment.convergence"},
    "assemble": {"artifacts.chains", "artifacts.contents", "artifacts.netcdf", "provenance"},
    "diagnose": {
        "assessment.convergence",
        "assessment.verdict",
        "assessment._arviz",
        "verbs.posteriors",
    },
    "thin": {"artifacts.netcdf", "assessment.thinning", "assessment.noise"},
    "propagate": {"surrogate.prediction", "model.networks", "data.transforms"},
    "evaluate": {"assessment.scores", "assessment.noise", "assessment.calibration"},
    "tabulate": {
        "assessment.tables.chains",
        "assessment.tables.predictions",
        "verbs.covariates",
        "verbs.predictions",
    },
    "tabulate_classes": {
        "assessment.tables.chains",
        "assessment.classification_decisions",
        "assessment.classification_calibration",
        "verbs.chains",
        "verbs.class_scores",
    },
    "export": {"surrogate.evaluation", "surrogate.domain", "assessment.noise", "model.networks"},
    "landscape": {"model.density", "inference.landscape", "build", "verbs.runtime"},
    "prior_predictive": {
        "model.density",
        "model.priors",
        "build",
        "assessment.tables.prior",
        "data.transforms",
    },
    "agree": {"assessment.agreement", "assessment._arviz"},
    "compare": {"assessment.comparison", "artifacts.files"},
    "speed": {"model.density", "surrogate.prediction", "build"},
    "plot": {"plots.registry", "plots.calibration", "plots.style"},
    "reweight": {
        "model.density",
        "assessment.importance",
        "verbs.functions",
        "verbs.posteriors",
    },
    "sensitivity": {"model.density", "assessment.sensitivity", "verbs.functions"},
    "condense": {"model.memories", "build", "verbs.functions", "data.transforms"},
    "predict": {"surrogate.answers", "data.blocks", "data.spectrum_blocks", "artifacts.streams"},
    "serve": {"surrogate.web.application", "surrogate.web.guards", "surrogate.surrogate"},
    "summary": {"assessment.tightness"},
    "record": {"artifacts.files"},
    "show": {
        "artifacts.audit.summary",
        "artifacts.audit.origins",
        "artifacts.audit.lineage",
        "provenance",
    },
    "verify": {"artifacts.audit.inspection", "artifacts.audit.origins", "provenance"},
    "provenance": {
        "artifacts.audit.lineage",
        "artifacts.audit.prov_document",
        "artifacts.audit.crate",
    },
}
LOCK = Path(__file__).parents[2] / "uv.lock"
WINGS = ("data", "model", "inference", "assessment", "surrogate", "plots")
USED = {
    "simulate": {"data"},
    "ingest": {"data"},
    "prepare": {"data"},
    "pretrain": {"model", "inference", "assessment", "data"},
    "warmup": {"model", "inference", "data"},
    "draw": {"model", "inference", "data"},
    "judge": {"assessment"},
    "assemble": set(),
    "diagnose": {"assessment", "model"},
    "thin": {"assessment", "data"},
    "propagate": {"model", "surrogate", "data"},
    "evaluate": {"assessment", "data"},
    "tabulate": {"assessment", "data", "model"},
    "tabulate_classes": {"assessment", "data", "model"},
    "export": {"surrogate", "assessment", "data", "model"},
    "landscape": {"model", "inference", "data"},
    "prior_predictive": {"model", "inference", "assessment", "data"},
    "agree": {"assessment"},
    "compare": {"assessment"},
    "speed": {"model", "inference", "surrogate", "data"},
    "plot": {"plots"},
    "reweight": {"model", "inference", "assessment", "surrogate", "data"},
    "sensitivity": {"model", "inference", "assessment", "surrogate", "data"},
    "condense": {"model", "inference", "assessment", "surrogate", "data"},
    "predict": {"surrogate", "data", "model"},
    "serve": {"surrogate", "data", "model"},
    "summary": {"assessment"},
    "record": set(),
    "show": {"surrogate", "data", "model"},
    "verify": set(),
    "provenance": set(),
}


def closure(verb: str) -> set[str]:
    """What a verb imports, without the name of the package."""
    found = provenance.import_closure(f"nlobayes.verbs.{verb}")
    return {name.removeprefix("nlobayes.") for name in found}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_imports_what_it_uses(verb: str) -> None:
    assert closure(verb) >= INSIDE[verb] | {f"verbs.{verb}", "errors"}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_uses_its_wings_only(verb: str) -> None:
    """So that another figure does not draw chains anew."""
    wings = {name.split(".")[0] for name in closure(verb)} & {*WINGS}
    assert wings == USED[verb]


@pytest.mark.parametrize("verb", VERBS)
def test_the_study_is_in_the_specification_and_not_in_the_digest(verb: str) -> None:
    assert not [name for name in closure(verb) if name.startswith("study")]


@pytest.mark.parametrize("verb", VERBS)
def test_another_verb_is_not_in_the_digest(verb: str) -> None:
    assert {name for name in closure(verb) if name in {f"verbs.{v}" for v in VERBS}} == {
        f"verbs.{verb}"
    }


LOADED = """
import sys, importlib
importlib.import_module(sys.argv[1])
print(*(name for name in sys.modules if name.startswith("nlobayes")))
"""


@pytest.mark.parametrize("verb", ["simulate", "prepare", "assemble", "plot"])
def test_what_python_loads_is_in_the_closure(verb: str) -> None:
    """Packages above a module hold a docstring or names of modules that are in it anyway."""
    module = f"nlobayes.verbs.{verb}"
    done = subprocess.run(
        [sys.executable, "-c", LOADED, module], capture_output=True, text=True, check=True
    )
    loaded = {name for name in done.stdout.split() if not name.startswith("nlobayes.study")}
    above = {name for name in loaded if (provenance._source(name)).name == "__init__.py"}
    assert loaded - above <= provenance.import_closure(module)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package."""
    ignore = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(provenance.PACKAGE, tmp_path / "nlobayes", ignore=ignore))


@cache
def provenance_of(package: Path) -> Any:
    """The module of a copy of the package."""
    spec = importlib.util.spec_from_file_location("copied", package / "provenance.py")
    assert spec
    assert spec.loader
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def digest(package: Path, verb: str) -> str:
    """The digest of a verb of a copy of the package, computed afresh."""
    value = provenance_of(package).code_digest.__wrapped__(verb)
    assert isinstance(value, str)
    return value


@pytest.mark.parametrize("verb", ["thin", "plot", "draw"])
def test_a_change_inside_the_closure_changes_the_digest_and_no_other_does(
    copied: Path, verb: str
) -> None:
    inside = {
        provenance._source(name) for name in provenance.import_closure(f"nlobayes.verbs.{verb}")
    }
    before = digest(copied, verb)
    assert before == provenance.code_digest(verb)
    for source in sorted(provenance.PACKAGE.rglob("*.py")):
        path = copied / source.relative_to(provenance.PACKAGE)
        kept = path.read_bytes()
        path.write_bytes(kept + b"# changed\n")
        assert (digest(copied, verb) != before) is (source in inside), source
        path.write_bytes(kept)
    assert digest(copied, verb) == before


def test_a_new_import_joins_the_digest(copied: Path) -> None:
    path = copied / "verbs/thin.py"
    path.write_text(path.read_text() + "\n\ndef late() -> None:\n    import nlobayes.plots.style\n")
    before = digest(copied, "thin")
    style = copied / "plots/style.py"
    style.write_text(style.read_text() + "# changed\n")
    assert digest(copied, "thin") != before


def test_the_digest_does_not_depend_on_the_place(copied: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(copied, tmp_path / "elsewhere"))
    os.utime(moved / "verbs/thin.py", (0, 0))
    assert digest(moved, "thin") == digest(copied, "thin")


def test_verbs_have_digests_of_their_own() -> None:
    digests = {verb: provenance.code_digest(verb) for verb in VERBS}
    assert len(set(digests.values())) == len(VERBS)
    assert all(len(value) == 16 for value in digests.values())


def test_a_record_says_what_was_made_by_what() -> None:
    spec = {"draws": 8}
    inputs = {"results/posterior/a.nc": "ab12"}
    record = provenance.record("thin", spec, inputs, exact=True)
    assert {**record, "versions": None} == {
        "verb": "thin",
        "code_digest": provenance.code_digest("thin"),
        "lock_digest": hashlib.sha256(LOCK.read_bytes()).hexdigest(),
        "spec": spec,
        "inputs": inputs,
        "versions": None,
        "exact": True,
    }
    assert [*record["versions"]] == ["python", *provenance.PACKAGES]


def test_a_record_knows_no_date_no_host_and_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    record = provenance.record("draw", {}, {}, device="cpu")
    text = json.dumps(record)
    now = datetime.now(UTC)
    for secret in (f"{now:%Y-%m-%d}", f"{now:%Y%m%d}", str(Path.cwd()), str(provenance.PACKAGE)):
        assert secret not in text
    assert socket.gethostname() not in text.replace("draw", "")
    monkeypatch.setenv("HOSTNAME", "elsewhere")
    monkeypatch.setenv("USER", "somebody")
    assert provenance.record("draw", {}, {}, device="cpu") == record
