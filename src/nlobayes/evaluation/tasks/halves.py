"""Scores of the error bars on rows that the noise was not fitted to.

Held-out rows are halved at random; the noise is fitted on one half and scored on the other, both
ways, and the scores are averaged over several halvings. A single halving has the binomial error of
half of the rows.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.evaluation.calibration.calibration import CENTRAL_LEVELS
from nlobayes.evaluation.calibration.conditional import DECILES, equal_count_bins
from nlobayes.evaluation.predictive.noise_fit import fit_noise, lies_about_mean, noise_at_points
from nlobayes.evaluation.predictive.predictive_density import (
    PredictiveNoise,
    log_predictive_density,
    predictive_cdf,
)
from nlobayes.evaluation.run_evaluation import Halves
from nlobayes.evaluation.scores.regression.proper_scores import crps_per_point

CANDIDATES = ("gaussian", "fitted_student_t", "conformal")
"""Families to choose from: one scale with light or fitted tails, or scales of each point."""
OF_FEW = ("gaussian", "fitted_student_t", "scaled_student_t")
"""Families to choose from where rows are too few for `conformal`."""
ALONG = "scaled_gaussian"
"""Family to choose besides, if the spread of the residuals changes along the prediction."""

HALVINGS = 5
"""Random halvings, over which scores are averaged."""
FEWEST_ROWS, FEWEST_OF_CONFORMAL = 40, 80
"""Fewest held-out rows, and of `conformal`, which needs 40 in each half."""
SCORES = ("coverage_68", "coverage_95", "lppd", "crps")

_MOST_DRAWS = 200
"""Most draws, at even distances, for the fits of the halves."""


class HeldOutRows(NamedTuple):
    """Points that were not trained on.

    Draws (sample, point) and targets (point,) on the model scale, the covariate (point,) and the
    inputs of the network (point, feature).
    """

    draws: np.ndarray
    observed: np.ndarray
    covariate: np.ndarray
    features: np.ndarray


def choose_family(held: HeldOutRows, seed: Sequence[int], *, changes: bool = False) -> Halves:
    """Fit every candidate to the same halves, and score the one with the highest log score.

    Parameters
    ----------
    held
        Points that were not trained on.
    seed
        Seed of the halvings.
    changes
        Whether the spread of the residuals changes along the prediction.

    Returns
    -------
    Below 80 points `scaled_student_t` takes the place of `conformal`. Below 40 points scores of
    `gaussian`, which needs the fewest rows for its fit, or of `scaled_gaussian` if the spread
    changes.
    """
    points = len(held.observed)
    among = OF_FEW if points < FEWEST_OF_CONFORMAL else CANDIDATES
    candidates = (*among, ALONG) if changes else among
    if points < FEWEST_ROWS:
        return _too_few(points, FEWEST_ROWS, ALONG if changes else among[0])
    rng = np.random.default_rng(seed)
    halvings = _halve(points, rng)
    fitted = {family: _fit(held, halvings, family) for family in candidates}
    found = {family: _log_score(halves) for family, halves in fitted.items()}
    best = max(found, key=found.__getitem__)
    return {**_score(held, fitted[best], rng, best), "candidates": found}


def halved_scores(held: HeldOutRows, rng: np.random.Generator, *, family: str) -> Halves:
    """Score the noise of a family on halves of the points that it was not fitted to.

    Noise about the draws is fitted and scored with at most 200 of them, evenly spread.

    Parameters
    ----------
    held
        Points that were not trained on.
    rng
        Source of the halvings and of the noise in the CRPS.
    family
        Family of the noise.

    Returns
    -------
    Averages over points and halvings; in `deciles` one value for each of ten bins of the covariate
    (fewer where these had fewer than 20 points). The scores are None below 40 points, or 80 for
    `conformal`.
    """
    points = len(held.observed)
    fewest = FEWEST_OF_CONFORMAL if family == "conformal" else FEWEST_ROWS
    if points < fewest:
        return _too_few(points, fewest, family)
    return _score(held, _fit(held, _halve(points, rng), family), rng, family)


class _Half(NamedTuple):
    """Rows (row,), their draws, the noise fitted to the others, and their log densities (row,)."""

    rows: np.ndarray
    draws: np.ndarray
    noise: PredictiveNoise
    lppd: np.ndarray


def _too_few(points: int, fewest: int, family: str) -> Halves:
    return {
        "family": family,
        "halvings": 0,
        "points": points,
        "coverage_68": None,
        "coverage_95": None,
        "lppd": None,
        "crps": None,
        "deciles": None,
        "undefined": f"halves need {fewest} held-out rows or more, there are {points}",
    }


def _halve(points: int, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Halve the points at random, and give the rows to fit and to score, both ways."""
    ways = []
    for _ in range(HALVINGS):
        first, second = np.array_split(rng.permutation(points), 2)
        ways += [(first, second), (second, first)]
    return ways


def _fit(
    held: HeldOutRows, halvings: list[tuple[np.ndarray, np.ndarray]], family: str
) -> list[_Half]:
    draws = _few(held.draws, family)
    halves = []
    for seen, scored in halvings:
        fitted = fit_noise(
            *(draws[:, seen], held.observed[seen]),
            family=family,
            features=held.features[seen],
            covariate=held.covariate[seen],
        )
        there = draws[:, scored]
        noise = noise_at_points(fitted, there, held.features[scored])
        density = log_predictive_density(there, held.observed[scored], noise)
        halves.append(_Half(scored, there, noise, density))
    return halves


def _few(draws: np.ndarray, family: str) -> np.ndarray:
    """Take some draws, or two of the same mean and sd if the noise needs only these."""
    if lies_about_mean(family):
        mean, spread = draws.mean(axis=0), draws.std(axis=0)
        return np.stack([mean - spread, mean + spread])
    return draws[np.unique(np.linspace(0, len(draws) - 1, _MOST_DRAWS).round().astype(int))]


def _log_score(halves: list[_Half]) -> float:
    """Average over points and halvings; each point is scored once in each."""
    return float(np.concatenate([half.lppd for half in halves]).mean())


def _score(held: HeldOutRows, halves: list[_Half], rng: np.random.Generator, family: str) -> Halves:
    """Average all scores over points and halvings, and over halvings in bins of the covariate."""
    points, covariate = len(held.observed), held.covariate
    each = {name: np.zeros(points) for name in SCORES}
    for rows, draws, noise, lppd in halves:
        observed = held.observed[rows]
        central = np.abs(2 * predictive_cdf(draws, observed, noise) - 1)
        each["coverage_68"][rows] += (central <= CENTRAL_LEVELS["coverage_68"]) / HALVINGS
        each["coverage_95"][rows] += (central <= CENTRAL_LEVELS["coverage_95"]) / HALVINGS
        each["lppd"][rows] += lppd / HALVINGS
        each["crps"][rows] += crps_per_point(draws, observed, noise, rng) / HALVINGS
    bins = equal_count_bins(covariate, DECILES)
    edges = {
        "low": [float(covariate[rows].min()) for rows in bins],
        "high": [float(covariate[rows].max()) for rows in bins],
    }
    binned = {name: [float(each[name][rows].mean()) for rows in bins] for name in SCORES}
    return {
        "family": family,
        "halvings": HALVINGS,
        "points": points,
        "coverage_68": float(each["coverage_68"].mean()),
        "coverage_95": float(each["coverage_95"].mean()),
        "lppd": float(each["lppd"].mean()),
        "crps": float(each["crps"].mean()),
        "deciles": edges | binned,
    }
