"""Hooks of pytest that keep a worker small, and make the test that breaks its bound an error."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

KEPT_MB = 1000
"""What a worker may keep between two files of tests without looking for more to give back."""

MOST_MB = 2048
"""What a worker may ever take. Processes that tests start are counted apart."""

STATUS = Path("/proc/self/status")


def taken_mb(field: str) -> int:
    """Read the memory of this process now (`VmRSS`) or at its peak (`VmHWM`); 0 where unknown."""
    if not STATUS.exists():
        return 0
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith(f"{field}:"))


def give_back() -> None:
    """Drop what was compiled, collect what hangs in circles, and return the freed pages."""
    if jax := sys.modules.get("jax"):
        jax.clear_caches()
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, None, None]:
    """Give back after each file, and fail the test in which the worker first took too much."""
    yield
    if (nextitem is None or nextitem.path != item.path) and taken_mb("VmRSS") > KEPT_MB:
        give_back()
    peak, worst = taken_mb("VmHWM"), getattr(item.session, "worst_mb", MOST_MB)
    if peak > worst:
        item.session.worst_mb = peak  # type: ignore[attr-defined]
        pytest.fail(f"the worker took {peak} MB up to this test, more than {worst}", pytrace=False)
