"""Job specifications become the functions they name, on the rows they should see."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from nlobayes import build
from nlobayes.build import Model
from nlobayes.errors import InputError
from nlobayes.inference.kernels.protocol import Tuned
from nlobayes.inference.pretrain import fit_map
from nlobayes.model import likelihoods, priors
from nlobayes.study import presets
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset

SIGMA = 0.2
TOLERANCE = presets.ToleranceLikelihood(kind="tolerance", sigma=SIGMA)
LEARNED = presets.LearnedNoiseLikelihood(kind="learned_noise", scale=0.5)


def job(
    hidden: tuple[int, ...] = (4,),
    likelihood: presets.Likelihood = TOLERANCE,
    prior: presets.Prior | None = None,
) -> ModelJob:
    return ModelJob(
        network=presets.Network(hidden=hidden, activation="tanh"),
        prior=prior or presets.FanInPrior(kind="fan_in"),
        likelihood=likelihood,
        precision="float64",
    )


@pytest.fixture(scope="module")
def fixed(dataset: Dataset) -> Model:
    return build.build_model(job(), dataset)


@pytest.fixture(scope="module")
def learned(dataset: Dataset) -> Model:
    return build.build_model(job(likelihood=LEARNED), dataset)


def network_by_hand(model: Model, position: jax.Array, features: np.ndarray) -> np.ndarray:
    v = {name: np.asarray(value) for name, value in model.density.variables(position).items()}
    hidden = np.tanh(features @ v["weights_1"] + v["biases_1"])
    return (hidden @ v["weights_2"] + v["biases_2"])[:, 0]


def test_model_sees_the_train_rows_alone(fixed: Model, dataset: Dataset) -> None:
    position, train = fixed.density.draw_prior(1), dataset.split == 0
    assert 0 < train.sum() < len(train)
    residual = dataset.target - network_by_hand(fixed, position, dataset.features)
    expected = fixed.density.log_prior(position) + norm.logpdf(residual[train], scale=SIGMA).sum()
    np.testing.assert_allclose(fixed.logdensity_fn(position), expected, rtol=1e-12)
    assert fixed.network.sizes == (5, 4, 1)
    assert fixed.density.coords["feature"] == dataset.feature_names


@pytest.mark.parametrize(
    ("hidden", "expected"),
    [((), ("columns", 0)), ((33, 2), ("columns", 512)), ((513,), ("rows", 512))],
)
def test_layout_is_chosen_by_the_widest_layer(
    hidden: tuple[int, ...], expected: tuple[str, int], dataset: Dataset
) -> None:
    density = build.build_model(job(hidden), dataset).density
    assert (density.layout, density.chunk) == expected


def test_presets_become_priors_and_likelihoods() -> None:
    fan_in = presets.FanInPrior(kind="fan_in", scale=2.0)
    plain = presets.GaussianPrior(kind="gaussian", precision=4.0, whitened=False)
    assert build.build_prior(fan_in) == priors.FanIn(2.0)
    assert build.build_prior(plain) == priors.Gaussian(0.5, False)
    assert build.build_prior(presets.GaussianPrior(kind="gaussian")) == priors.Gaussian(1.0, True)
    assert build.build_likelihood(TOLERANCE) == likelihoods.Tolerance(SIGMA)
    assert build.build_likelihood(LEARNED) == likelihoods.LearnedNoise(0.5)


@pytest.mark.parametrize(
    ("preset", "steps"),
    [
        (presets.HMCKernel(kind="hmc", integration_steps=5, jitter=0.0), 5),
        (presets.NUTSKernel(kind="nuts", max_depth=3), 7),
    ],
)
def test_kernel_has_the_settings_of_its_preset(preset: presets.Kernel, steps: int) -> None:
    kernel = build.build_kernel(preset, lambda q: -0.5 * jnp.sum(q**2))
    tuned = Tuned(jnp.asarray(1e-3), jnp.ones(2))
    _, info = jax.jit(kernel.step)(jax.random.key(0), kernel.init(jnp.ones(2)), tuned)
    assert info.num_integration_steps == steps


def test_problem_is_the_posterior(fixed: Model, dataset: Dataset) -> None:
    problem, position = build.build_problem(fixed), fixed.density.draw_prior(2)
    train, validation = (build.rows_of(fixed, dataset, split) for split in (0, 1))
    posterior = problem.log_prior(position) + problem.log_likelihood(position, *train)
    np.testing.assert_allclose(posterior, fixed.logdensity_fn(position), rtol=1e-12)
    output = problem.predict(position, validation.features)
    expected = network_by_hand(fixed, position, np.asarray(validation.features))
    np.testing.assert_allclose(output, expected, rtol=1e-12)


@pytest.mark.parametrize("split", [0, 1, 2])
def test_rows_are_those_of_the_split(split: int, fixed: Model, dataset: Dataset) -> None:
    rows = build.rows_of(fixed, dataset, split)
    np.testing.assert_array_equal(rows.features, dataset.features[dataset.split == split])
    np.testing.assert_array_equal(rows.target, dataset.target[dataset.split == split])


def test_pretraining_finds_the_ridge_solution(dataset: Dataset) -> None:
    """A network without hidden layer: its MAP is ridge regression, bias shrunk as the weights."""
    prior = presets.GaussianPrior(kind="gaussian", precision=3.0)
    dataset = dataset._replace(target=dataset.target + 0.5)
    model = build.build_model(job((), prior=prior), dataset)
    train, validation = (build.rows_of(model, dataset, split) for split in (0, 1))
    fit = jax.jit(
        lambda start: fit_map(
            build.chain_key(0, "pretrain", 0),
            start,
            build.build_problem(model),
            train,
            validation,
            epochs=3000,
            batch=len(train.target),
            learning_rate=0.05,
            patience=None,
        )
    )(build.draw_start(model, "prior", seed=0, chain=0))
    x = np.column_stack([train.features, np.ones(len(train.target))])
    ridge = np.linalg.solve(x.T @ x / SIGMA**2 + 3.0 * np.eye(6), x.T @ train.target / SIGMA**2)
    found = build.name_variables(model, fit.position).values
    np.testing.assert_allclose([*found["weights_1"][:, 0], *found["biases_1"]], ridge, rtol=1e-5)


@pytest.mark.parametrize("start", ["prior", "standard_normal"])
def test_starts_are_independent(start: str, dataset: Dataset) -> None:
    """Across chains and seeds, and the same again for the same chain and seed."""
    model = build.build_model(job((64,)), dataset)
    starts = [
        np.asarray(build.draw_start(model, start, seed=seed, chain=chain))
        for seed, chain in product((0, 1), range(4))
    ]
    again = build.draw_start(model, start, seed=1, chain=3)
    np.testing.assert_array_equal(again, starts[-1])
    correlations = np.corrcoef(starts)[np.triu_indices(8, 1)]
    assert np.abs(correlations).max() < 4.5 / np.sqrt(model.density.size)
    everything = np.concatenate(starts)  # standard normal, for the prior is whitened
    assert abs(everything.mean()) < 4 / np.sqrt(everything.size)
    assert abs(everything.var() - 1) < 4 * np.sqrt(2 / everything.size)
    assert everything.dtype == model.density.dtype


def test_keys_differ_by_seed_stage_and_chain() -> None:
    grid = list(product(range(4), build.STAGES, range(4)))
    keys = {jax.random.key_data(build.chain_key(*place)).tobytes() for place in grid}
    assert len(keys) == len(grid)


def test_observer_sees_f_at_the_reference_points(
    fixed: Model, learned: Model, dataset: Dataset
) -> None:
    points = dataset.features[dataset.reference]
    for model, names in ((fixed, {"f"}), (learned, {"f", "noise"})):
        position = model.density.draw_prior(3)
        observed = build.observer(model, dataset)(position)
        assert observed.keys() == names
        expected = network_by_hand(model, position, points)
        np.testing.assert_allclose(observed["f"], expected, rtol=1e-12)
        if "noise" in names:
            np.testing.assert_allclose(observed["noise"], np.exp(position[-1]), rtol=1e-12)


def test_variables_of_many_positions_are_named(learned: Model) -> None:
    positions = jnp.stack([learned.density.draw_prior(seed) for seed in range(6)])
    named = build.name_variables(learned, positions.reshape(2, 3, -1))
    assert named.values["weights_1"].shape == (2, 3, 5, 4)
    assert named.values["noise"].shape == (2, 3)
    assert named.dims.keys() == named.values.keys()
    for name, value in learned.density.variables(positions[5]).items():
        np.testing.assert_array_equal(named.values[name][1, 2], value)


def test_position_without_density_is_refused(fixed: Model) -> None:
    build.check_finite(fixed, fixed.density.draw_prior(4), "start")
    broken = fixed.density.draw_prior(4).at[0].set(jnp.nan)
    with pytest.raises(InputError, match=r"chain 3: the log density is nan; .*learning rate"):
        build.check_finite(fixed, broken, "chain 3")
