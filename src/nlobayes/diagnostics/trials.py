"""Times of computations: trials by the clock and by the CPU, and what is stated of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

QUANTILES = {"q2_5": 0.025, "q16": 0.16, "q84": 0.84, "q97_5": 0.975}


class Trials(NamedTuple):
    """Wall-clock seconds (trial,) and CPU seconds (trial,) of each trial."""

    seconds: np.ndarray
    cpu_seconds: np.ndarray

    def per(self, parts: int) -> Trials:
        """Return the times of one of so many equal parts of the call."""
        return Trials(self.seconds / parts, self.cpu_seconds / parts)


def time_trials(call: Callable[[], Any], trials: int) -> Trials:
    """Call once, which may compile, and then time `trials` calls by both clocks."""
    call()
    found = np.array([_clocked(call) for _ in range(trials)])
    return Trials(*found.T)


def _clocked(call: Callable[[], Any]) -> tuple[float, float]:
    begin, used = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - begin, time.process_time() - used


def milliseconds(name: str, trials: Trials) -> dict[str, float]:
    """Return median, mean and least milliseconds of the trials, and their least CPU milliseconds.

    The last is the time of one undisturbed core, even if the machine is not idle.
    """
    found = 1e3 * trials.seconds
    return {
        f"{name}_ms": float(np.median(found)),
        f"{name}_ms_mean": float(np.mean(found)),
        f"{name}_ms_least": float(np.min(found)),
        f"{name}_ms_cpu": 1e3 * float(np.min(trials.cpu_seconds)),
    }


def quantiles(name: str, trials: Trials) -> dict[str, float]:
    """Return quantiles of the milliseconds of the trials."""
    found = 1e3 * np.quantile(trials.seconds, [*QUANTILES.values()])
    return {f"{name}_ms_{q}": float(value) for q, value in zip(QUANTILES, found, strict=True)}


def cores_used(*timed: Trials) -> float:
    """Return CPU seconds per wall-clock second; below one, other programs used the machine."""
    wall, cpu = (np.concatenate(part).sum() for part in zip(*timed, strict=True))
    return float(cpu / wall)
