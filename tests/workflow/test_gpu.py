"""Chains on a GPU have the posterior of chains on a CPU; skipped without a GPU."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workflow.conftest import Project

POSTERIOR = "results/posterior/embedded_small/n16/fan_in/tolerance_10/adam/hmc_ci/s1.nc"
ANY_DEVICE = ("env", "--unset=JAX_PLATFORMS")
LOOK = "import jax, sys; sys.exit(not jax.devices('gpu'))"


@pytest.fixture(scope="module", autouse=True)
def needs_a_gpu() -> None:
    """Skip where JAX finds no GPU, in a process of its own, because this one is on the CPU."""
    looking = [*ANY_DEVICE, sys.executable, "-c", LOOK]
    if subprocess.run(looking, capture_output=True).returncode:
        pytest.skip("JAX finds no GPU on this machine")


def test_chains_on_a_gpu_have_the_posterior_of_a_cpu(
    ci: Project, pristine: Project, tmp_path: Path
) -> None:
    """Means and sds of f at 200 points differ by Monte-Carlo errors; false alarms: one in 1000."""
    gpu = pristine.copy_to(tmp_path / "gpu")
    gpu.run(*ANY_DEVICE, "snakemake", POSTERIOR, "--profile", "profiles/gpu")
    posteriors = [f"--posterior={project.root / POSTERIOR}" for project in (ci, gpu)]
    gpu.run("nlobayes", "agree", *posteriors, "--out", "agreement.json")
    found = json.loads((gpu.root / "agreement.json").read_text())
    assert found["passed"], found["pairs"]
