"""A new prior, likelihood or activation is new files alone: read by the study, built by PyMC."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nlobayes
from tests.unit.worked_examples import ROOT, files_of, write

PACKAGE = Path(nlobayes.__file__).parent
BY_HAND = "tests/unit/model/by_hand.py"
PRIOR = files_of("Add a prior")
LIKELIHOOD = {
    "src/nlobayes/study/likelihoods/logistic.py": '''
from typing import Literal

from nlobayes.study.likelihood import ScaledLikelihood


class LogisticLikelihood(ScaledLikelihood):
    """Logistic about the output."""

    kind: Literal["logistic"]
''',
    "src/nlobayes/model/likelihoods/logistic.py": """
from dataclasses import dataclass

from nlobayes.model.likelihood import TARGET, Noise, Scaled


@dataclass(frozen=True)
class Logistic(Scaled):
    sigma: float | None
    scale: float = 1.0
    floor: float = 0.0
    precision: dict[str, float] | None = None

    def observe(self, output, target, error=None):
        import pymc as pm

        return pm.Logistic(TARGET, output, self.stated_scale(output, error), observed=target)

    def noise(self, output, variables, error, xp):
        return Noise("logistic", output, self.known_scale(variables, error, xp))

    def information_root(self, output, variables, error, xp):
        scale = self.known_scale(variables, error, xp)
        return self.orthogonal_root(3**-0.5, (1 / 3 + 3.1415927**2 / 9) ** 0.5, output, scale, xp)


build = Logistic
""",
}
ACTIVATION = {
    "src/nlobayes/model/activations/softsign.py": '''
HAS_SLOPES = False


def activate(xp, x, slopes=None):
    """Give x / (1 + |x|)."""
    return x / (1 + abs(x))
''',
}
NEW = (PRIOR, LIKELIHOOD, ACTIVATION)
BUILD = """
import jax
import numpy as np
import scipy.stats

jax.config.update("jax_enable_x64", True)
from nlobayes import builder
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset

PRESETS = {
    "networks": {"n": {"hidden": [2], "activation": "softsign"}},
    "priors": {"p": {"kind": "logistic", "scale": 0.7}},
    "likelihoods": {"l": {"kind": "logistic", "sigma": 0.3}},
}
job = ModelJob(
    network=PRESETS["networks"]["n"],
    prior=PRESETS["priors"]["p"],
    likelihood=PRESETS["likelihoods"]["l"],
    precision="float64",
)
x, y = np.linspace(-1, 1, 5)[:, None], np.linspace(0, 1, 5)
scaling = {"target": {"scale": "identity", "mean": 0.0, "sd": 1.0}, "features": {}}
data = Dataset(
    inputs=x, features=x, target=y, observed=y, split=np.zeros(5, int), reference=np.arange(2),
    input_names=("x",), feature_names=("x",), target_names=("y",), transforms=scaling,
    units={"x": "", "y": ""},
)
model = builder.build_model(job, data)
q = np.asarray(model.density.draw_prior(1))
w = {name: np.asarray(v) for name, v in model.density.variables(q).items()}
z = x @ w["weights_1"] + w["biases_1"]
f = (z / (1 + abs(z)) @ w["weights_2"] + w["biases_2"])[:, 0]
expected = sum(scipy.stats.logistic.logpdf(one, scale=0.7).sum() for one in w.values())
expected += scipy.stats.logistic.logpdf(y, f, 0.3).sum()
np.testing.assert_allclose(model.logdensity_fn(q), expected, rtol=1e-9)
"""


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources in a copy, with one new member of each family."""
    root = tmp_path_factory.mktemp("extended")
    copied = root / "src/nlobayes"
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    for files in NEW:
        assert [path for path in files if (ROOT / path).exists()] in ([], [BY_HAND])
        write(files, root)
    return copied.parent


def run(root: Path, code: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(root), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=env, cwd=root, capture_output=True, text=True)


def test_new_members_are_new_files_and_nothing_else(extended: Path) -> None:
    """At most three of them; the posterior is the one by hand."""
    assert all(len(files) <= 3 for files in NEW)
    done = run(extended, BUILD)
    assert done.returncode == 0, done.stderr


NAMES = """
import sys
from nlobayes.study.schema import as_json
assert '"logistic"' in as_json()
assert not {"jax", "numpy", "pymc"} & {*sys.modules}
"""


def test_the_study_reads_new_members_without_numerics(extended: Path) -> None:
    done = run(extended, NAMES)
    assert done.returncode == 0, done.stderr
