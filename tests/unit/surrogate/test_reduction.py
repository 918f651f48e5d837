"""Few chosen draws predict as all do, also at points that they were not chosen by."""

import numpy as np

from nlobayes.surrogate.reduction import herded, spread_evenly


def test_chosen_draws_have_the_moments_of_all_at_other_points() -> None:
    """2000 draws of smooth functions with 20 coefficients at 600 points; 250 points choose.

    An even choice of 100 independent draws has a Monte-Carlo error of 0.1 sd, that of 1600.
    """
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, 600)
    basis = np.cos(np.outer(np.arange(20), np.arccos(x)))
    functions = rng.normal(size=(2000, 20)) @ basis
    others = np.setdiff1d(np.arange(600), spread_evenly(600, 250))

    def errors(kept: np.ndarray) -> tuple[float, float]:
        few, every = functions[kept][:, others], functions[:, others]
        moved = (few.mean(axis=0) - every.mean(axis=0)) / every.std(axis=0)
        widened = few.std(axis=0) / every.std(axis=0) - 1
        return float(np.sqrt(np.mean(moved**2))), float(np.sqrt(np.mean(widened**2)))

    moved, widened = errors(herded([functions], 100))
    assert moved < 0.025
    assert widened < 0.05
    assert errors(spread_evenly(2000, 100))[0] > 0.05


def test_every_draw_is_chosen_once() -> None:
    functions = np.random.default_rng(4).normal(size=(30, 5))
    assert sorted(herded([functions, functions[:, :2]], 30)) == list(range(30))
