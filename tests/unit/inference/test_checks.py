"""Chains that died are refused by their number; chains that live are not."""

from typing import Any

import numpy as np
import pytest

from nlobayes.errors import InputError
from nlobayes.inference.checks import COLLAPSED, check_alive, check_tuned, describe_tuned

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


def test_one_step_that_was_rejected_is_no_death() -> None:
    """Nor are some in a row."""
    check_alive(stats(steps=1), CHAINS, "draws")
    resting = stats()
    resting["lp"][1, :5] = resting["lp"][1, 0]
    check_alive(resting, CHAINS, "draws")


@pytest.mark.parametrize(("row", "chain"), [(0, 3), (1, 5)])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_density_that_is_lost_is_refused(row: int, chain: int, value: float) -> None:
    """At the first step at which it is."""
    broken = stats()
    broken["lp"][row, [2, 4]] = value
    said = (
        f"draws: the log density of chain {chain} became {value} at step 2 of this segment; "
        "nothing is written, what was before is kept; use a smaller initial_step_size, or "
        "precision: float64"
    )
    with pytest.raises(InputError) as caught:
        check_alive(broken, CHAINS, "draws")
    assert str(caught.value) == said


def test_one_step_without_density_is_refused() -> None:
    broken = stats(steps=1)
    broken["lp"][1, 0] = np.nan
    with pytest.raises(InputError, match="chain 5 became nan at step 0"):
        check_alive(broken, CHAINS, "draws")


def test_a_chain_that_never_moved_is_refused() -> None:
    stuck = stats()
    stuck["lp"][1] = -3.0
    said = (
        "draws: chain 5 never moved in 6 steps (step size 0.5, acceptance 0); nothing is written, "
        "what was before is kept; warm up longer, or from a smaller initial_step_size"
    )
    with pytest.raises(InputError) as caught:
        check_alive(stuck, CHAINS, "draws")
    assert str(caught.value) == said


def test_what_can_move_a_chain_passes() -> None:
    """Down to the limit itself, and far above the beginning."""
    check_tuned(tuned(), CHAINS, "warm-up", begin=1e-3)
    check_tuned(tuned(step_size=np.array([COLLAPSED, 1e3])), CHAINS, "warm-up", begin=1.0)


@pytest.mark.parametrize("name", ["step_size", "inverse_mass_matrix"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(name: str, value: float) -> None:
    broken = tuned()
    broken[name][1, ...] = value
    with pytest.raises(InputError) as caught:
        check_tuned(broken, CHAINS, "warm-up", begin=1e-3)
    assert str(caught.value) == (
        f"warm-up: {name} of chain 5 is not finite; warm up with more steps, or from a smaller "
        "initial_step_size"
    )


@pytest.mark.parametrize(
    "step_size",
    [np.array([0.5, 0.99e-6]), np.array([[0.5, 0.5], [0.5, 0.99e-6]])],
    ids=["one", "one of several"],
)
def test_a_step_size_that_collapsed_is_refused(step_size: np.ndarray) -> None:
    """Also that of one temperature among others."""
    with pytest.raises(InputError) as caught:
        check_tuned(tuned(step_size=step_size), CHAINS, "warm-up", begin=1.0)
    assert str(caught.value) == (
        "warm-up: the step size of chain 5 collapsed from 1 to 9.9e-07; pretrain longer, or use "
        "another kernel"
    )


def test_what_was_learned_is_told_in_one_line_per_chain() -> None:
    learned = tuned(inverse_mass_matrix=np.array([[1.0, 2.0], [0.5, 40.0]]))
    assert describe_tuned(learned, CHAINS).splitlines() == [
        "chain 3, frozen: step_size 0.25, inverse_mass_matrix (2,) from 1 to 2",
        "chain 5, frozen: step_size 0.5, inverse_mass_matrix (2,) from 0.5 to 40",
    ]
