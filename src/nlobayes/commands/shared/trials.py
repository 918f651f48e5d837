"""How long a call takes: many trials and their summary."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

QUANTILES = {"q2_5": 0.025, "q16": 0.16, "q84": 0.84, "q97_5": 0.975}


class Trials(NamedTuple):
    """Seconds on the wall of each trial (trial,), and CPU seconds of the process in it (trial,)."""

    seconds: np.ndarray
    cpu_seconds: np.ndarray

    def per(self, parts: int) -> Trials:
        """Give what one of so many equal parts of the call takes."""
        return Trials(self.seconds / parts, self.cpu_seconds / parts)


def time_trials(call: Callable[[], Any], trials: int) -> Trials:
    """Call once, which may compile, and then so many times by both clocks."""
    call()
    found = np.array([_clocked(call) for _ in range(trials)])
    return Trials(*found.T)


def _clocked(call: Callable[[], Any]) -> tuple[float, float]:
    begin, used = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - begin, time.process_time() - used


def milliseconds(name: str, trials: Trials) -> dict[str, float]:
    """Name median, mean and least milliseconds of the trials, and their least CPU milliseconds.

    The last is what one core takes that nothing disturbs, also where the machine is not idle.
    """
    found = 1e3 * trials.seconds
    return {
        f"{name}_ms": float(np.median(found)),
        f"{name}_ms_mean": float(np.mean(found)),
        f"{name}_ms_least": float(np.min(found)),
        f"{name}_ms_cpu": 1e3 * float(np.min(trials.cpu_seconds)),
    }


def quantiles(name: str, trials: Trials) -> dict[str, float]:
    """Name the milliseconds that some shares of the trials stay below."""
    found = 1e3 * np.quantile(trials.seconds, [*QUANTILES.values()])
    return {f"{name}_ms_{q}": float(value) for q, value in zip(QUANTILES, found, strict=True)}


def cores_used(*timed: Trials) -> float:
    """Give CPU seconds per second on the wall: below one, the machine did other work as well."""
    wall, cpu = (np.concatenate(part).sum() for part in zip(*timed, strict=True))
    return float(cpu / wall)
