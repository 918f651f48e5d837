"""Loss of an approximate update in function space, relative to the full posterior."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlobayes.errors import InputError


class Loss(NamedTuple):
    """Differences of draws from those of the reference at every point (point,), as Gaussians."""

    divergence: np.ndarray
    """Kullback-Leibler divergence of the reference from the draws, in nats."""
    shift: np.ndarray
    """Difference of the means in units of the reference's sd."""
    sd_ratio: np.ndarray
    """The sd of the draws over that of the reference."""


def function_loss(found: np.ndarray, reference: np.ndarray) -> Loss:
    """Compare draws of f (draw, point) with draws of the reference at the same points.

    Raises InputError if the points differ in number, or a draw is not finite.
    """
    if found.shape[1:] != reference.shape[1:] or found.ndim != 2:
        raise InputError("evaluation.function_shapes", found=found.shape, reference=reference.shape)
    if not (np.isfinite(found).all() and np.isfinite(reference).all()):
        raise InputError("evaluation.function_not_finite")
    shift = (found.mean(axis=0) - reference.mean(axis=0)) / reference.std(axis=0, ddof=1)
    ratio = found.std(axis=0, ddof=1) / reference.std(axis=0, ddof=1)
    divergence = np.log(ratio) + (1 + shift**2) / (2 * ratio**2) - 0.5
    return Loss(divergence, shift, ratio)


def summarise(loss: Loss) -> dict[str, float]:
    """Average a loss over the points: means of divergences, root mean squares of shifts."""
    return {
        "divergence": float(loss.divergence.mean()),
        "shift": float(np.sqrt(np.mean(loss.shift**2))),
        "sd_ratio": float(np.exp(np.mean(np.log(loss.sd_ratio)))),
    }
