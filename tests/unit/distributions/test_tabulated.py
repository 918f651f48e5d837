"""Quantiles of a law that is a table, against interpolation by NumPy."""

import numpy as np
import pytest

from nlobayes.distributions.tabulated import TabulatedLaw

BINS, NODES = 3, 33


@pytest.fixture
def law() -> TabulatedLaw:
    """Another table in each bin, none of which begins at 0 or ends at 1."""
    rng = np.random.default_rng(5)
    residual = np.sort(rng.normal(size=NODES))
    probability = np.sort(rng.uniform(0.01, 0.99, (BINS, NODES)), axis=1)
    return TabulatedLaw(
        np.array([1.0, 2.0]), np.array([2, 0]), residual, probability, np.ones(BINS)
    )


def test_single_quantiles_are_interpolated_at_nodes_between_and_beyond(law: TabulatedLaw) -> None:
    ends = [0.0, 1e-6, 1 - 1e-6, 1.0]
    for probability in [*ends, 0.16, 0.5, 0.84, *law.probability[1, [0, 7, -1]]]:
        by_numpy = [np.interp(probability, each, law.residual) for each in law.probability]
        np.testing.assert_array_equal(law.single_quantiles(probability), by_numpy)


def test_a_quantile_has_the_bin_and_the_scale_of_its_point(law: TabulatedLaw) -> None:
    by_numpy = [np.interp(0.3, law.probability[place], law.residual) for place in law.bins]
    np.testing.assert_array_equal(law.quantile(0.3), law.scale * by_numpy)
