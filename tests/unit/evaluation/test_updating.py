"""Losses of a shortcut against divergences of Gaussians by numerical integration."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from benchmarks.sequential import function_loss, summarise


def draws_of(mean: float, sd: float) -> np.ndarray:
    """Four draws of exactly this mean and sd."""
    standard = np.array([-1.5, -0.5, 0.5, 1.5])
    return mean + sd * (standard / standard.std(ddof=1))[:, np.newaxis]


@pytest.mark.parametrize(("mean", "sd"), [(1.0, 2.0), (1.3, 2.0), (1.0, 3.0), (0.2, 0.5)])
def test_the_divergence_is_the_integral(mean: float, sd: float) -> None:
    loss = function_loss(draws_of(mean, sd), draws_of(1.0, 2.0))
    found, truth = norm(mean, sd), norm(1.0, 2.0)
    expected, _ = quad(
        lambda x: truth.pdf(x) * (truth.logpdf(x) - found.logpdf(x)), -19, 21, epsabs=1e-10
    )
    assert loss.divergence[0] == pytest.approx(expected, abs=1e-7)
    assert loss.shift[0] == pytest.approx((mean - 1) / 2)
    assert loss.sd_ratio[0] == pytest.approx(sd / 2)


def test_the_summary_averages_over_points() -> None:
    found = np.concatenate([draws_of(1.0, 1.0), draws_of(2.0, 4.0)], axis=1)
    reference = np.concatenate([draws_of(1.0, 2.0), draws_of(0.0, 2.0)], axis=1)
    loss = function_loss(found, reference)
    summary = summarise(loss)
    assert summary["shift"] == pytest.approx(np.sqrt(0.5))
    assert summary["sd_ratio"] == pytest.approx(1.0)
    assert summary["divergence"] == pytest.approx(loss.divergence.mean())
