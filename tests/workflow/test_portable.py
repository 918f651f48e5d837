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
from tests.installed import ROOT

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
OTHER_CACHES = ((), EMULATOR, ("qemu-x86_64", "-cpu", "Haswell,vendor=AuthenticAMD"))
"""This processor, and two emulated ones with first caches of 32 and of 64 KiB."""
GRADIENTS = """
import hashlib
from nlobayes import runtime
runtime.use_common_instructions()
runtime.configure("float32")
import jax, jax.numpy as jnp, numpy as np
from tests.densities import density_of
from tests.members import likelihood
from tests.unit.model.by_hand import PRIORS
from nlobayes.model.rows import choose_layout
layout, chunk = choose_layout(32)
(prior, _), noise = PRIORS["normal"], likelihood("gaussian", sigma=0.1)
density = density_of((5, 32, 1), prior, noise, layout=layout, chunk=chunk)
rng = np.random.default_rng(0)
data = density.place(rng.normal(size=(1000, 5)), rng.normal(size=1000))
chains = jnp.asarray(rng.normal(size=(4, density.size)), density.dtype)
gradient = jax.grad(density.log_likelihood)
found = jax.jit(gradient)(chains[0], data), jax.jit(jax.vmap(gradient, (0, None)))(chains, data)
print(hashlib.sha256(b"".join(np.asarray(each).tobytes() for each in found)).hexdigest())
"""


@pytest.mark.skipif(not shutil.which(EMULATOR[0]), reason="needs qemu-user")
def test_gradients_round_alike_whatever_the_first_cache() -> None:
    """Of 1000 rows, for one chain and for four in one job (four minutes)."""
    environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"} | {PORTABLE: "1"}
    found = {
        subprocess.run(
            [*emulator, sys.executable, "-c", GRADIENTS],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for emulator in OTHER_CACHES
    }
    assert len(found) == 1


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
