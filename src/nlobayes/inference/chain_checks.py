"""Checks that refuse failed chains: never moved, lost their density, or unusable tuning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nlobayes.errors import InputError

COLLAPSED = 1e-6
"""Ratio of a step size to its initial value below which it has collapsed."""
STANDS_STILL = 1e-4
"""The same relative to the decoherence length, for a microcanonical kernel."""


def check_alive(
    stats: Mapping[str, np.ndarray],
    chains: Sequence[int],
    where: str,
    *,
    moved_before: bool = False,
) -> None:
    """Refuse steps (chain, draw) in which a chain lost its density or never moved.

    Chains that `moved_before` may stand still: their earlier draws count, and R-hat detects it.

    Raises InputError with the number of the chain and the remedy.
    """
    log_density = stats["lp"]
    for row, chain in enumerate(chains):
        broken = np.flatnonzero(~np.isfinite(log_density[row]))
        if len(broken):
            raise InputError(
                "inference.density_lost",
                where=where,
                chain=chain,
                value=log_density[row, broken[0]],
                step=int(broken[0]),
            )
        if not moved_before and log_density.shape[1] > 1 and np.ptp(log_density[row]) == 0:
            raise InputError(
                "inference.never_moved",
                where=where,
                chain=chain,
                steps=log_density.shape[1],
                step_size=stats["step_size"][row, -1],
                acceptance=stats["acceptance_rate"][row].mean(),
            )


def check_tuned(
    tuned: Mapping[str, np.ndarray], chains: Sequence[int], where: str, *, begin: float
) -> None:
    """Refuse tuned values (chain, ...), learned from a step size `begin`, that cannot move a chain.

    Raises InputError if anything is not finite, or a step size collapsed.
    """
    for name, array in tuned.items():
        for chain, value in zip(chains, array, strict=True):
            if not np.isfinite(value).all():
                raise InputError("inference.tuned_not_finite", where=where, name=name, chain=chain)
    for chain, step_size in zip(chains, tuned["step_size"], strict=True):
        length = np.max(tuned.get("decoherence_length", 0.0))
        if np.min(step_size) < max(COLLAPSED * begin, STANDS_STILL * length):
            raise InputError(
                "inference.step_size_collapsed",
                where=where,
                chain=chain,
                begin=begin,
                step_size=np.min(step_size),
            )


def describe_tuned(tuned: Mapping[str, np.ndarray], chains: Sequence[int]) -> str:
    """Return one line per chain with the adapted values, which are now frozen."""
    return "\n".join(
        f"chain {chain}, frozen: "
        + ", ".join(f"{name} {_describe(array[row])}" for name, array in tuned.items())
        for row, chain in enumerate(chains)
    )


def _describe(value: np.ndarray) -> str:
    if value.size == 1:
        return f"{value.item():.4g}"
    return f"{value.shape} from {value.min():.3g} to {value.max():.3g}"
