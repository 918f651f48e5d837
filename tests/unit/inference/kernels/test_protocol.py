"""Every kernel of the registry keeps the same contract, with the warm-up that tunes it."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.kernel import Info, Kernel, Posterior
from nlobayes.kernels import KERNELS
from nlobayes.methods.mcmc import MCMC
from nlobayes.model.conditionals import Conjugates

CHANGES: dict[str, dict[str, Any]] = {  # what makes a step short; all else is the default
    "hmc": {"integration_steps": 8},
    "nuts": {"max_depth": 4},
    "gibbs_hmc": {"integration_steps": 8},
    "chees": {"most_integration_steps": 16},
    "crank_nicolson": {"moves": 4, "slices": 2},
    "mclmc": {"integration_steps": 4},
    "adjusted_mclmc": {"most_integration_steps": 16},
    "reversible_jump": {"integration_steps": 8},
    "tempering": {"num_temperatures": 3, "min_inverse_temperature": 0.1, "integration_steps": 4},
}
ONE_LEAPFROG: dict[str, dict[str, Any]] = {
    "hmc": {"integration_steps": 1, "jitter": 0.0},
    "nuts": {"max_depth": 1},
}
WITH_MOMENTUM = ("hmc", "nuts", "gibbs_hmc", "chees", "tensorbnn", "tempering", "reversible_jump")
WITH_THRESHOLD = [n for n in KERNELS if "divergence_threshold" in KERNELS[n].model_fields]
APPROXIMATE = {n for n in KERNELS if not KERNELS[n].exact}
SD = np.array([0.5, 1.0, 2.0])
START = np.array([0.4, -1.0, 1.5])
NO_CONJUGATES = Conjugates(refresh=lambda key, position: position, entries=np.array([], int))
every_kernel = pytest.mark.parametrize("name", KERNELS)
every_exact_kernel = pytest.mark.parametrize("name", [n for n in KERNELS if n not in APPROXIMATE])


def log_gaussian(q: jax.Array, inverse_temperature: Any = 1.0) -> jax.Array:
    return -0.5 * inverse_temperature * jnp.sum((q / SD.astype(q.dtype)) ** 2)


def half_space(q: jax.Array, inverse_temperature: Any = 1.0) -> jax.Array:
    return jnp.where(q[0] > 0, log_gaussian(q, inverse_temperature), jnp.nan)


def make(name: str, log_density: Callable[..., jax.Array] = log_gaussian, **changed: Any) -> Kernel:
    return preset(name, 0.1, **changed).kernel.build(Posterior(log_density, NO_CONJUGATES))


def preset(name: str, step_size: float, **changed: Any) -> MCMC:
    kernel = {"kind": name} | CHANGES.get(name, {}) | changed
    warmup: dict[str, Any] = {"steps": 20, "initial_step_size": step_size}
    if name == "tensorbnn":
        warmup |= {"step_size_min": step_size, "step_size_max": step_size}
        warmup |= {"integration_steps_min": 4, "integration_steps_max": 8}
    return MCMC.model_validate(
        {"kernel": kernel, "warmup": warmup, "chains": 16, "draws_per_segment": 8}
    )


def begin(name: str, kernel: Kernel, step_size: float, dtype: Any = np.float64) -> tuple[Any, Any]:
    """The state and the tuned record of one chain, as a warm-up of no steps leaves them."""
    chosen = preset(name, step_size)
    adaptation = chosen.warmup.build(Untuned(kernel, chosen.kernel))
    chains = chosen.kernel.fewest_chains if chosen.kernel.learns_from_all_chains else 1
    chain_group = adaptation.finish(
        adaptation.start(jnp.tile(jnp.asarray(START, dtype), (chains, 1)))
    )
    return jax.tree.map(lambda leaf: leaf[0], chain_group)


@cache
def compiled(name: str) -> tuple[Kernel, Callable[..., Any]]:
    kernel = make(name)
    return kernel, jax.jit(kernel.step)


@every_kernel
def test_signature(name: str) -> None:
    kernel = make(name)
    assert [*inspect.signature(kernel.init).parameters] == ["position"]
    assert [*inspect.signature(kernel.step).parameters] == ["key", "state", "tuned"]
    assert kernel.exact is (name not in APPROXIMATE)
    assert kernel.exact is ("NOT exact" not in str(KERNELS[name].__doc__))


@every_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.by_day(6)
def test_state_keeps_its_types_and_info_is_complete(name: str, dtype: Any) -> None:
    with jax.enable_x64(dtype is np.float64):
        kernel = make(name)
        state, tuned = begin(name, kernel, 0.3, dtype)
        new, info = jax.jit(kernel.step)(jax.random.key(0), state, tuned)
    assert type(new) is type(state)
    assert isinstance(info, Info)
    for before, after in zip(jax.tree.leaves(state), jax.tree.leaves(new), strict=True):
        assert before.shape == after.shape
        assert before.dtype == after.dtype
    assert new.position.dtype == new.logdensity.dtype == dtype
    fields = info._asdict()
    assert isinstance(fields.pop("extra"), dict)
    for field, value in fields.items():
        assert jnp.shape(value) == (), field
        assert np.isfinite(value) or (field == "energy" and name not in WITH_MOMENTUM), field
    assert info.is_divergent.dtype == bool
    assert 0 <= info.acceptance_rate <= 1
    np.testing.assert_allclose(new.logdensity, log_gaussian(new.position), rtol=1e-5)


@every_kernel
def test_step_is_pure_and_traced_once(name: str) -> None:
    """Any key, state and tuning reuse one trace; equal arguments give equal results."""
    kernel, traces = make(name), []

    @jax.jit
    def step(key: jax.Array, state: Any, tuning: Any) -> tuple[Any, Info]:
        traces.append(key)
        return kernel.step(key, state, tuning)

    state, _ = begin(name, kernel, 0.1)
    for seed, step_size in enumerate((0.1, 0.3, 0.1)):
        _, tuned = begin(name, kernel, step_size)
        once = step(jax.random.key(seed), state, tuned)
        again = step(jax.random.key(seed), state, tuned)
        jax.tree.map(np.testing.assert_array_equal, once, again)
        state = once[0]
    assert len(traces) == 1


@every_kernel
def test_the_chain_moves(name: str) -> None:
    kernel, step = compiled(name)
    state, tuned = begin(name, kernel, 0.1)
    positions = []
    for seed in range(10):
        state, _ = step(jax.random.key(seed), state, tuned)
        positions.append(np.asarray(state.position))
    assert len(np.unique(np.stack(positions), axis=0)) > 5


@pytest.mark.parametrize("name", WITH_THRESHOLD)
def test_absurd_step_diverges_and_stays(name: str) -> None:
    kernel, step = compiled(name)
    state, absurd = begin(name, kernel, 1e4)
    _, sensible = begin(name, kernel, 0.05)
    for seed in range(10):
        new, info = step(jax.random.key(seed), state, absurd)
        assert info.acceptance_rate < 1e-6
        assert info.is_divergent
        np.testing.assert_array_equal(new.position, state.position)
        np.testing.assert_array_equal(new.logdensity, state.logdensity)
        assert not step(jax.random.key(seed), state, sensible)[1].is_divergent


@pytest.mark.parametrize("name", ["mclmc", "adjusted_mclmc"])
def test_every_gradient_is_counted(name: str) -> None:
    calls = []

    def counted(q: jax.Array, inverse_temperature: Any = 1.0) -> jax.Array:
        calls.append(1)
        return log_gaussian(q, inverse_temperature)

    kernel = make(name, counted)
    state, tuned = begin(name, kernel, 0.1)
    calls.clear()
    with jax.disable_jit():
        _, info = kernel.step(jax.random.key(0), state, tuned)
    assert len(calls) == info.num_integration_steps > 2


@pytest.mark.parametrize("name", WITH_THRESHOLD)
@pytest.mark.by_day(2)
def test_divergence_threshold_is_passed_on(name: str) -> None:
    """The threshold decides whether the same trajectories diverge; a copy has no limits."""
    for threshold, expected in ((1e-9, True), (1e9, False)):
        settings = preset(name, 0.1).kernel.model_copy(update={"divergence_threshold": threshold})
        kernel = settings.build(Posterior(log_gaussian, NO_CONJUGATES))
        state, tuned = begin(name, kernel, 0.5)
        step = jax.jit(kernel.step)
        infos = [step(jax.random.key(seed), state, tuned)[1] for seed in range(10)]
        assert any(info.is_divergent for info in infos) == expected


@every_exact_kernel
@pytest.mark.by_day(4)
def test_never_enters_a_region_of_no_density(name: str) -> None:
    """Half the space has log density NaN: the chain never goes there and goes on."""
    kernel = make(name, half_space)
    state, tuned = begin(name, kernel, 0.1)
    step, seen = jax.jit(kernel.step), []
    for seed in range(60):
        state, info = step(jax.random.key(seed), state, tuned)
        seen.append(float(state.position[0]))
        assert np.isfinite(state.logdensity)
        assert np.isfinite(info.acceptance_rate)
        assert np.isfinite(info.energy) or name not in WITH_MOMENTUM
    assert min(seen) > 0
    assert len(set(seen)) > 5


@pytest.mark.parametrize("name", ONE_LEAPFROG)
def test_energy_is_that_of_the_kept_state(name: str) -> None:
    """Forced to reject, the energy is the initial one.

    The momentum that a key draws is read off a step so small that the density does not matter.
    """
    kernel = make(name, **ONE_LEAPFROG[name])
    state, tuned = begin(name, kernel, 1e-6)
    step, (_, absurd) = jax.jit(kernel.step), begin(name, kernel, 30.0)
    inverse_mass = jnp.array([0.2, 1.0, 3.0])
    tuned, absurd = (t._replace(inverse_mass_matrix=inverse_mass) for t in (tuned, absurd))
    for seed in range(5):
        key = jax.random.key(seed)
        moved, _ = step(key, state, tuned)
        momentum = (moved.position - state.position) / 1e-6 / inverse_mass
        assert np.abs(momentum).min() > 0
        kinetic = 0.5 * np.sum(momentum**2 * inverse_mass)
        stayed, info = step(key, state, absurd)
        np.testing.assert_array_equal(stayed.position, state.position)
        np.testing.assert_allclose(info.energy, kinetic - state.logdensity, rtol=1e-4)
