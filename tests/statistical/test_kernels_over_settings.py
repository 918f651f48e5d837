"""Every exact kernel leaves its target invariant at the ends of its settings' ranges.

Chains start from exact draws of a correlated target that is not Gaussian, and are moved with frozen
tuning. Means of bounded moments are compared with quadrature; |z| must stay below its Bonferroni
bound over all moments of all cases at a joint significance of 0.001.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.kernel import Kernel, Posterior
from nlobayes.kernels import KERNELS
from nlobayes.methods.mcmc import MCMC
from nlobayes.model.conditionals import Conjugates

pytestmark = pytest.mark.statistical

CHAINS, DRAWS, NODES, SIGNIFICANCE = 3000, 20, 60, 0.001
SDS = np.array([1.0, 0.5, 0.7])


class Case(NamedTuple):
    """Settings of a kernel, the frozen step size, and other values of the tuned record."""

    kind: str
    settings: dict[str, Any]
    step_size: float
    tuned: dict[str, int] = {}

    def __str__(self) -> str:
        return "-".join([self.kind, *(f"{k}={v}" for k, v in (self.settings | self.tuned).items())])


def least_threshold(kind: str) -> float:
    """The least energy error that may end a trajectory: half a nat where any number may."""
    limits = KERNELS[kind].model_fields["divergence_threshold"].metadata
    return next((one.ge for one in limits if hasattr(one, "ge")), 0.5)


def tight(kind: str, step_size: float, **settings: Any) -> Case:
    return Case(kind, {"divergence_threshold": least_threshold(kind), **settings}, step_size)


CASES = [
    tight("nuts", 0.5, max_depth=6),
    tight("nuts", 1.6, max_depth=20),
    Case("nuts", {"max_depth": 1}, 0.5),
    Case("nuts", {"max_depth": 3}, 0.1),
    *(
        case
        for kind in ("hmc", "gibbs_hmc", "reversible_jump")
        for case in (
            tight(kind, 0.6, integration_steps=4),
            Case(kind, {"integration_steps": 1, "jitter": 0.0}, 0.6),
            Case(kind, {"integration_steps": 8, "jitter": 0.99}, 0.4),
            Case(kind, {"integration_steps": 2, "jitter": 0.5}, 1.1),
        )
    ),
    Case("hmc", {"integration_steps": 16, "trajectory_length": 1.5, "jitter": 0.9}, 0.3),
    Case("hmc", {"integration_steps": 2, "trajectory_length": 50.0, "jitter": 0.0}, 0.5),
    tight("chees", 0.6, most_integration_steps=8),
    Case("chees", {"most_integration_steps": 1}, 0.6),
    Case("chees", {"most_integration_steps": 64}, 0.05),
    tight("adjusted_mclmc", 0.8, most_integration_steps=8),
    Case("adjusted_mclmc", {"most_integration_steps": 1, "jitter": 0.0}, 0.8),
    Case("adjusted_mclmc", {"most_integration_steps": 64, "jitter": 1.0}, 0.3),
    tight("tensorbnn", 0.6),
    Case("tensorbnn", {}, 1.1),
    tight("tempering", 0.6, num_temperatures=3, min_inverse_temperature=0.2, integration_steps=4),
    Case(
        "tempering",
        {"inverse_temperatures": (1.0, 0.02), "integration_steps": 1, "jitter": 0.0},
        0.5,
    ),
    Case(
        "tempering",
        {"num_temperatures": 5, "min_inverse_temperature": 0.9, "integration_steps": 3},
        0.3,
    ),
    Case("emulated_hmc", {}, 0.3),
    Case("emulated_hmc", {"trajectories": 1, "min_inverse_temperature": 0.4}, 0.8),
    Case("emulated_hmc", {"trajectories": 1, "integration_steps": 3}, 0.6, {"every": 2}),
    Case("random_walk", {}, 0.2),
    Case("random_walk", {}, 2.0),
    Case("crank_nicolson", {"moves": 1, "slices": 8}, 0.3),
    Case("crank_nicolson", {"moves": 8, "slices": 1}, 1.5),
]


def curve(x: Any, y: Any, xp: Any) -> tuple[Any, Any]:
    """Means of the second entry given the first, and of the third given the second."""
    return 0.8 * x + 0.4 * (x**2 - 1), xp.tanh(2 * y)


def log_density(q: jax.Array, inverse_temperature: Any = 1.0) -> jax.Array:
    second, third = curve(q[0], q[1], jnp)
    apart = (q - jnp.stack([jnp.zeros_like(second), second, third])) / SDS
    return -0.5 * inverse_temperature * jnp.sum(apart**2)


def positions_of(noise: Any, xp: Any = np) -> Any:
    """Map standard normal numbers (..., 3) to the target; over sqrt(b), to its b-th power."""
    x = noise[..., 0]
    y = curve(x, x, xp)[0] + SDS[1] * noise[..., 1]
    return xp.stack([x, y, curve(x, y, xp)[1] + SDS[2] * noise[..., 2]], axis=-1)


def redraw_last(key: jax.Array, q: jax.Array) -> jax.Array:
    return q.at[2].set(curve(q[0], q[1], jnp)[1] + SDS[2] * jax.random.normal(key))


CONJUGATES = Conjugates(redraw_last, np.array([2]))


def moments(q: Any, xp: Any) -> Any:
    """Bounded moments (..., moment) of positions (..., 3)."""
    sin, cos = xp.sin(q), xp.cos(q)
    pairs = [sin[..., i] * sin[..., j] for i, j in ((0, 1), (1, 2), (0, 2))]
    pairs += [cos[..., 0] * sin[..., 1], cos[..., 1] * sin[..., 2]]
    return xp.concatenate([sin, cos, xp.stack(pairs, axis=-1)], axis=-1)


def expected() -> np.ndarray:
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    grid = np.stack(np.meshgrid(nodes, nodes, nodes, indexing="ij"), axis=-1)
    weights = weights / weights.sum()
    found = moments(positions_of(grid), np)
    return np.einsum("i,j,k,ijkm->m", weights, weights, weights, found)


def frozen(case: Case) -> tuple[Kernel, Any]:
    """Give the kernel and its tuned record, as a warm-up of no steps leaves it."""
    warmup: dict[str, Any] = {"steps": 20, "initial_step_size": case.step_size}
    if case.kind == "tensorbnn":
        warmup |= {"step_size_min": case.step_size, "step_size_max": case.step_size}
        warmup |= {"integration_steps_min": 5, "integration_steps_max": 5}
    preset = MCMC.model_validate(
        {
            "kernel": {"kind": case.kind, **case.settings},
            "warmup": warmup,
            "chains": 16,
            "draws_per_segment": 8,
        }
    )
    standard = np.array([0])  # as the first entry is, whatever its density given the others
    kernel = preset.kernel.build(Posterior(log_density, CONJUGATES, standard))
    assert kernel.exact
    adaptation = preset.warmup.build(Untuned(kernel, preset.kernel))
    tuned = adaptation.finish(jax.jit(adaptation.start)(jnp.zeros((16, 3))))[1]
    one = jax.tree.map(lambda leaf: leaf[0], tuned)
    return kernel, one._replace(**{name: jnp.array(value) for name, value in case.tuned.items()})


def averages(case: Case) -> np.ndarray:
    """Average moments (chain, moment) of the draws of chains from a stationary start."""
    kernel, tuned = frozen(case)

    def one_chain(key: jax.Array) -> jax.Array:
        key_start, key_steps = jax.random.split(key)
        temperatures = jnp.asarray(getattr(tuned, "inverse_temperatures", jnp.ones(1)))
        noise = jax.random.normal(key_start, (len(temperatures), 3))
        starts = positions_of(noise / jnp.sqrt(temperatures)[:, None], jnp)
        state: Any = kernel.init(starts[0])
        if case.kind == "tempering":  # at no temperature yet, so that the step evaluates it
            state = state._replace(positions=starts, inverse_temperatures=0 * temperatures)

        def step(state: Any, key: jax.Array) -> tuple[Any, jax.Array]:
            state, _ = kernel.step(key, state, tuned)
            return state, moments(state.position, jnp)

        return jnp.mean(jax.lax.scan(step, state, jax.random.split(key_steps, DRAWS))[1], axis=0)

    return np.asarray(jax.jit(jax.vmap(one_chain))(jax.random.split(jax.random.key(1), CHAINS)))


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.by_day(1)
def test_a_stationary_start_stays_stationary(case: Case) -> None:
    """Among the cases are least thresholds, single steps, full jitter and unstable step sizes."""
    found, exact = averages(case), expected()
    z = (found.mean(axis=0) - exact) / (found.std(axis=0, ddof=1) / np.sqrt(CHAINS))
    bound = norm.isf(SIGNIFICANCE / (2 * len(exact) * len(CASES)))
    assert np.abs(z).max() < bound, np.round(z, 1)


def test_no_exact_kernel_is_left_out() -> None:
    assert {case.kind for case in CASES} == {k for k, settings in KERNELS.items() if settings.exact}
