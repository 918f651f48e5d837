"""Records of every jump: numbers before and after, acceptance probability and result."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes import builder
from nlobayes.builder.varying_architecture import architecture_of, prior_of_sizes
from nlobayes.inference.kernel import Posterior
from nlobayes.inference.varying_part import Architecture, Layers, Units
from nlobayes.kernels.reversible_jump import TunedSizes
from nlobayes.model.networks import is_size
from nlobayes.types import Dataset
from tests.jobs import model_job
from tests.members import build_kernel

UNITS = Units(np.array([0, 1, 2]), np.array([[3], [4], [5]]), np.array([[6], [7], [8]]), fewest=1)
LAYERS = Layers(
    9, np.array([[10], [11]]), lambda _: jnp.zeros((2, 1)), np.array([6, 7, 8]), fewest=1
)
DRAWS, JUMPS, LEAPFROGS = 60, 3, 2
VARYING: dict[str, dict[str, Any]] = {
    "units": {"hidden": [3, 2], "units": {"kind": "uniform"}},
    "layers": {"hidden": [3, 3], "activation": "relu", "layers": {"kind": "poisson", "mean": 2}},
}


def log_density(position: jax.Array, _: float | jax.Array = 1.0, /) -> jax.Array:
    """Standard normal, whatever is in use."""
    held = jnp.array([0, 1, 2, 9])
    return -0.5 * (jnp.sum(position**2) - jnp.sum(position[held] ** 2))


def draws_of(annealing_steps: int = 0, annealed: Any = None) -> dict[str, np.ndarray]:
    """Give the statistics of the draws of one chain."""
    kernel = build_kernel(
        "reversible_jump",
        Posterior(log_density, architecture=Architecture((UNITS,), LAYERS)),
        moves=("prior", "split"),
        jumps=JUMPS,
        annealing_steps=annealing_steps,
        annealing_integration_steps=LEAPFROGS,
        annealed=annealed,
        integration_steps=2,
        jitter=0.0,
    )
    step_sizes = jnp.full(Architecture((UNITS,), LAYERS).sizes, 0.3)
    tuned = TunedSizes(step_sizes, jnp.ones(12), jnp.full(3, 0.3))
    start = jnp.array([1.0, 0, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0, 0.7, 0.8])

    def step(state: Any, key: jax.Array) -> Any:
        state, info = kernel.step(key, state, tuned)
        numbers = {"width_1": state.position[:3].sum(), "depth": state.position[9]}
        return state, (info.extra | {"gradients": info.num_integration_steps}, numbers)

    keys = jax.random.split(jax.random.key(2), DRAWS)
    extra, numbers = jax.jit(lambda: jax.lax.scan(step, kernel.init(start), keys)[1])()
    found = {name: np.asarray(values) for name, values in extra.items()}
    return found | {f"at_{name}": np.asarray(values) for name, values in numbers.items()}


@pytest.fixture(scope="module")
def draws() -> dict[str, np.ndarray]:
    return draws_of()


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("annealed", "paths"),
    [
        (("split",), ("split_1",)),
        (None, ("prior_1", "prior_layer", "split_1")),
        (("prior",), ("prior_1", "prior_layer")),
        ((), ()),
    ],
)
def test_only_the_moves_that_are_named_follow_a_path(annealed: Any, paths: Any) -> None:
    """A path of two densities costs its leapfrog steps; a density costs one for each jump."""
    draws = draws_of(annealing_steps=2, annealed=annealed)
    of_paths = sum((draws[f"jumps_{name}"] for name in paths), np.zeros(DRAWS, int))
    leapfrogs = 2 * 2 * LEAPFROGS * of_paths
    np.testing.assert_array_equal(draws["gradients"], 2 + 1 + JUMPS + leapfrogs)


@pytest.mark.parametrize("name", ["width_1", "depth"])
def test_jumps_follow_each_other(draws: dict[str, np.ndarray], name: str) -> None:
    """Each begins where the one before ended, and the draw is where its last one ended."""
    before, proposed = draws[f"jump_from_{name}"], draws[f"jump_to_{name}"]
    assert before.shape == (DRAWS, JUMPS)
    after = np.where(draws["jump_accepted"], proposed, before)
    assert before.ravel()[0] == 1
    np.testing.assert_array_equal(before.ravel()[1:], after.ravel()[:-1])
    np.testing.assert_array_equal(draws[f"at_{name}"], after[:, -1])
    assert len(np.unique(after)) == 3


def test_probabilities_are_those_of_the_jumps_that_are_counted(
    draws: dict[str, np.ndarray],
) -> None:
    names = [name.removeprefix("jumps_") for name in draws if name.startswith("jumps_")]
    summed = [draws[f"jumps_{n}"] * np.nan_to_num(draws[f"jump_acceptance_{n}"]) for n in names]
    np.testing.assert_allclose(np.sum(summed, axis=0), draws["jump_probability"].sum(axis=1), 1e-5)


@pytest.mark.parametrize("kind", VARYING)
def test_numbers_have_the_names_that_the_model_gives(kind: str, dataset: Dataset) -> None:
    job = model_job(**VARYING[kind])
    model = builder.build_model(job, dataset)
    architecture = architecture_of(model.network, model.density, model.varying)
    assert architecture is not None
    position = model.density.draw_prior(3)
    named = model.density.variables(position)
    expected = {name: float(value) for name, value in named.items() if is_size(name)}
    assert architecture.numbers(position) == expected
    assert prior_of_sizes(job.network).keys() == expected.keys()
