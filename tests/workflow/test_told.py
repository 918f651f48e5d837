"""What a person reads: a line per job, and at the end in words what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
JOBS = 20
"""Of the tiny study, its target not counted."""


def said(tiny: Project, stream: str) -> list[str]:
    """What the run of the tiny study printed."""
    return tiny.root.with_name(stream).read_text().splitlines()


def test_the_end_of_a_run_that_did_not_converge_says_so_and_what_to_do(tiny: Project) -> None:
    """Its status is 0 all the same; the run is called by its grid."""
    lines = said(tiny, "stdout")
    assert any(line.startswith("NOT CONVERGED, ") and line.endswith(": tiny") for line in lines)
    assert any(line.startswith("  R-hat of f: ") and "at most 1.01" in line for line in lines)
    assert any(line.startswith("  next: Draw more: raise segments") for line in lines)
    assert "0 of 1 runs converged and are calibrated" in lines
    assert f"surrogate of tiny: results/surrogates/{RUN}.nc" in lines
    assert any(f"predict results/surrogates/{RUN}.nc points.csv" in line for line in lines)


def test_each_job_is_a_line_and_the_log_keeps_every_word(tiny: Project) -> None:
    """Beside how far the run is, which a slow machine says once it has been at work for long."""
    lines = [line for line in said(tiny, "stderr") if "  tiny: " not in line]
    assert sum(f" of {JOBS + 1}  " in line for line in lines) == JOBS
    assert any(line.endswith("warmup  tiny, chain group 1, segment 0") for line in lines)
    assert len(lines) < JOBS + 32
    assert not any("resources:" in line or "nlobayes draw" in line for line in lines)
    kept = min((tiny.root / ".snakemake/log").iterdir()).read_text()
    assert kept.count("    resources: ") >= JOBS
    assert "reason: " in kept
