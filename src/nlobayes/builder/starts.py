"""Starting points of chains: draws from the prior, and the MAPs found from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.builder.keys import MOST_CHAINS, STAGES, chain_key
from nlobayes.builder.model import Model, predict_with, rows_of
from nlobayes.builder.varying_architecture import architecture_of
from nlobayes.errors import InputError
from nlobayes.inference.optimisers import OPTIMISERS, SCHEDULES
from nlobayes.inference.pretrain import Fit, Problem, Rows, fit_map, keep_best
from nlobayes.model.networks import layer_names
from nlobayes.model.prior import WHITENED
from nlobayes.study.pretraining import Pretraining
from nlobayes.types import Dataset


def draw_start(
    model: Model,
    start: str,
    *,
    seed: int,
    chain: int,
    draws: int = 1000,
    sd: float = 1.0,
    size: int | None = None,
    weights: Mapping[str, np.ndarray] = {},
) -> jax.Array:
    """Draw the starting point of a chain, independent of every other chain's.

    `start` is the setting of pretraining, and `sd` that of `standard_normal`; the first of the
    `draws` of `best_of_prior` is the draw of `prior`. Draws of the prior have `size` units in each
    layer, or hidden layers, if that is given and their number varies. `weights` are put into a draw
    of the prior: arrays by the names of the network, or of several chains, of which one is taken.

    Raises InputError if `start` is `he` or `weights` are given, and the prior does not state each
    weight as a number times a scale plus a mean; or `weights` are not those of the network.
    """
    key = chain_key(seed, "start", chain)
    if start == "standard_normal":
        return sd * jax.random.normal(key, (model.density.size,), model.density.dtype)
    sequence = np.random.SeedSequence([seed, STAGES["start"], chain])
    words = sequence.generate_state(draws if start == "best_of_prior" else 1)
    drawn = jnp.stack([model.density.draw_prior(int(word)) for word in words])
    if size is not None:
        drawn = _of_size(model, drawn, size)
    if start == "best_of_prior":
        return _best(model, drawn)
    if start == "he":
        return _with_weights(model, drawn[0], _he_weights(model, key, drawn.dtype), start)
    chosen = _of_chain(model, weights, chain)
    return _with_weights(model, drawn[0], chosen, "weights") if weights else drawn[0]


def _of_size(model: Model, positions: jax.Array, size: int) -> jax.Array:
    """Set the number of units of each layer, or of hidden layers, in positions (draw, entry)."""
    architecture = architecture_of(model.network, model.density, model.varying)
    assert architecture is not None
    for units in architecture.units:
        positions = positions.at[:, units.used].set(np.arange(len(units.used)) < size)
    if architecture.layers is not None:
        positions = positions.at[:, architecture.layers.count_at].set(size)
    return positions


def _best(model: Model, positions: jax.Array) -> jax.Array:
    """Pick the position (draw, parameter) with the highest finite posterior density."""
    sampled = model.sampled
    log_density = jax.jit(lambda given: jax.lax.map(sampled.logdensity_fn, given))
    found = log_density(sampled.reduce(positions))
    return positions[jnp.argmax(jnp.where(jnp.isnan(found), -jnp.inf, found))]


def _he_weights(model: Model, key: jax.Array, dtype: Any) -> dict[str, jax.Array]:
    """Draw weights N(0, 2 / inputs), with zero biases (He et al. 2015, eq. 10)."""
    goals: dict[str, jax.Array] = {}
    for index, layer in enumerate(layer_names(model.network)):
        into, out = model.network.sizes[index : index + 2]
        drawn = jax.random.normal(jax.random.fold_in(key, index), (into, out), dtype)
        goals |= {layer.weights: drawn * jnp.sqrt(2 / into), layer.biases: jnp.zeros(out)}
    return goals


def _of_chain(model: Model, weights: Mapping[str, np.ndarray], chain: int) -> dict[str, jax.Array]:
    """Take the arrays of a chain, each of the shape that the network has."""
    sizes, shapes = model.network.sizes, dict[str, tuple[int, ...]]()
    for into, out, layer in zip(sizes[:-1], sizes[1:], layer_names(model.network), strict=True):
        shapes |= {layer.weights: (into, out), layer.biases: (out,)}
    chosen: dict[str, jax.Array] = {}
    for name, given in weights.items():
        shape = shapes.get(name, ())
        of_chains = given if given.ndim > len(shape) else given[np.newaxis]
        if name not in shapes or of_chains.shape[1:] != shape or not len(of_chains):
            known = [f"{key} {shape}" for key, shape in shapes.items()]
            raise InputError("builder.start_weights", name=name, shape=given.shape, known=known)
        if not np.isfinite(given).all():
            raise InputError("builder.start_not_finite", name=name)
        chosen[name] = jnp.asarray(of_chains[chain % len(of_chains)], model.density.dtype)
    return chosen


def _with_weights(
    model: Model, position: jax.Array, goals: Mapping[str, jax.Array], start: str
) -> jax.Array:
    """Set weights and biases in a position.

    Each is a number times a scale plus a mean; both are computed from its values at zero and one.
    """
    places = {name: _place_of(model, name, start) for name in goals}

    def put(values: dict[str, jax.Array]) -> tuple[jax.Array, dict[str, jax.Array]]:
        moved = position
        for name, place in places.items():
            moved = moved.at[place].set(values[name].ravel())
        return moved, model.density.variables(moved)

    # The constants of the affine map from entries to weights are the prior's own: two evaluations
    # give them for any prior, and a third shows whether the map is affine.
    _, mean = put({name: jnp.zeros_like(goal) for name, goal in goals.items()})
    _, above = put({name: jnp.ones_like(goal) for name, goal in goals.items()})
    moved, found = put({n: (goal - mean[n]) / (above[n] - mean[n]) for n, goal in goals.items()})
    for name, goal in goals.items():
        if not np.allclose(found[name], goal, rtol=1e-3, atol=1e-3):
            raise InputError("builder.he_start", where="pretraining", name=name, start=start)
    return moved


def _place_of(model: Model, name: str, start: str) -> slice:
    """Find where an array lies in a position, non-centered or centered."""
    places = model.density.places
    for stated in (name + WHITENED, name):
        if stated in places:
            return places[stated]
    raise InputError("builder.he_start", where="pretraining", name=name, start=start)


def draw_functions(model: Model, features: np.ndarray, *, seed: int, draws: int) -> np.ndarray:
    """Draw the network at features (point, feature) from the prior: (draw, point, ...).

    Fewer draws are the first of a longer series.
    """
    words = np.random.SeedSequence([seed, STAGES["prior"]]).generate_state(draws)
    positions = jnp.stack([model.density.draw_prior(int(word)) for word in words])
    placed, process = jnp.asarray(features, model.density.dtype), model.process
    if process is not None:
        key = chain_key(seed, "prior", 0)
        keys = jnp.stack([jax.random.fold_in(key, number) for number in range(draws)])
        drawn = jax.lax.map(
            lambda one: process.draw_prior(one[0], one[1], model.data, placed), (keys, positions)
        )
        return np.asarray(drawn)
    predict = predict_with(model)
    evaluate = jax.jit(lambda given: jax.lax.map(lambda one: predict(one, placed), given))
    return np.asarray(evaluate(positions))


def build_problem(model: Model) -> Problem:
    """Build the problem of pretraining; its misfit is the RMSE, or for classes the log loss.

    Its positions are those of chains; the misfit uses the conditional mean of all other entries.
    """
    density, predict, sampled = model.density, predict_with(model), model.sampled

    def log_likelihood(position: jax.Array, rows: Rows) -> jax.Array:
        return sampled.log_likelihood(position, density.batch(*rows))

    def misfit(position: jax.Array, rows: Rows) -> jax.Array:
        whole = sampled.whole(position)
        output = predict(whole, rows.features)
        noise = model.likelihood.noise_about(output, density.variables(whole), None, jnp)
        if noise is None:
            return -log_likelihood(position, rows) / len(rows.target)
        return jnp.sqrt(jnp.mean((noise.centre - rows.target) ** 2))

    return Problem(sampled.log_prior, log_likelihood, misfit, sampled.logdensity_fn)


def build_search(
    model: Model,
    dataset: Dataset,
    preset: Pretraining,
    seed: int,
    before: np.ndarray | None = None,
    weights: Mapping[str, np.ndarray] = {},
) -> Callable[[int], tuple[Fit, list[float]]]:
    """Build the search for the MAP of a chain: the best of its restarts, and the loss of each.

    The first fit starts at the position `before` (parameter,) if that is given, such as the MAP
    given fewer rows, or has the `weights` that `draw_start` takes.

    The loss is the negative log posterior per row, over all train rows. The first fit of a chain
    is the same for every number of restarts; the others use keys of chain numbers that do not
    exist. If the output layer is integrated out, the loss is that of the other parameters, and the
    result has the conditional mean of the output layer.

    Raises InputError if the output layer is integrated out and the preset requests minibatches, or
    the position is one of another model.
    """
    size = model.density.size
    if before is not None and before.shape != (size,):
        raise InputError("builder.other_position", where="before", found=before.shape, size=size)
    if model.sampled.complete is not None and preset.batch != "full":
        raise InputError("builder.minibatches", where="pretraining.batch", batch=preset.batch)
    problem = build_problem(model)
    train, validation = (rows_of(model, dataset, split) for split in (0, 1))
    static = ("problem", "epochs", "batch", "patience", "optimiser", "schedule")
    fit_from = partial(
        jax.jit(fit_map, static_argnames=static),
        problem=problem,
        train=train,
        validation=validation,
        **preset.model_dump(include={"epochs", "batch", "learning_rate", "patience"}),
        optimiser=OPTIMISERS[preset.optimiser.kind](**preset.optimiser.settings),
        schedule=SCHEDULES[preset.schedule.kind](**preset.schedule.settings),
    )
    log_density = jax.jit(problem.log_density)
    sizes = preset.start_sizes or (None,)

    def fit(number: int) -> Fit:
        start = (
            draw_start(
                model,
                preset.start,
                seed=seed,
                chain=number,
                draws=preset.start_draws,
                sd=preset.start_sd,
                size=sizes[number % MOST_CHAINS % len(sizes)],
                weights=weights if number < MOST_CHAINS else {},
            )
            if before is None or number >= MOST_CHAINS
            else jnp.asarray(before, model.density.dtype)
        )
        return fit_from(chain_key(seed, "pretrain", number), model.sampled.reduce(start))

    def search(chain: int) -> tuple[Fit, list[float]]:
        fits = (fit(chain + restart * MOST_CHAINS) for restart in range(preset.restarts))
        best, losses = keep_best(fits, lambda position: -log_density(position) / len(train.target))
        return _completed(model, best), losses

    return search


def _completed(model: Model, fit: Fit) -> Fit:
    """Return the positions of a fit as full positions."""
    if model.sampled.complete is None:
        return fit
    whole = jax.jit(model.sampled.whole)
    path = jnp.stack([whole(position) for position in fit.path])
    return fit._replace(position=whole(fit.position), path=path)
