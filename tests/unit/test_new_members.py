"""A new score, figure, feature map or reference is a few new files; all else picks it up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nlobayes
from tests.unit.worked_examples import files_of, write

PACKAGE = Path(nlobayes.__file__).parent
MOST_FILES = 3


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package, to be changed."""
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(PACKAGE, tmp_path / "src/nlobayes", ignore=ignored))


def run(package: Path, code: str) -> str:
    """Run code with the changed copy in place of the package."""
    surroundings = os.environ | {"PYTHONPATH": str(package.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=surroundings
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def changed_files(package: Path) -> list[str]:
    """List the files that differ from the package."""
    return [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if not (original := PACKAGE / path.relative_to(package)).is_file()
        or original.read_bytes() != path.read_bytes()
    ]


USE_SCORE = """
import numpy as np
from nlobayes import metrics
from nlobayes.commands.shared.summary_table import score_columns
from nlobayes.evaluation.comparison.runs import METRICS
from nlobayes.distributions.laws import LAWS
from nlobayes.evaluation.predictive.noise import PredictiveNoise
from nlobayes.evaluation.tasks.regression import evaluate
from nlobayes.plots.scores import COMPARED, SCANNED

observed = np.zeros(30)
observed[7] = 5.0
rng = np.random.default_rng(1)
noise = PredictiveNoise(LAWS["gaussian"].build(scale=1.0))
found = evaluate(np.zeros((4, 30)), observed, noise, rng, scale="identity")
assert found["largest_error"] == 5.0
assert list(found)[-2:] == ["total_sd", "undefined"], list(found)
for listed in (METRICS, COMPARED, SCANNED, metrics.keys_of(metrics.MetricKind.NUMBERS)):
    assert "largest_error" in listed
assert [column.title for column in score_columns(of_classes=False)][-1] == "worst"
"""


def test_a_new_score_is_a_file_and_a_record(copied: Path) -> None:
    files = files_of("Add a score")
    write(files, copied.parents[1])
    run(copied, USE_SCORE)
    assert len(changed_files(copied)) == len(files) == 2 <= MOST_FILES


FIGURE = files_of("Add a figure")
USE_FIGURE = """
import pandas as pd
from nlobayes.figures import FigureKind, by_category, tabulated
from nlobayes.plots import FIGURES, render

assert by_category(FigureKind.RUNS, FigureKind.NUMBERS)["Calibration"][0] == "sorted_pulls"
assert "predictions" in tabulated(FigureKind.NUMBERS)
table = pd.DataFrame({"split": ["test", "val"], "z_total": [0.5, -0.5]})
drawn = FIGURES["sorted_pulls"].draw(table, name="run a/s1")
assert render(drawn, "svg").startswith(b"<?xml")
"""


def test_a_new_figure_is_a_function_and_a_record_beside_its_caption(copied: Path) -> None:
    write(FIGURE, copied.parents[1])
    run(copied, USE_FIGURE)
    assert (copied.parents[1] / "workflow/report/sorted_pulls.rst").is_file()
    assert len(changed_files(copied)) + len(["caption"]) == len(FIGURE) == MOST_FILES


def test_a_new_figure_changes_what_is_drawn_and_no_other_job(copied: Path) -> None:
    code = "from nlobayes.code_digest import code_digest as of; print(of('plot'), of('thin'))"
    before = run(copied, code).split()
    drawn_by = "src/nlobayes/plots/sorted_pulls.py"
    write({drawn_by: FIGURE[drawn_by]}, copied.parents[1])
    after = run(copied, code).split()
    assert [one != other for one, other in zip(before, after, strict=True)] == [True, False]


MAP = '''"""Logarithms of the columns."""

from __future__ import annotations

import numpy as np

COLUMNS: tuple[str, ...] | None = None
FEATURES: tuple[str, ...] | None = None
ALLOWED = "positive inputs"
SIGNS: tuple[tuple[int, ...], ...] = ()


def apply(inputs: np.ndarray) -> np.ndarray:
    """Give the logarithms."""
    return np.log(inputs)
'''
USE_MAP = """
import sys
from nlobayes.study.datasets import Features
assert Features(columns=("x",), map="logarithms").map == "logarithms"
assert "numpy" not in sys.modules
import numpy as np
from nlobayes.data.features import map_features
assert map_features("logarithms", np.ones((2, 3))).sum() == 0
"""


def test_a_new_feature_map_is_a_file(copied: Path) -> None:
    (copied / "data/feature_maps/logarithms.py").write_text(MAP)
    run(copied, USE_MAP)
    assert changed_files(copied) == ["data/feature_maps/logarithms.py"]


REFERENCE = {
    "study/references/power.py": """
from nlobayes.study.reference import ReferenceSettings


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
from nlobayes.commands.shared.prepared import prepared
from nlobayes.data.references import is_reference, reference_of
from nlobayes.fitting.tables import dataset_of, lines_of
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
assert reference_of(settings).at({"x": jnp.full(1, 2.0)}) == 0.125
"""


def test_a_new_reference_is_a_file_of_settings_and_one_of_numerics(copied: Path) -> None:
    for name, text in REFERENCE.items():
        (copied / name).write_text(text)
    run(copied, USE_REFERENCE)
    assert sorted(changed_files(copied)) == sorted(REFERENCE)
