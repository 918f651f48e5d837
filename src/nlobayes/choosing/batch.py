"""The next points: those that reduce the variance of f over the points of interest the most.

A row at x with noise variance n(x) changes the covariance k of f to k(r, s) - k(r, x) k(x, s) /
(k(x, x) + n(x)), whatever its target. The variance summed over the reference points r falls by
sum_r k(x, r)^2 / (k(x, x) + n(x)) (Cohn 1996, Neural Networks 9, 1071; for Gaussian processes Seo
et al. 2000, Proc. IJCNN 3, 241). Of several draws of the scales the mean counts.
"""

from __future__ import annotations

import numpy as np

from nlobayes.errors import InputError

LEAST = 1e-10
"""Share of the variance of a point that is left by rounding, if none is."""


def choose(
    covariances: np.ndarray,
    noise_variance: np.ndarray,
    candidates: np.ndarray,
    reference: np.ndarray,
    count: int,
) -> np.ndarray:
    """Choose points one after the other, each given those before, which keeps them apart.

    It takes as much memory again as the covariances of candidates with reference points.

    Parameters
    ----------
    covariances
        Of f between points (draw, point, point), as `Surrogate.covariances`.
    noise_variance
        Of a row at each point (draw, point), in the same units.
    candidates, reference
        Numbers of the points to choose from, and of those of interest.
    count
        Number of points to choose.

    Returns
    -------
    Numbers of the chosen points (count,), all different, the most useful first.

    Raises
    ------
    InputError
        If there are fewer different candidates than `count`, or no reference points.
    """
    candidates = np.unique(candidates)
    if not 0 < count <= len(candidates):
        raise InputError("choosing.count", count=count, candidates=len(candidates))
    if not len(reference):
        raise InputError("choosing.no_reference")
    across = covariances[:, candidates[:, np.newaxis], reference]
    total = covariances[:, candidates, candidates] + noise_variance[:, candidates]
    least = LEAST * total
    explained = np.einsum("dcr,dcr->dc", across, across)
    of_candidates = np.empty((count, *total.shape))
    of_reference = np.empty((count, len(total), len(reference)))
    chosen, is_free = np.empty(count, int), np.ones(len(candidates), bool)
    for number in range(count):
        gain = np.divide(explained, total, out=np.zeros_like(total), where=total > least)
        chosen[number] = pick = np.where(is_free, gain.mean(axis=0), -np.inf).argmax()
        is_free[pick] = False
        # What each earlier point explains of this one and of the others is taken off.
        before = of_candidates[:number], of_reference[:number]
        own, shared = covariances[:, candidates[pick]], before[0][:, :, pick]
        known = own[:, candidates] - np.einsum("nd,ndc->dc", shared, before[0])
        seen = own[:, reference] - np.einsum("nd,ndr->dr", shared, before[1])
        says = total[:, pick] > least[:, pick]
        root = np.sqrt(np.where(says, total[:, pick], np.inf))[:, np.newaxis]
        known, seen = known / root, seen / root
        overlap = (across @ seen[:, :, np.newaxis])[:, :, 0]
        overlap -= np.einsum("ndc,nd->dc", before[0], np.einsum("ndr,dr->nd", before[1], seen))
        square = np.square(seen).sum(axis=1, keepdims=True)
        explained = np.maximum(explained - 2 * known * overlap + np.square(known) * square, 0.0)
        total = np.maximum(total - np.square(known), 0.0)
        of_candidates[number], of_reference[number] = known, seen
    return candidates[chosen]
