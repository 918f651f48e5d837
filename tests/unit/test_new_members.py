"""New members of families are new files: found by their names in a copy of the package.

Those of CONTRIBUTING.md, and in each other family a copy of a member under another name.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nlobayes
from tests.unit.worked_examples import files_of, write

PACKAGE = Path(nlobayes.__file__).parent
EXAMPLES = {"Add a kernel": 0, "Add a prior": 1, "Add a score": 1, "Add a figure": 1}
"""Of each, how many of its three files at most are changed and not new."""
COPIED = (
    *("likelihoods/laplace",),
    *("adaptations/windows", "data/feature_maps/raw"),
    *("study/sources/toy", "data/simulators/toy", "evaluation/predictive/noises/gaussian"),
)
REFERENCE = {
    "study/references/power.py": """
from nlobayes.study.references import ReferenceSettings


class PowerReference(ReferenceSettings):
    power: float
    of: str

    def completed(self, source, columns):
        return self
""",
    "data/references/power.py": """
from nlobayes.data.references import Reference


class Power(Reference):
    def __init__(self, *, power, of, unit=""):
        self.name = self.in_words = self.meaning = f"{of}^{power:g}"
        self.columns, self.unit, self.power = (of,), unit, power

    def at(self, named):
        return named[self.columns[0]] ** self.power

    def allowed(self, which):
        return f"{which} {self.name}"


build, facts = Power, dict


def is_whole(settings):
    return settings.keys() == {"power", "of", "unit"}
""",
}
USE_REFERENCE = """
from pathlib import Path
import jax.numpy as jnp
import numpy as np
from nlobayes.prepared import prepared
from nlobayes.data.references import is_reference, make_reference
from nlobayes.fitting.table_settings import dataset_of, lines_of
from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.job_builder import prepare_job
from nlobayes.surrogate.identity import origin
from nlobayes.types import Table

x = np.linspace(1, 9, 40)
table = Table({"x": x, "y": x**-3 * (1 + 0.1 * np.sin(x))}, {}, {})
read = dataset_of(table, "t.csv", "y")
read.dataset["target"]["relative_to"] = {"power": -3, "of": "x"}
assert "relative to x^-3 from x" in next(lines_of(read))
job = prepare_job(DatasetPreset.model_validate(read.dataset))
made = prepared(table, job, Path("t.csv")).dataset
learned = made.transforms["target"]
values = learned["sd"] * made.target + learned["mean"]
np.testing.assert_allclose(values, np.log10(1 + 0.1 * np.sin(x)), atol=1e-14)
settings = learned["relative_to"]
assert is_reference(settings) and not is_reference(settings | {"more": 1})
assert origin({"transforms": made.transforms})["relative_to"] == "x^-3"
assert make_reference(settings).at({"x": jnp.full(1, 2.0)}) == 0.125
"""
READ = """
import sys
from nlobayes.figures import FigureKind, by_category, tabulated
from nlobayes.study.datasets import Features
from nlobayes.study.evaluation import Evaluation
from nlobayes.study.schema import as_json
text = as_json()
assert min(text.count(f'"const": "{name}"') for name in ("mala", "logistic", "mine")) > 0
assert Features(columns=("x",), map="mine").map == Evaluation(noise="mine").noise == "mine"
assert by_category(FigureKind.RUNS, FigureKind.NUMBERS)["Calibration"][0] == "sorted_pulls"
assert "predictions" in tabulated(FigureKind.NUMBERS)
assert not {"jax", "numpy", "pymc"} & {*sys.modules}
"""
SAMPLE = """
import jax, jax.numpy as jnp
from nlobayes import builder
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.kernel import Posterior
from nlobayes.inference.sampling import draw
from nlobayes.inference.warmup import adapt
from nlobayes.kernels import KERNELS
from nlobayes.methods.mcmc import MCMC

KERNELS["mala"].warmup = "mine"
preset = MCMC.model_validate({
    "kernel": {"kind": "mala"},
    "warmup": {"kind": "mine", "steps": 100, "initial_step_size": 0.1},
    "draws_per_segment": 400,
})
assert preset.gradients_per_draw == 1
kernel = preset.kernel.build(Posterior(lambda q, b=1.0: -0.5 * b * jnp.sum((q - 3) ** 2)))
adaptation = preset.warmup.build(Untuned(kernel, preset.kernel))
keys, starts = builder.chain_keys(1, "draw", range(preset.chains)), jnp.zeros((4, 2))

@jax.jit
def sample(starts):
    carry = adaptation.start(starts)
    carry, *_ = adapt(keys, adaptation, carry, first=0, steps=preset.warmup.steps)
    ends = adaptation.finish(carry)
    return draw(keys, kernel, *ends, first=0, kept=400, thin=1, observe=lambda q: q)[1].observed

drawn = sample(starts)
assert abs(drawn.mean() - 3) < 0.3 and abs(drawn.std() - 1) < 0.2, (drawn.mean(), drawn.std())
"""
BUILD = """
import jax
import numpy as np
import scipy.stats

jax.config.update("jax_enable_x64", True)
from nlobayes import builder
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset

job = ModelJob(
    network={"hidden": [2], "activation": "elu"},
    prior={"kind": "logistic", "scale": 0.7},
    likelihood={"kind": "mine", "sigma": 0.3},
    precision="float64",
)
x, y = np.linspace(-1, 1, 5)[:, None], np.linspace(0, 1, 5)
data = Dataset(
    inputs=x, features=x, target=y, observed=y, split=np.zeros(5, int), reference=np.arange(2),
    input_names=("x",), feature_names=("x",), target_names=("y",), units={"x": "", "y": ""},
    transforms={"target": {"scale": "identity", "mean": 0.0, "sd": 1.0}, "features": {}},
)
model = builder.build_model(job, data)
q = np.asarray(model.density.draw_prior(1))
w = {name: np.asarray(v) for name, v in model.density.variables(q).items()}
z = x @ w["weights_1"] + w["biases_1"]
f = (np.where(z > 0, z, np.expm1(z)) @ w["weights_2"] + w["biases_2"])[:, 0]
expected = sum(scipy.stats.logistic.logpdf(one, scale=0.7).sum() for one in w.values())
expected += scipy.stats.laplace.logpdf(y, f, 0.3).sum()
np.testing.assert_allclose(model.logdensity_fn(q), expected, rtol=1e-9)
"""
SHOW = """
import numpy as np
import pandas as pd
from nlobayes import metrics
from nlobayes.reporting.columns import score_columns
from nlobayes.data.features import map_features
from nlobayes.distributions.laws import LAWS
from nlobayes.evaluation.comparison.runs import METRICS
from nlobayes.evaluation.predictive.predictive_density import PredictiveNoise
from nlobayes.evaluation.predictive.noise_fit import fit_noise
from nlobayes.evaluation.scores.of_split import evaluate
from nlobayes.plots import FIGURES, render
from nlobayes.plots.frames import COMPARED, SCANNED

rng, draws, observed = np.random.default_rng(1), np.zeros((4, 30)), np.zeros(30)
observed[7] = 5.0
noise = PredictiveNoise(LAWS["gaussian"].build(scale=1.0))
assert evaluate(draws, observed, noise, rng, scale="identity")["largest_error"] == 5.0
for listed in (METRICS, COMPARED, SCANNED, [key for one in metrics.METRICS for key in one.keys]):
    assert "largest_error" in listed
assert [column.title for column in score_columns(of_classes=False)][-1] == "worst"
scales = [fit_noise(draws, rng.normal(size=30), family=of).scale for of in ("mine", "gaussian")]
assert scales[0] > 0
assert map_features("mine", np.ones((2, 3))).sum() == 6
table = pd.DataFrame({"split": ["test", "val"], "z_total": [0.5, -0.5]})
drawn = FIGURES["sorted_pulls"].draw(table, name="run a/s1")
assert render(drawn, "svg").startswith(b"<?xml")
"""
SIMULATE = """
from pathlib import Path
from nlobayes.commands.pipeline.simulate import simulate
from nlobayes.data.table_files import read_table
simulate('{"source": {"kind": "mine", "name": "marek", "seed": 0}}', Path("out.csv"))
assert len(read_table(Path("out.csv")).columns["x"]) == 161
"""
DIGESTS = """
from nlobayes.code_digest import code_digest as of
print(of("plot"), of("evaluate"), of("thin"), of("simulate", {"source": {"kind": "simulate"}}))
"""


def run(root: Path, code: str) -> str:
    """Run code with the copy below a folder in place of the package."""
    own = {"PYTHONPATH": str(root / "src"), "JAX_PLATFORMS": "cpu"}
    env = os.environ | own | {"PYTENSOR_FLAGS": "floatX=float64,cxx="}  # not those of another test
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=env, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package to which all of them are added."""
    root = tmp_path_factory.mktemp("extended")
    ignored = shutil.ignore_patterns("__pycache__")
    package = Path(shutil.copytree(PACKAGE, root / "src/nlobayes", ignore=ignored))
    for heading, changed in EXAMPLES.items():
        files = files_of(heading)
        assert sum((PACKAGE.parents[1] / path).exists() for path in files) == changed
        assert 1 <= len(files) <= 3
        write(files, root)
    for name, text in REFERENCE.items():
        (package / name).write_text(text)
    for name in COPIED:
        path = package / f"{name}.py"
        text = path.read_text().replace(f'Literal["{path.stem}"]', 'Literal["mine"]')
        path.with_stem("mine").write_text(text.replace(f' = "{path.stem}"', ' = "mine"'))
    return root


@pytest.mark.by_day(3)
@pytest.mark.parametrize(
    "code", [READ, SAMPLE, BUILD, SHOW + SIMULATE, USE_REFERENCE], ids=range(5)
)
def test_new_members_are_read_built_and_shown(extended: Path, code: str) -> None:
    """Without numerics; as by hand; in tables, figures and simulations; as a reference."""
    run(extended, code)


def test_a_score_and_a_figure_change_their_jobs_and_no_other(extended: Path) -> None:
    digests = [run(root, DIGESTS).split() for root in (PACKAGE.parents[1], extended)]
    same = [one == other for one, other in zip(*digests, strict=True)]
    assert same == [False, False, False, True]
