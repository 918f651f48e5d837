"""The noise that a likelihood states: its laws against SciPy's, its mixture against simulation."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from nlobayes.distributions.laws import LAWS
from nlobayes.evaluation.tasks.stated import scores
from nlobayes.metrics.shown import MONTE_CARLO

DRAWS, POINTS = 7, 5
SHAPES = {"scalar": (), "draw": (DRAWS, 1), "point": (1, POINTS), "both": (DRAWS, POINTS)}
FAMILIES = ("gaussian", "laplace", "student_t")


def noise_of(family: str, shape: tuple[int, ...], seed: int = 1) -> Any:
    """A noise of random scales and, of every draw, random degrees of freedom."""
    rng = np.random.default_rng(seed)
    draws = shape[0] if shape else 1
    degrees = rng.uniform(2.1, 30, (draws, 1)) if family == "student_t" else None
    return LAWS[family].build(scale=rng.uniform(0.1, 3, shape), degrees_of_freedom=degrees)


def law(noise: Any) -> Any:
    return stats.t(noise.degrees_of_freedom, scale=noise.scale)


def simulate(family: str, scale: np.ndarray, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw f about the truth, and targets about one f that was drawn as all others were."""
    points = np.broadcast_shapes(scale.shape, (1, 40_000))[1]
    rng = np.random.default_rng(5)
    truth, f = rng.normal(0, 0.5, points), rng.normal(0, 0.5, (draws, points))
    by = {"gaussian": rng.normal, "laplace": rng.laplace}
    standard = by[family](size=points) if family in by else rng.standard_t(4.0, size=points)
    return f, truth + scale[0] * standard


@pytest.mark.parametrize("family", FAMILIES)
def test_the_mixture_has_its_nominal_coverage(family: str) -> None:
    """Within four binomial standard errors, at scales that differ from point to point."""
    scale = np.random.default_rng(6).uniform(0.1, 1, (1, 40_000))
    draws, observed = simulate(family, scale, 400)
    degrees = np.array([[4.0]]) if family == "student_t" else None
    found = scores(draws, observed, LAWS[family].build(scale=scale, degrees_of_freedom=degrees))
    for level in (0.68, 0.95):
        error = np.sqrt(level * (1 - level) / 40_000)
        apart = found[f"coverage_{100 * level:.0f}"] - level
        assert abs(apart) < 4 * error + 0.001  # 400 draws represent all


@pytest.mark.parametrize("shape", SHAPES)
def test_the_mixture_averages_densities_over_draws(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many points are taken at once."""
    noise, rng = noise_of("student_t", SHAPES[shape]), np.random.default_rng(7)
    draws, observed = rng.normal(size=(DRAWS, POINTS)), rng.normal(size=POINTS)
    pointwise = np.log(law(noise).pdf(observed - draws).mean(axis=0))
    whole = scores(draws, observed, noise)
    assert whole["lppd"] == pytest.approx(pointwise.mean())
    assert whole["lppd_se"] == pytest.approx(pointwise.std(ddof=1) / np.sqrt(POINTS))
    probability = law(noise).cdf(observed - draws).mean(axis=0)
    within = np.mean((probability > 0.16) & (probability < 0.84))
    assert whole["coverage_68"] == pytest.approx(within)
    parts = [slice(0, 2), slice(2, POINTS)]
    chunks = "nlobayes.evaluation.tasks.stated.point_chunks"
    monkeypatch.setattr(chunks, lambda *_: parts)
    again = scores(draws, observed, noise)
    assert again.pop(MONTE_CARLO) == pytest.approx(whole.pop(MONTE_CARLO))
    assert again == pytest.approx(whole)


@pytest.mark.parametrize("shape", SHAPES)
def test_points_keep_their_own_noise(shape: str) -> None:
    noise, residual = noise_of("laplace", SHAPES[shape]), np.ones((DRAWS, POINTS))
    chosen = np.array([False, True, False, True, True])
    expected = noise.logpdf(residual)[:, chosen]
    found = noise.at(chosen).logpdf(residual[:, chosen])
    np.testing.assert_array_equal(found, expected)
