"""A new source is two new files: settings, and a simulator or the sentences of its errors."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nlobayes

PACKAGE = Path(nlobayes.__file__).parent
COMPUTED = {
    "study/sources/line.py": '''
"""Settings of points on a line."""
from typing import Literal
from nlobayes.study.source import ComputedSource

class LineSource(ComputedSource):
    """Points on a line."""

    kind: Literal["line"]
    points: int = 12
    slope: float

    @property
    def known(self) -> tuple[str, ...]:
        """Two columns."""
        return ("x", "y")

    def rows(self, columns: int) -> int:
        """As many as points."""
        return self.points
''',
    "data/simulators/line.py": '''
"""Points on a line."""
import numpy as np
from nlobayes.types import Table

def simulate(*, points: int, slope: float) -> Table:
    """Give points between 0 and 1."""
    x = np.linspace(0, 1, points)
    return Table({"x": x, "y": slope * x}, {"x": "", "y": ""}, {})
''',
}
GIVEN = {
    "study/sources/latest.py": '''
"""Settings of the latest of some tables."""
from pathlib import Path
from typing import Any, Literal
from nlobayes.errors import InputError
from nlobayes.study.source import SourceSettings

class LatestSource(SourceSettings):
    """The last table of a folder by name."""

    kind: Literal["latest"]
    below: str

    @property
    def given(self) -> str:
        """The last one."""
        return str(max(Path(self.below).glob("*.csv"), default=Path("none")))

    def rows(self, columns: int) -> int:
        """One of each line."""
        return len(Path(self.given).read_text().splitlines())

    def digest(self) -> str:
        """The name is enough here."""
        return self.given

    def check_given(self) -> None:
        """Refuse an empty folder."""
        if self.given == "none":
            raise InputError("latest.no_table", where="below", folder=self.below)

    def reading(self) -> dict[str, Any]:
        """Repeated rows are welcome."""
        return {**super().reading(), "duplicates": "keep"}
''',
    "errors/texts/latest.toml": 'no_table = "{folder} has no table; put one there"',
}
PLANNED = """
import json
import sys
from pathlib import Path
from nlobayes.errors import InputError
from nlobayes.study.grid import load_study
from nlobayes.workflow.needs import Needs
from nlobayes.workflow.plan import Plan
from nlobayes.workflow.sources import Sources
from nlobayes.workflow.specifications import Specifications

class Wildcards(dict):
    __getattr__ = dict.__getitem__

def planned(source):
    columns = {"features": {"columns": ["x"], "map": "raw"}, "target": {"column": "y"}}
    split = {"train": 6, "validation": 3, "test": 3}
    kinds = ("network", "prior", "likelihood", "pretraining", "method")
    return Plan(load_study({
        "datasets": {"mine": {"source": source, "split": split, **columns}},
        "networks": {"n": {"hidden": [4]}},
        "priors": {"n": {"kind": "fan_in"}},
        "likelihoods": {"n": {"kind": "gaussian", "sigma": 0.1}},
        "pretraining": {"n": {"epochs": 10}},
        "methods": {"n": {"kind": "map_ensemble"}},
        "evaluation": {"default": {}},
        "grids": {"all_of_it": {"dataset": "mine"} | dict.fromkeys(kinds, "n")},
        "targets": ["all_of_it"],
    }))

mine = Wildcards(dataset="mine")
"""
PLAN_COMPUTED = """
plan = planned({"kind": "line", "slope": 2})
assert "mine" in plan.datasets_made_by("simulate")
told = Specifications(plan).of_dataset("simulate")
assert json.loads(told["spec"](mine))["source"] == {"kind": "line", "points": 12, "slope": 2.0}
assert Needs(plan).of("prepare")["mem_mb"](mine, 1) > 0
assert Sources(plan, print, True).table(mine) == "results/tables/mine.parquet"
assert Sources(plan, print, True).digest_of_table(mine) == ""
assert "numpy" not in sys.modules
from nlobayes.commands.pipeline.simulate import simulate
from nlobayes.data.tables import read_table
simulate(told["spec"](mine), Path("out.csv"))
columns = read_table(Path("out.csv")).columns
assert (columns["y"] == 2 * columns["x"]).all() and len(columns["x"]) == 12
"""
REFUSED = """
for changes, place in (
    ({"points": "many"}, "datasets.mine.source.line.points"),
    ({"kind": "curve"}, "'line', 'simulate', 'slha', 'table', 'toy'"),
):
    try:
        planned({"kind": "line", "slope": 2} | changes)
    except InputError as error:
        assert place in str(error), error
    else:
        raise AssertionError(place)
"""
PLAN_GIVEN = """
plan = planned({"kind": "latest", "below": "tables"})
try:
    Sources(plan, print, True).table(mine)
except SystemExit:
    pass
else:
    raise AssertionError
Path("tables").mkdir()
Path("tables/b.csv").write_text("x,y\\n1,2\\n")
seen = []
sources = Sources(plan, lambda job, path: seen.append((job.duplicates, str(path))), True)
assert sources.table(mine) == sources.digest_of_table(mine) == "tables/b.csv"
assert seen == [("keep", "tables/b.csv")]
assert not {"mine"} & {*plan.datasets_made_by("simulate"), *plan.datasets_made_by("ingest")}
assert '"duplicates":"keep"' in Specifications(plan).of_dataset("prepare")["spec"](mine)
assert Needs(plan).of("prepare")["mem_mb"](mine, 1) > 0
"""
ENGINE = """
from nlobayes.code_digest import code_digest
print(code_digest("simulate", {"source": {"kind": "simulate"}}))
"""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package, to be changed."""
    ignored = shutil.ignore_patterns("__pycache__", "web", "plots")
    return Path(shutil.copytree(PACKAGE, tmp_path / "src/nlobayes", ignore=ignored))


def run(package: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run code with the changed copy in place of the package, in a folder of its own."""
    surroundings = os.environ | {"PYTHONPATH": str(package.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=surroundings,
        cwd=package.parents[1],
    )
    assert done.returncode == 0, done.stderr
    return done


def write(package: Path, files: dict[str, str]) -> None:
    """Write files that are not there yet."""
    for name, text in files.items():
        assert not (package / name).exists()
        (package / name).write_text(text)


def test_two_files_are_a_computed_source_which_changes_no_job_of_another(copied: Path) -> None:
    before = run(copied, ENGINE).stdout
    write(copied, COMPUTED)
    run(copied, PLANNED + REFUSED + PLAN_COMPUTED)
    assert run(copied, ENGINE).stdout == before


def test_two_files_are_a_source_that_a_user_gives(copied: Path) -> None:
    write(copied, GIVEN)
    assert (
        "datasets.mine.source.below: tables has no table"
        in run(copied, PLANNED + PLAN_GIVEN).stderr
    )
