"""Portable results have equal digits on an emulated processor: other instructions and caches."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nlobayes.runtime import PORTABLE

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.slow

EMULATOR = ("qemu-x86_64", "-cpu", "Haswell")
IN_ONE_PROCESS = """
import shlex, sys
from nlobayes.runtime import use_common_instructions
use_common_instructions()
from nlobayes.cli import app
for line in sys.stdin:
    app(shlex.split(line)[1:], standalone_mode=False)
"""
"""Run commands of lines; an emulated process takes a minute to import JAX."""


@pytest.mark.skipif(not shutil.which(EMULATOR[0]), reason="needs qemu-user")
def test_stages_round_alike_on_an_emulated_processor(unbuilt: Project, tmp_path: Path) -> None:
    """From the table to the surrogate: NumPy, OpenBLAS and XLA (six minutes).

    Figures are left out, because the emulator crashes in one of them. Its processor has no
    AVX-512, a first cache of 32 kB, and exact reciprocal square roots.
    """
    planned = unbuilt.run("snakemake", "--dry-run", "--printshellcmds").stdout
    commands = re.findall(r"(nlobayes (?!plot)[a-z_]+ --.*?) 2> ", planned)
    assert len(commands) > 15
    made = []
    for name, emulator in (("native", ()), ("emulated", EMULATOR)):
        (folder := tmp_path / name).mkdir()
        subprocess.run(
            [*emulator, sys.executable, "-c", IN_ONE_PROCESS],
            input="\n".join(commands),
            cwd=folder,
            env={k: v for k, v in os.environ.items() if k != "XLA_FLAGS"} | {PORTABLE: "1"},
            text=True,
            check=True,
        )
        files = (path for path in (folder / "results").rglob("*") if path.is_file())
        made.append({path.relative_to(folder): path.read_bytes() for path in files})
    native, emulated = made
    assert native.keys() == emulated.keys()
    assert [path for path in native if native[path] != emulated[path]] == []
