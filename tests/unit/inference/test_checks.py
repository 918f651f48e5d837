"""Chains that died are refused by their number; chains that live are not."""

from typing import Any

import numpy as np
import pytest

from nlobayes.inference.chain_checks import COLLAPSED, check_alive, check_tuned
from tests.refusals import refused

CHAINS = (3, 5)


def stats(steps: int = 6) -> dict[str, np.ndarray]:
    """Two chains that moved."""
    rng = np.random.default_rng(1)
    return {
        "lp": rng.normal(size=(2, steps)),
        "step_size": np.tile([[0.25], [0.5]], steps),
        "acceptance_rate": np.tile([[0.7], [0.0]], steps),
    }


def tuned(**changes: Any) -> dict[str, np.ndarray]:
    """What two chains learned."""
    return {"step_size": np.array([0.25, 0.5]), "inverse_mass_matrix": np.ones((2, 4))} | changes


def test_chains_that_live_pass() -> None:
    check_alive(stats(), CHAINS, "draws")


@pytest.mark.parametrize(("row", "chain"), [(0, 3), (1, 5)])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_density_that_is_lost_is_refused(row: int, chain: int, value: float) -> None:
    """At the first step at which it is."""
    broken = stats()
    broken["lp"][row, [2, 4]] = value
    with refused("inference.density_lost", where="draws", chain=chain, step=2) as caught:
        check_alive(broken, CHAINS, "draws")
    np.testing.assert_equal(caught.value.fields["value"], value)


def test_a_chain_that_never_moved_is_refused() -> None:
    stuck = stats()
    stuck["lp"][1] = -3.0
    fields = {"chain": 5, "steps": 6, "step_size": 0.5, "acceptance": 0.0}
    with refused("inference.never_moved", where="draws", **fields):
        check_alive(stuck, CHAINS, "draws")


def test_a_chain_that_moved_before_may_stand_still() -> None:
    """A long chain is not lost by its last segment. Without a density it is refused."""
    stuck = stats()
    stuck["lp"][1] = -3.0
    check_alive(stuck, CHAINS, "draws", moved_before=True)
    stuck["lp"][1, 0] = np.nan
    with refused("inference.density_lost", chain=5, step=0):
        check_alive(stuck, CHAINS, "draws", moved_before=True)


def test_what_can_move_a_chain_passes() -> None:
    """Down to the limit itself, and far above the beginning."""
    check_tuned(tuned(), CHAINS, "warm-up", begin=1e-3)
    check_tuned(tuned(step_size=np.array([COLLAPSED, 1e3])), CHAINS, "warm-up", begin=1.0)


@pytest.mark.parametrize("name", ["step_size", "inverse_mass_matrix"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(name: str, value: float) -> None:
    broken = tuned()
    broken[name][1, ...] = value
    with refused("inference.tuned_not_finite", where="warm-up", name=name, chain=5):
        check_tuned(broken, CHAINS, "warm-up", begin=1e-3)


@pytest.mark.parametrize(
    "step_size",
    [np.array([0.5, 0.99e-6]), np.array([[0.5, 0.5], [0.5, 0.99e-6]])],
    ids=["one", "one of several"],
)
def test_a_step_size_that_collapsed_is_refused(step_size: np.ndarray) -> None:
    """Also that of one temperature among others."""
    fields = {"chain": 5, "begin": 1.0, "step_size": 0.99e-6}
    with refused("inference.step_size_collapsed", where="warm-up", **fields):
        check_tuned(tuned(step_size=step_size), CHAINS, "warm-up", begin=1.0)
