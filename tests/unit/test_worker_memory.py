"""The bound on the memory of test workers holds: whoever breaks it is told, once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from tests import worker_memory

TESTS = Path(worker_memory.__file__).parent
GREEDY = """\
import numpy as np
def test_small(): pass
def test_large(): assert np.ones(50_000_000).sum() == 50_000_000
def test_after(): pass
"""


@pytest.mark.parametrize("most_mb", [250, 2048])
def test_the_test_that_takes_too_much_is_an_error_and_the_next_is_not(
    tmp_path: Path, most_mb: int
) -> None:
    """400 MB in one test: too much for a worker of 250 MB, no matter for one of 2 GB."""
    (tmp_path / "test_greedy.py").write_text(GREEDY)
    (tmp_path / "conftest.py").write_text(
        f"import worker_memory\nfrom worker_memory import *\nworker_memory.MOST_MB = {most_mb}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rE", "-p", "no:cacheprovider", tmp_path],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(TESTS), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    errors = [line for line in done.stdout.splitlines() if line.startswith("ERROR test_greedy")]
    told = most_mb == 250
    assert done.returncode == told, done.stdout
    assert len(errors) == told
    assert all("::test_large" in error for error in errors)


def test_giving_back_drops_what_was_compiled() -> None:
    twice: Any = jax.jit(lambda x: 2 * x)
    twice(jnp.ones(3))
    assert twice._cache_size() == 1
    worker_memory.give_back()
    assert twice._cache_size() == 0
    assert twice(jnp.ones(3)).tolist() == [2, 2, 2]


def test_memory_that_was_freed_is_returned() -> None:
    """100 MB in pieces that the allocator would keep."""
    held = [bytearray(50_000) for _ in range(2000)]
    kept = held[::1000]
    before = worker_memory.taken_mb("VmRSS")
    del held
    worker_memory.give_back()
    assert worker_memory.taken_mb("VmRSS") < before - 80
    assert worker_memory.taken_mb("VmHWM") >= before
    assert len(kept) == 2
