"""Every kernel of the registry keeps the same contract."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference.kernels import KERNELS
from nlobayes.inference.kernels.protocol import Info, Kernel, State, Tuned

SETTINGS: dict[str, dict[str, Any]] = {
    "hmc": {"integration_steps": 8, "jitter": 0.2, "divergence_threshold": 1000.0},
    "nuts": {"max_depth": 4, "divergence_threshold": 1000.0},
}
ONE_LEAPFROG: dict[str, dict[str, Any]] = {
    "hmc": {"integration_steps": 1, "jitter": 0.0},
    "nuts": {"max_depth": 1},
}
SD = np.array([0.5, 1.0, 2.0])
INVERSE_MASS = np.array([0.2, 1.0, 3.0])
every_kernel = pytest.mark.parametrize("name", KERNELS)


def log_gaussian(q: jax.Array) -> jax.Array:
    return -0.5 * jnp.sum((q / SD.astype(q.dtype)) ** 2)


def build(
    name: str, log_density: Callable[[jax.Array], jax.Array] = log_gaussian, **changed: Any
) -> Kernel:
    return KERNELS[name](log_density, **(SETTINGS[name] | changed))


@cache
def compiled(name: str) -> tuple[State, Callable[..., tuple[State, Info]]]:
    """A state in double precision and the compiled step of a kernel."""
    kernel = build(name)
    return kernel.init(start()), jax.jit(kernel.step)


def tuned(step_size: float, dtype: Any = np.float64) -> Tuned:
    return Tuned(jnp.asarray(step_size, dtype), jnp.asarray(INVERSE_MASS, dtype))


def start(dtype: Any = np.float64) -> jax.Array:
    return jnp.asarray([0.4, -1.0, 1.5], dtype)


def test_every_kernel_has_settings() -> None:
    assert KERNELS.keys() == SETTINGS.keys() == ONE_LEAPFROG.keys()


@every_kernel
def test_signature(name: str) -> None:
    first, *others = inspect.signature(KERNELS[name]).parameters.values()
    assert first.name == "logdensity_fn"
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in others)
    kernel = build(name)
    assert [*inspect.signature(kernel.init).parameters] == ["position"]
    assert [*inspect.signature(kernel.step).parameters] == ["key", "state", "tuned"]
    assert kernel.exact is True


@every_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_state_keeps_its_types_and_info_is_complete(name: str, dtype: Any) -> None:
    kernel = build(name)
    with jax.enable_x64(dtype is np.float64):
        state = kernel.init(start(dtype))
        new, info = jax.jit(kernel.step)(jax.random.key(0), state, tuned(0.3, dtype))
    assert isinstance(state, State)
    assert isinstance(new, State)
    assert isinstance(info, Info)
    for before, after in zip(state, new, strict=True):
        assert before.shape == after.shape
        assert before.dtype == after.dtype == dtype
    for field, value in info._asdict().items():
        assert jnp.shape(value) == (), field
        assert np.isfinite(value), field
    assert info.is_divergent.dtype == bool
    assert info.step_size == tuned(0.3, dtype).step_size
    assert 0 <= info.acceptance_rate <= 1
    np.testing.assert_allclose(new.logdensity, log_gaussian(new.position), rtol=1e-6)
    np.testing.assert_allclose(new.logdensity_grad, -new.position / SD**2, rtol=1e-5)


@every_kernel
def test_step_is_pure_and_traced_once(name: str) -> None:
    """Any key, state and tuning reuse one trace; equal arguments give equal results."""
    kernel, traces = build(name), []

    @jax.jit
    def step(key: jax.Array, state: State, tuning: Tuned) -> tuple[State, Info]:
        traces.append(key)
        return kernel.step(key, state, tuning)

    state = kernel.init(start())
    for seed, step_size in enumerate((0.1, 0.3, 0.1)):
        once = step(jax.random.key(seed), state, tuned(step_size))
        again = step(jax.random.key(seed), state, tuned(step_size))
        jax.tree.map(np.testing.assert_array_equal, once, again)
        state = once[0]
    assert len(traces) == 1


@every_kernel
def test_absurd_step_diverges_and_stays(name: str) -> None:
    state, step = compiled(name)
    for seed in range(20):
        new, info = step(jax.random.key(seed), state, tuned(1e3))
        assert info.is_divergent
        assert info.acceptance_rate < 1e-6
        jax.tree.map(np.testing.assert_array_equal, new, state)
        assert not step(jax.random.key(seed), state, tuned(0.1))[1].is_divergent


@every_kernel
def test_divergence_threshold_is_passed_on(name: str) -> None:
    """The same trajectories diverge or not as the threshold says."""
    for threshold, expected in ((1e-8, True), (1e8, False)):
        kernel = build(name, divergence_threshold=threshold)
        state, step = kernel.init(start()), jax.jit(kernel.step)
        infos = [step(jax.random.key(seed), state, tuned(0.5))[1] for seed in range(10)]
        assert any(info.is_divergent for info in infos) == expected


@every_kernel
def test_never_enters_a_region_of_no_density(name: str) -> None:
    """Half the space has log density NaN: the chain never goes there and says so."""
    kernel = build(name, lambda q: jnp.where(q[0] > 0, log_gaussian(q), jnp.nan))
    state, step, divergent = kernel.init(start()), jax.jit(kernel.step), []
    for seed in range(100):
        state, info = step(jax.random.key(seed), state, tuned(0.1))
        divergent.append(bool(info.is_divergent))
        assert state.position[0] > 0
        assert np.isfinite(info.energy)
        assert np.isfinite(info.acceptance_rate)
    assert any(divergent)
    assert not all(divergent)


@every_kernel
def test_energy_is_that_of_the_kept_state(name: str) -> None:
    """Forced to reject, the energy is the initial one.

    The momentum that a key draws is read off a step so small that the density does not matter.
    """
    kernel = build(name, **ONE_LEAPFROG[name])
    state, step = kernel.init(start()), jax.jit(kernel.step)
    for seed in range(5):
        key = jax.random.key(seed)
        moved, _ = step(key, state, tuned(1e-6))
        momentum = (moved.position - state.position) / 1e-6 / INVERSE_MASS
        assert np.abs(momentum).min() > 0
        kinetic = 0.5 * np.sum(momentum**2 * INVERSE_MASS)
        stayed, info = step(key, state, tuned(30.0))
        np.testing.assert_array_equal(stayed.position, state.position)
        np.testing.assert_allclose(info.energy, kinetic - state.logdensity, rtol=1e-4)
