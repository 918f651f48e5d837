"""Hooks of pytest that keep a worker small, and make the test that breaks its bound an error."""

import ctypes
import gc
import sys
from collections.abc import Generator
from dataclasses import dataclass
from functools import _lru_cache_wrapper
from pathlib import Path

import pytest

KEPT_MB = 700
"""A worker above this gives memory back after the last test of a file."""

ALMOST_MB, GROWTH_MB = 1000, 150
"""One above the first does so within a file, whenever it has grown by the second since."""

MOST_MB = 2048
"""What a worker may ever take. Processes that tests start are counted apart."""

STATUS = Path("/proc/self/status")


@dataclass
class Memory:
    """What a worker kept when it last gave back, and the peak that was told."""

    left_mb: int = 0
    worst_mb: int = 0


MEMORY = pytest.StashKey[Memory]()


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


def forget(item: pytest.Item) -> None:
    """Empty the caches of functions that the file of a test defines or imports."""
    for value in [*vars(getattr(item, "module", None) or object).values()]:
        if isinstance(value, _lru_cache_wrapper):
            value.cache_clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, None, None]:
    """Give back what has piled up, and fail the test in which the worker first took too much.

    What a file has compiled, its other tests use again: to compile it anew costs more than memory.
    """
    yield
    memory = item.session.stash.setdefault(MEMORY, Memory())
    ends = nextitem is None or nextitem.path != item.path
    if ends:
        forget(item)
    if taken_mb("VmRSS") > (KEPT_MB if ends else max(ALMOST_MB, memory.left_mb + GROWTH_MB)):
        give_back()
        memory.left_mb = taken_mb("VmRSS")
    peak, worst = taken_mb("VmHWM"), memory.worst_mb or MOST_MB
    if peak > worst:
        memory.worst_mb = peak
        pytest.fail(f"the worker took {peak} MB up to this test, more than {worst}", pytrace=False)
