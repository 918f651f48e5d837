"""The coordinate of a learned noise: a change of variables that shortens the tail to zero."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from scipy import stats

from nlobayes.model.root_coordinate import RootCoordinate

MEDIAN, LOG_SD = 0.1, 1.5
AT = RootCoordinate(MEDIAN, LOG_SD)
Z = np.linspace(-1.5, 1.2, 20_001)
_GIVEN = pt.dvector()
TO_X, TO_Z = (pm.pytensorf.compile([_GIVEN], way(_GIVEN)) for way in (AT.backward, AT.forward))


def prior(z: np.ndarray) -> np.ndarray:
    """Density of z, as PyMC states it for a log-normal scale."""
    with pm.Model() as model:
        pm.LogNormal("x", np.log(MEDIAN), LOG_SD, default_transform=AT)
    (value,) = model.value_vars
    logp = model.replace_rvs_by_values([model.logp()])[0]
    each = pm.pytensorf.compile([value], logp)
    return np.exp([each(one) for one in z])


def test_it_is_the_root_above_the_turn_and_positive_below() -> None:
    x = TO_X(Z)
    assert (x > 0).all()
    assert (np.diff(x) > 0).all()
    np.testing.assert_allclose(np.sqrt(x[Z > 0.6]), Z[Z > 0.6], rtol=1e-4)
    np.testing.assert_allclose(TO_Z(x), Z, atol=1e-9)
    np.testing.assert_allclose(TO_X(TO_Z(np.array([1e-12, 1e-9]))), [1e-12, 1e-9], rtol=1e-6)


def test_the_density_follows_the_change_of_variables() -> None:
    """Shares of a log-normal scale below some values, by quadrature over z and by its own law."""
    z = Z[::10]
    density = prior(z)
    x = TO_X(z)
    law = stats.lognorm(LOG_SD, scale=MEDIAN)
    for least, most in ((1e-4, 1e-3), (1e-3, 0.05), (0.05, 0.3), (0.3, 1.0)):
        part = (x >= least) & (x <= most)
        found = np.trapezoid(density[part], z[part])
        ends = law.cdf(x[part][[0, -1]])
        assert found == pytest.approx(ends[1] - ends[0], rel=1e-3)


def test_the_tail_of_a_noise_that_rows_do_not_bound_from_below_is_short() -> None:
    """As of airfoil noise: any noise below a wall is as likely, up to the prior."""
    x = TO_X(Z)
    law = stats.lognorm(LOG_SD, scale=MEDIAN)
    density = law.pdf(x) * stats.norm.sf(x, 0.09, 0.02) * np.gradient(x, Z)
    logs = np.log(x)

    def skew(values: np.ndarray) -> float:
        share = density / density.sum()
        off = values - share @ values
        return float(share @ off**3 / (share @ off**2) ** 1.5)

    assert abs(skew(Z)) < 0.3
    assert skew(logs) < -0.9
