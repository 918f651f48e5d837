"""A target that is learned relative to Born, from its settings to a surrogate's answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.workflow.conftest import Once, Project

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

STUDY = Path(__file__).with_name("offsets.yaml")
RUN = "relative/n4/fan_in/tolerance_10/tiny/tiny/s1"


@pytest.fixture(scope="module")
def relative(once: Once, pristine: Project) -> Project:
    """The finished study."""

    def build(folder: Path) -> None:
        project = pristine.copy_to(folder)
        shutil.copy(STUDY, project.root / "config/config.yaml")
        project.snakemake()

    return once("relative", build)


def test_sixty_draws_of_four_units_are_closer_than_the_spread_of_k(relative: Project) -> None:
    """The sd of log10 K is 0.011 dex, of the target itself 1.2: an error of 0.02 has the offset."""
    found = json.loads((relative.root / f"results/metrics/{RUN}/evaluation.json").read_text())
    assert found["test"]["rmse_log10"] < 0.02
    assert found["linear"]["test"]["rmse_log10"] < 0.02
    drawn = {path.stem for path in (relative.root / f"results/figures/{RUN}").glob("*.svg")}
    assert {"predicted_vs_true", "residuals", "scale_ratio"} <= drawn


def test_the_surrogate_multiplies_back(relative: Project) -> None:
    table = "results/tables/relative.parquet"
    surrogate = f"results/surrogates/{RUN}.nc"
    relative.run("nlobayes", "predict", surrogate, table, "--keep", "sigma_pb", "-o", "p.jsonl")
    rows = [json.loads(line) for line in (relative.root / "p.jsonl").read_text().splitlines()]
    assert len(rows) == 300
    assert all(abs(row["sigma_pb_median"] / row["sigma_pb"] - 1) < 0.1 for row in rows)


def test_a_circular_reference_stops_the_plan(relative: Project) -> None:
    target = {"relative_to": {"calculation": "nlo"}}
    changes = {"datasets": {"relative": {"target": target}}}
    done = relative.snakemake("--dry-run", changes=changes, status=2)
    assert "is computed as 'nlo' itself" in done.stderr
    assert "Traceback" not in done.stderr
