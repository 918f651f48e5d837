"""A step size for each size of an architecture: learned where chains were, safe elsewhere."""

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.adaptations.sizes import SCALES
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.kernel import Posterior
from nlobayes.inference.varying_part import Architecture, Units
from nlobayes.inference.warmup import adapt
from nlobayes.kernels import reversible_jump
from nlobayes.kernels.reversible_jump import TunedSizes
from tests.members import build_kernel, build_warmup

SDS = np.array([1.0, 1.0, 0.3])
"""Scale of the other entries with no, one and two units in use; none is never allowed."""
UNITS = Units(np.array([0, 1]), np.array([[2], [3]]), np.array([[4], [5]]), fewest=1)


def log_density(position: jax.Array, _: float | jax.Array = 1.0, /) -> jax.Array:
    count = jnp.sum(position[:2]).astype(int)
    sd = jnp.asarray(SDS)[count]
    return -0.5 * jnp.sum((position[2:] / sd) ** 2) - 4 * jnp.log(sd)


def warm_up(moves: tuple[reversible_jump.Move, ...], steps: int = 600) -> TunedSizes:
    kernel = build_kernel(
        "reversible_jump",
        Posterior(log_density, architecture=Architecture((UNITS,))),
        moves=moves,
        jumps=1,
        annealing_steps=0,
        annealing_integration_steps=1,
        integration_steps=4,
        jitter=0.2,
    )
    adaptation = build_warmup(
        "sizes",
        Untuned(kernel),
        steps=steps,
        adaptation_share=0.8,
        target_acceptance=0.8,
        initial_step_size=0.01,
    )
    start = jnp.array([[1.0, 0.0, 0.1, 0.1, 0.1, 0.1]])
    keys = jax.random.split(jax.random.key(1), 1)
    carry, _, _ = adapt(keys, adaptation, adaptation.start(start), first=0, steps=steps)
    tuned: TunedSizes = jax.tree.map(lambda leaf: np.asarray(leaf[0]), adaptation.finish(carry)[1])
    return tuned


def test_each_size_learns_its_own_step_size() -> None:
    """The stiff size has less than half the step; one never visited has the shortest."""
    none, one, two = warm_up(("conditional", "prior")).step_size
    assert two < 0.5 * one
    assert 0.3 < one < 3
    assert none == two


def test_a_size_that_is_never_left_teaches_all() -> None:
    learned = warm_up(("identity",)).step_size
    assert np.unique(learned).size == 1
    assert learned[0] > 0.1


def test_a_split_learns_the_scale_that_is_accepted_most() -> None:
    """The mean acceptance of a split of one unit at each scale, by NumPy from exact draws."""
    (learned,) = warm_up(("split",), steps=4000).scales
    u, a, v, b = np.random.default_rng(1).normal(size=(4, 100_000))
    share = 0.5**0.5
    halves = np.square([v / 2 + share * b, v / 2 - share * b])
    outgoing = halves.sum(axis=0)
    means = []
    for scale in SCALES:
        split = np.square([u + scale * a, u - scale * a]).sum(axis=0) + outgoing
        whole = u**2 + a**2 + v**2 + b**2
        density = -0.5 * (split / SDS[2] ** 2 - whole) - 4 * np.log(SDS[2])
        ratio = density + np.log(2 * scale * share) - np.log(2)
        means.append(np.exp(np.minimum(ratio, 0)).mean())
    assert min(means) < 0.6 * max(means)
    assert means[SCALES.index(np.round(learned, 6))] > 0.8 * max(means)
