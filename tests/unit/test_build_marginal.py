"""A model whose output layer is integrated out, as chains move it and all others see it."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from nlobayes import builder
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.kernel import Posterior
from nlobayes.inference.sampling import Draws, draw
from nlobayes.methods.mcmc import MCMC
from nlobayes.study.pretraining import Pretraining
from nlobayes.types import Dataset
from tests.jobs import model_job
from tests.refusals import refused

NEAL = {"kind": "hierarchical", "hyper": {"kind": "gamma_precision"}}
CHAINS, SEED = (0, 2), 5


def make(dataset: Dataset) -> builder.Model:
    noise = {"kind": "gaussian", "sigma": None}
    job = model_job(3, prior=NEAL, likelihood=noise, output="marginalised")
    return builder.build_model(job, dataset)


@cache
def method() -> MCMC:
    kernel = {"kind": "hmc", "integration_steps": 3}
    warmup = {"steps": 20, "initial_step_size": 0.01}
    return MCMC.model_validate({"kernel": kernel, "warmup": warmup, "draws_per_segment": 8})


def drawn(model: builder.Model, dataset: Dataset, cuts: tuple[int, ...]) -> list[Draws]:
    """Draw segments of so many kept draws each, two steps apart."""
    kernel = method().kernel.build(Posterior(model.sampled.logdensity_fn))
    adaptation = method().warmup.build(Untuned(kernel, method().kernel))
    starts = [builder.draw_start(model, "prior", seed=SEED, chain=chain) for chain in CHAINS]
    begin = builder.begin_chains(model, [np.asarray(start) for start in starts])
    states, tuned = adaptation.finish(adaptation.start(begin))
    pieces, first = [], 0
    for kept in cuts:
        states, piece = draw(
            builder.chain_keys(SEED, "draw", CHAINS),
            kernel,
            states,
            tuned,
            first=first,
            kept=kept,
            thin=2,
            observe=builder.observer(model, dataset),
            completion=builder.complete_chains(model, SEED, CHAINS),
        )
        pieces.append(piece)
        first += 2 * kept
    return pieces


@pytest.mark.slow
def test_kept_draws_are_networks_whose_f_was_observed(dataset: Dataset) -> None:
    """And segments of any length give the same draws, of the output layer too."""
    model = make(dataset)
    [whole] = drawn(model, dataset, (4,))
    parts = drawn(model, dataset, (1, 3))
    joined: Any = jax.tree.map(lambda *x: np.concatenate(x, axis=1), *parts)
    np.testing.assert_allclose(joined.kept, whole.kept, rtol=1e-10)
    assert whole.kept.shape == (2, 4, model.density.size)
    points = jnp.asarray(dataset.features[dataset.reference])
    f = jax.vmap(jax.vmap(lambda q: builder.predict_with(model)(q, points)))(whole.kept)
    np.testing.assert_allclose(f, whole.observed["f"][:, 1::2], rtol=1e-10)
    named = builder.name_variables(model, whole.kept).values
    assert named["weights_2"].shape == (2, 4, 3, 1)
    assert len(np.unique(named["biases_2"])) == 8


def test_pretraining_seeks_the_maximum_of_what_chains_move(dataset: Dataset) -> None:
    """BFGS from there gains little, and the output layer has its conditional mean."""
    model = make(dataset)
    preset = Pretraining.model_validate({"epochs": 1000, "batch": "full", "learning_rate": 0.05})
    with refused("builder.minibatches", batch=5):
        builder.build_search(model, dataset, preset.model_copy(update={"batch": 5}), SEED)
    fit, [loss] = builder.build_search(model, dataset, preset, SEED)(0)
    found, rows = model.sampled.reduce(fit.position), int((dataset.split == 0).sum())
    energy = jax.jit(jax.value_and_grad(lambda q: -model.sampled.logdensity_fn(q)))
    start = float(energy(model.sampled.reduce(fit.path[0]))[0])
    least = minimize(energy, found, jac=True, method="BFGS", options={"maxiter": 300}).fun
    np.testing.assert_allclose(loss * rows, energy(found)[0], rtol=1e-9)
    assert loss * rows - least < 0.05 * (start - least)
    output = np.setdiff1d(np.arange(model.density.size), model.sampled.left)
    slopes = jax.jit(jax.grad(model.logdensity_fn))(fit.position)[output]
    np.testing.assert_allclose(slopes, 0, atol=1e-6)
    np.testing.assert_allclose(fit.path[-1], fit.position, rtol=1e-9)


def test_chains_move_all_but_the_output_layer(dataset: Dataset) -> None:
    model = make(dataset)
    places, left = model.density.places, model.sampled.left
    output = [places[f"{name}_2_whitened"] for name in ("weights", "biases")]
    assert len(left) == model.density.size - 4
    assert not {*left} & {i for place in output for i in range(place.start, place.stop)}
    standard = left[builder.standard_entries(model)]
    hidden = [places[f"{name}_1_whitened"] for name in ("weights", "biases")]
    assert [*standard] == [i for place in hidden for i in range(place.start, place.stop)]


def test_curvature_is_that_of_the_density_where_the_noise_is_small(dataset: Dataset) -> None:
    """Positive definite, and of the size of the density's own along its stiffest direction."""
    model = make(dataset)
    position = builder.draw_start(model, "prior", seed=SEED, chain=0)
    noise = model.density.places["noise"]
    here = model.sampled.reduce(position.at[noise].set(np.log(0.05)))
    curvature = jax.jit(builder.curvature_with(model, dataset))(here)
    values, vectors = np.linalg.eigh(np.asarray(curvature))
    assert values[0] > 0
    gradient = jax.jit(jax.grad(model.sampled.logdensity_fn))
    step = 1e-5 * vectors[:, -1]
    own = vectors[:, -1] @ (gradient(here - step) - gradient(here + step)) / 2e-5
    assert 0.1 < own / values[-1] < 10


def test_held_entries_stay_where_they_are_in_what_chains_move(dataset: Dataset) -> None:
    model = make(dataset)
    assert model.conjugates is not None
    assert model.sampled.conjugates is not None
    held = model.sampled.left[model.sampled.conjugates.entries]
    np.testing.assert_array_equal(np.sort(held), np.sort(model.conjugates.entries))
