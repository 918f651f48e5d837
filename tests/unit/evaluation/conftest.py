"""Draws and observations that scores are computed from."""

import numpy as np
import pytest


@pytest.fixture
def split() -> tuple[np.ndarray, np.ndarray]:
    """Seven draws about 60 observations."""
    rng = np.random.default_rng(1)
    observed = rng.normal(0, 1, 60)
    return observed + rng.normal(0, 0.1, (7, 60)), observed
