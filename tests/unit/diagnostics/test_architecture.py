"""Probabilities of sizes with their errors, and what became of the jumps between them."""

from __future__ import annotations

import numpy as np
import pytest

from nlobayes.diagnostics.architecture import of_jumps, of_sizes

CHAINS, DRAWS = 4, 2000


@pytest.mark.statistical
def test_probabilities_lie_within_their_errors() -> None:
    """Independent draws: the error is that of a binomial, and five of them hold the truth."""
    truth = np.array([0.6, 0.3, 0.1])
    drawn = 2.0 + np.random.default_rng(1).choice(3, size=(CHAINS, DRAWS), p=truth)
    found = of_sizes({"width_1": drawn})["width_1"]
    assert found["number"] == [2.0, 3.0, 4.0]
    errors = np.array(found["mcse"], float)
    np.testing.assert_allclose(errors, np.sqrt(truth * (1 - truth) / drawn.size), rtol=0.15)
    assert (np.abs(found["probability"] - truth) < 5 * errors).all()


def test_sticky_chains_have_larger_errors_and_still_ones_none() -> None:
    rng = np.random.default_rng(2)
    fast = rng.choice(2, size=(CHAINS, DRAWS)).astype(float)
    sticky = np.repeat(fast[:, : DRAWS // 50], 50, axis=1)
    small, large = (
        np.array(of_sizes({"depth": drawn})["depth"]["mcse"], float) for drawn in (fast, sticky)
    )
    assert (large > 4 * small).all()
    assert of_sizes({"depth": np.ones((CHAINS, DRAWS))})["depth"]["mcse"] == [None]


def test_jumps_are_counted_with_their_acceptance() -> None:
    nan = np.nan
    stats = {
        "jumps_split_1": np.array([[1, 0, 2], [0, 0, 1]]),
        "jump_acceptance_split_1": np.array([[0.5, nan, 0.1], [nan, nan, 0.3]]),
        "jumps_prior_1": np.zeros((2, 3), int),
        "jump_acceptance_prior_1": np.full((2, 3), nan),
        "size": np.array([[3, 3, 4], [2, 3, 2]]),
    }
    found = of_jumps(stats)
    assert found["split_1"] == {"tried": 4, "acceptance": pytest.approx(1.0 / 4)}
    assert found["prior_1"] == {"tried": 0, "acceptance": None}
    assert found["between_sizes"] == pytest.approx(3 / 4)
