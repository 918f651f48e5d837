"""Which sizes of a network a posterior has, and how chains went between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nlobayes.diagnostics import convergence

TRIED, ACCEPTANCE, SIZE = "jumps_", "jump_acceptance_", "size"
"""Sample stats: how often each jump was tried, with what acceptance, and where each draw is."""
BETWEEN_SIZES = "between_sizes"


def of_sizes(sizes: Mapping[str, np.ndarray]) -> dict[str, dict[str, list[float | None]]]:
    """Give the posterior of each number, with its Monte-Carlo error.

    Parameters
    ----------
    sizes
        The number at stored draws (chain, draw), of units or of layers, by name.

    Returns
    -------
    By name, equally long: every `number` that was drawn, its `probability`, and the Monte-Carlo
    standard error `mcse` of that, None where no chain came to it and left.
    """
    found = {}
    for name, drawn in sizes.items():
        numbers = np.unique(drawn)
        indicators = (drawn[..., np.newaxis] == numbers).astype(float)
        errors = convergence.mcse_mean(indicators)
        found[name] = {
            "number": numbers.tolist(),
            "probability": indicators.mean(axis=(0, 1)).tolist(),
            "mcse": [float(error) if np.isfinite(error) else None for error in errors],
        }
    return found


def of_jumps(stats: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Give the acceptance of each jump, and how chains went between sizes.

    Parameters
    ----------
    stats
        Sample stats of every draw (chain, draw), by name.

    Returns
    -------
    For each jump how often it was `tried` and its mean `acceptance`; under `between_sizes` the
    share of draws at another size than the one before.
    """
    tried = {name.removeprefix(TRIED): stats[name] for name in stats if name.startswith(TRIED)}
    jumps: dict[str, Any] = {}
    for name, counts in tried.items():
        accepted = np.nansum(counts * stats[ACCEPTANCE + name])
        total = int(counts.sum())
        acceptance = float(accepted / total) if total else None
        jumps[name] = {"tried": total, "acceptance": acceptance}
    return {**jumps, BETWEEN_SIZES: float(np.mean(np.diff(stats[SIZE], axis=1) != 0))}
