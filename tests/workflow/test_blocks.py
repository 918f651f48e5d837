"""How a run is cut into jobs decides which jobs there are, and none of its draws."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import xarray as xr

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
MODEL = "tiny/n4/fan_in/tolerance_10/tiny/s1"
POSTERIOR = f"results/posterior/{RUN}.nc"
CHAINS = f"results/chains/{RUN}"
GROUPS = ("posterior", "sample_stats", "all_sample_stats", "warmup_sample_stats", "predictions")


def test_a_warm_up_in_two_segments_changes_no_bit(tiny: Project, tmp_path: Path) -> None:
    changes = {"methods": {"tiny": {"warmup": {"segments": 2}}}}
    cut = tiny.copy_to(tmp_path / "project")
    assert cut.built(POSTERIOR, changes=changes) == {"warmup": 4, "draw": 2, "assemble": 1}
    for name in GROUPS:
        xr.testing.assert_identical(tiny.group(name, POSTERIOR), cut.group(name, POSTERIOR))
    for chain in range(2):
        ends = [f"{CHAINS}/{chain}/{name}.nc" for name in ("warmup_0", "warmup_1", "segment_0")]
        for name in ("state", "tuned", "adaptation"):
            whole, last = tiny.group(name, ends[0]), cut.group(name, ends[1])
            xr.testing.assert_identical(whole, last)
        xr.testing.assert_identical(tiny.group("state", ends[2]), cut.group("state", ends[2]))


@pytest.fixture(scope="module")
def double(tiny: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The tiny run in double precision, where two orders of summation stay one chain for long."""
    project = tiny.copy_to(tmp_path_factory.mktemp("double") / "project")
    project.snakemake(POSTERIOR, changes={"precision": "float64"})
    return project


@pytest.mark.parametrize(
    ("execution", "jobs"),
    [
        ({"chains_per_job": 2}, {"warmup": 1, "draw": 1, "assemble": 1}),
        (
            {"chains_per_job": "all", "shards": 2},
            {"pretrain": 2, "warmup": 1, "draw": 1, "assemble": 1},
        ),
    ],
)
def test_chains_or_rows_that_share_a_job_give_the_same_draws(
    double: Project, tmp_path: Path, execution: dict[str, Any], jobs: dict[str, int]
) -> None:
    """Only the order of summation differs, by 1e-16; chaos makes up to 5e-4 sd of it (measured)."""
    together = double.copy_to(tmp_path / "project")
    changes = {"precision": "float64", "execution": execution}
    assert together.built(POSTERIOR, changes=changes) == jobs
    for chain in range(2):
        start = f"results/pretrain/{MODEL}/{chain}.nc"
        xr.testing.assert_identical(double.group("state", start), together.group("state", start))
    first = {"draw": slice(10)}
    alone, shared = (
        project.group("warmup_sample_stats", POSTERIOR).isel(first)
        for project in (double, together)
    )
    xr.testing.assert_allclose(alone, shared, rtol=1e-10, atol=1e-10)
    for name in GROUPS:
        alone, shared = double.group(name, POSTERIOR), together.group(name, POSTERIOR)
        assert alone.coords.identical(shared.coords)
        for variable, values in alone.items():
            atol = 0.03 * float(values.std())
            np.testing.assert_allclose(shared[variable], values, rtol=1e-12, atol=atol)
