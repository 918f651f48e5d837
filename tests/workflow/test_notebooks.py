"""The notebook from Prospino's files to a surrogate runs in a checkout."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.workflow.conftest import Project


@pytest.mark.slow
@pytest.mark.workflow
def test_files_of_prospino_become_a_surrogate(pristine: Project, tmp_path: Path) -> None:
    project = pristine.copy_to(tmp_path / "project")
    printed = project.run(sys.executable, "notebooks/prospino.py").stdout
    assert "BLOCK PROSPINO_OUTPUT" in printed
    assert "log_density" in printed
    extended = printed[printed.index("converged: ") :]
    assert "draw " in extended
    assert "prepare " not in extended
    assert "<Surrogate of sigma_pb [pb]" in printed
    assert (project.root / "results/surrogates/prospino/n16").is_dir()
