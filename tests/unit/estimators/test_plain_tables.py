"""The plainest tables, learned by a network of infinite width with few draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nlobayes import BayesianNetworkRegressor

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
RNG = np.random.default_rng(0)
X, FLAG = RNG.random((16, 2)), RNG.integers(0, 2, 40)
THRICE = np.repeat(X, 3, axis=0)
MIXED = np.column_stack([RNG.random(40), FLAG, np.full(40, 7)])
FEW: dict[str, Any] = {
    "method": {
        "kernel": {"kind": "emulated_hmc"},
        "warmup": {"kind": "emulator", "steps": 20},
        "chains": 2,
        "draws_per_segment": 60,
    },
    "recipe": "wide",
    "verbose": False,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("x", "y"),
    [(THRICE, np.sin(3 * THRICE[:, 0]) + THRICE[:, 1]), (MIXED, MIXED[:, 0] ** 2 + 0.3 * FLAG)],
    ids=["each row three times", "a column of two numbers and one of one"],
)
def test_rows_that_are_known_exactly_are_predicted_alone_as_in_a_batch(
    x: np.ndarray, y: np.ndarray
) -> None:
    model = BayesianNetworkRegressor(**FEW).fit(x, y)
    mean, sd = model.predict(x, return_std=True)
    assert np.abs(mean - y).max() < 0.01 * y.std()
    assert ((sd > 0) & (sd < 0.1 * y.std())).all()
    alone = model.predict(x[:1], return_std=True)
    np.testing.assert_allclose(np.ravel(alone), [mean[0], sd[0]], rtol=0, atol=1e-8 * y.std())


def test_five_rows_are_refused_in_one_line() -> None:
    with pytest.raises(ValueError, match=r"5 sample.* minimum of 6 is required") as caught:
        BayesianNetworkRegressor().fit(X[:5], X[:5, 0])
    assert len(str(caught.value).splitlines()) == 1
