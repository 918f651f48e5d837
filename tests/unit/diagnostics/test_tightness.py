"""The tightness of a posterior, and its description."""

import numpy as np
import pytest

from nlobayes.diagnostics import tightness


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
