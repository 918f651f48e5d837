"""Where divergences sit, and how tight a posterior is, against draws moved by hand."""

import numpy as np
import pytest

from nlobayes.diagnostics import tightness
from nlobayes.diagnostics.draws import located


def test_deviations_by_hand() -> None:
    """Eight values: mean 3, sd sqrt(7); one divergent draw at 10, the others at 2."""
    function = np.full((1, 8, 1), 2.0)
    function[0, 5] = 10.0
    found = located(function, np.arange(8)[None] == 5)
    assert found.deviation is not None
    assert found.expected is not None
    assert found.deviation[0] == pytest.approx(7 / np.sqrt(7))
    assert found.expected[0] == pytest.approx(1 / np.sqrt(7))


@pytest.mark.statistical
def test_the_input_at_which_draws_diverge_is_found() -> None:
    """Divergent where |f| > 2 at point 3; elsewhere both are E|z| = 0.798, within 5 errors."""
    function = np.random.default_rng(1).normal(size=(4, 2000, 6))
    diverging = np.abs(function[:, :, 3]) > 2
    found = located(function, diverging)
    assert found.deviation is not None
    assert found.expected is not None
    assert np.argmax(found.deviation) == 3
    assert found.deviation[3] > 2
    others = np.arange(6) != 3
    for mean, draws in ((found.deviation, diverging.sum()), (found.expected, 8000)):
        np.testing.assert_allclose(mean[others], 0.798, atol=5 * 0.603 / np.sqrt(draws))


def test_distances_are_in_posterior_sd() -> None:
    rng = np.random.default_rng(2)
    function, diverging = rng.normal(size=(2, 50, 3)), rng.random((2, 50)) < 0.2
    one, other = located(function, diverging), located(5 + 100 * function, diverging)
    for first, second in zip(one, other, strict=True):
        assert first is not None
        assert second is not None
        np.testing.assert_allclose(first, second)


def test_tightness_of_quickstart_raw() -> None:
    assert tightness.tightness(1000, 0.05) == pytest.approx(4e5)


def test_errors_loosen_row_by_row() -> None:
    """A row whose error is that of the noise counts half; one of enormous error not at all."""
    errors = np.array([0.0, 0.1, 1e9])
    assert tightness.tightness(3, 0.1, errors) == pytest.approx(1.5 / 0.1**2)
    assert tightness.tightness(3, 0.1, 0 * errors) == pytest.approx(tightness.tightness(3, 0.1))


def test_only_tight_posteriors_are_warned_about() -> None:
    assert "WARNING" not in tightness.describe(4e5)
    assert "raise sigma" in tightness.describe(6e5)
