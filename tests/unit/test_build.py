"""Job specifications become the functions they name, on the rows they should see."""

from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy.stats import norm

from nlobayes import builder
from nlobayes.adaptations import WARMUPS, Warmup
from nlobayes.adaptations.windows import WindowWarmup
from nlobayes.builder import Model
from nlobayes.builder.varying_architecture import architecture_of
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.chain_arrays import to_arrays
from nlobayes.inference.kernel import Posterior, Tuned
from nlobayes.inference.pretrain import fit_map
from nlobayes.inference.warmup import adapt
from nlobayes.kernels import KERNELS, Kernel
from nlobayes.kernels.gibbs_hmc import GibbsHMCKernel
from nlobayes.kernels.hmc import HMCKernel
from nlobayes.kernels.nuts import NUTSKernel
from nlobayes.kernels.random_walk import RandomWalkKernel
from nlobayes.likelihoods import Likelihood
from nlobayes.likelihoods.gaussian import GaussianLikelihood
from nlobayes.priors import Prior
from nlobayes.priors.hierarchical import GammaPrecision, HierarchicalPrior
from nlobayes.priors.independent import GaussianPrior
from nlobayes.study.pretraining import Pretraining
from nlobayes.types import Dataset
from tests.jobs import model_job
from tests.refusals import refused

SIGMA = 0.2
TOLERANCE = GaussianLikelihood(kind="gaussian", sigma=SIGMA)
HMC = HMCKernel(kind="hmc", integration_steps=4)
WALK = RandomWalkKernel(kind="random_walk")
MASS_MATRICES: tuple[Any, ...] = ("dense", "low_rank", "identity")
LEARNED = GaussianLikelihood(kind="gaussian", sigma=None, scale=0.5)


every_likelihood = pytest.mark.parametrize(
    "likelihood", [TOLERANCE, LEARNED], ids=["fixed", "learned"]
)


def half_square(q: jax.Array, b: Any = 1.0) -> jax.Array:
    return -0.5 * b * jnp.sum(q**2)


@pytest.fixture(scope="module")
def noisy(dataset: Dataset) -> Dataset:
    """The dataset with errors from a hundredth of the tolerance to a hundred times it, in dex."""
    rng = np.random.default_rng(1)
    return dataset._replace(error=SIGMA * 10.0 ** rng.uniform(-2, 2, len(dataset.target)))


@pytest.fixture(scope="module")
def fixed(dataset: Dataset) -> Model:
    return builder.build_model(model_job(4), dataset)


@pytest.fixture(scope="module")
def learned(dataset: Dataset) -> Model:
    return builder.build_model(model_job(4, likelihood=LEARNED), dataset)


@pytest.fixture(scope="module")
def hierarchical(dataset: Dataset) -> Model:
    """The posterior of a prior whose scales every kernel can draw."""
    prior = HierarchicalPrior(kind="hierarchical", hyper=GammaPrecision(kind="gamma_precision"))
    return builder.build_model(model_job(4, prior=prior), dataset)


def network_by_hand(model: Model, position: jax.Array, features: np.ndarray) -> np.ndarray:
    v = {name: np.asarray(value) for name, value in model.density.variables(position).items()}
    hidden = np.tanh(features @ v["weights_1"] + v["biases_1"])
    return (hidden @ v["weights_2"] + v["biases_2"])[:, 0]


def row_noise(dataset: Dataset, sigma: Any) -> np.ndarray:
    """Noise of every row in units of the network, from the errors in dex."""
    assert dataset.error is not None
    sd = np.log10(dataset.observed[dataset.split == 0]).std()
    return np.hypot(sigma, dataset.error / sd)


def noise_of(model: Model, position: jax.Array) -> Any:
    return model.density.variables(position).get("noise", SIGMA)


def test_model_sees_the_train_rows_alone(fixed: Model, dataset: Dataset) -> None:
    position, train = fixed.density.draw_prior(1), dataset.split == 0
    assert 0 < train.sum() < len(train)
    residual = dataset.target - network_by_hand(fixed, position, dataset.features)
    expected = fixed.density.log_prior(position) + norm.logpdf(residual[train], scale=SIGMA).sum()
    np.testing.assert_allclose(fixed.logdensity_fn(position), expected, rtol=1e-12)


def test_jobs_share_a_model_where_all_contents_are_equal(dataset: Dataset) -> None:
    model = builder.build_model(model_job(4), dataset)
    copied = dataset._replace(features=dataset.features.copy())
    assert builder.build_model(model_job(4), copied) is model
    assert builder.build_model(model_job(5), dataset).density.size > model.density.size

    moved = builder.build_model(model_job(4), dataset._replace(target=dataset.target + 1))
    position = jnp.zeros(model.density.size)
    assert moved.logdensity_fn(position) != model.logdensity_fn(position)


@pytest.mark.parametrize("inverse_temperature", [0.0, 0.3, 1.0])
def test_an_inverse_temperature_flattens_the_likelihood_alone(
    fixed: Model, learned: Model, dataset: Dataset, inverse_temperature: float
) -> None:
    """Log prior + b log likelihood; the prior of the noise is no likelihood."""
    for model in (fixed, learned):
        position = model.density.draw_prior(5)
        data = model.density.batch(*builder.rows_of(model, dataset, 0))
        likelihood = model.density.log_likelihood(position, data)
        assert abs(likelihood) > 1
        expected = model.density.log_prior(position) + inverse_temperature * likelihood
        found = model.logdensity_fn(position, inverse_temperature)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert fixed.network.sizes == (5, 4, 1)
    assert fixed.density.coords["feature"] == dataset.feature_names


@pytest.mark.parametrize(
    ("hidden", "expected"),
    [((), ("columns", 480)), ((33, 2), ("columns", 480)), ((513,), ("rows", 480))],
)
def test_layout_is_chosen_by_the_widest_layer(
    hidden: tuple[int, ...], expected: tuple[str, int], dataset: Dataset
) -> None:
    density = builder.build_model(model_job(*hidden), dataset).density
    assert (density.layout, density.chunk) == expected


@pytest.mark.parametrize(
    ("preset", "steps"),
    [
        (WALK, 1),
        (HMCKernel(kind="hmc", integration_steps=5, jitter=0.0), 5),
        (HMC.model_copy(update={"jitter": 0.0, "trajectory_length": 3e-3}), 3),
        (NUTSKernel(kind="nuts", max_depth=3), 7),
    ],
)
def test_kernel_has_the_settings_of_its_preset(preset: Kernel, steps: int) -> None:
    kernel = preset.build(Posterior(half_square))
    tuned = Tuned(jnp.asarray(1e-3), jnp.ones(2))
    _, info = jax.jit(kernel.step)(jax.random.key(0), kernel.init(jnp.ones(2)), tuned)
    assert info.num_integration_steps == steps


def test_conjugate_hyperparameters_are_those_of_the_prior(
    fixed: Model, hierarchical: Model
) -> None:
    gibbs = GibbsHMCKernel(kind="gibbs_hmc", integration_steps=5, jitter=0.0)
    assert fixed.conjugates is None
    with refused("inference.no_conjugates"):
        gibbs.build(Posterior(fixed.logdensity_fn, fixed.conjugates))
    kernel = gibbs.build(Posterior(hierarchical.logdensity_fn, hierarchical.conjugates))
    position = hierarchical.density.draw_prior(3)
    tuned = Tuned(jnp.asarray(1e-9), jnp.ones(position.size))
    new, info = jax.jit(kernel.step)(jax.random.key(0), kernel.init(position), tuned)
    assert info.num_integration_steps == 6
    before, after = (hierarchical.density.variables(q) for q in (position, new.position))
    for name, value in before.items():
        stays = name.startswith(("weights", "biases"))
        assert np.allclose(after[name], value, atol=1e-6) == stays, name
    np.testing.assert_allclose(new.logdensity, hierarchical.logdensity_fn(new.position), rtol=1e-12)


@pytest.mark.parametrize(("share", "adapting"), [(1.0, 40), (0.5, 20)])
def test_adaptation_has_the_settings_of_its_preset(
    fixed: Model, share: float, adapting: int
) -> None:
    """From the initial step size on, for its share of all steps, whatever the pieces."""
    preset = WindowWarmup(
        steps=40,
        segments=2,
        adaptation_share=share,
        mass_matrix="identity",
        initial_step_size=0.003,
    )
    adaptation = preset.build(Untuned(HMC.build(Posterior(fixed.logdensity_fn)), HMC))
    positions = builder.stack_positions(
        fixed, [np.asarray(fixed.density.draw_prior(n)) for n in (7, 8)]
    )
    keys = builder.chain_keys(0, "warmup", (0, 1))

    def adapted(carry: Any) -> Any:
        return adapt(keys, adaptation, carry, first=0, steps=40)

    _, info, _ = jax.jit(adapted)(adaptation.start(positions))
    np.testing.assert_array_equal(info.step_size[:, 0], 0.003)
    for step_sizes in np.asarray(info.step_size):
        assert len(np.unique(step_sizes[:adapting])) > adapting // 2
        assert len(np.unique(step_sizes[adapting:])) == (adapting < 40)


def kinds() -> list[Any]:
    """A kernel of each kind with its warm-up, and every mass matrix."""
    built = [settings(kind=kind) for kind, settings in KERNELS.items()]
    pairs = [(kernel, WARMUPS[kernel.warmup](kind=kernel.warmup, steps=40)) for kernel in built]
    pairs += [(HMC, WindowWarmup(steps=40, mass_matrix=name)) for name in MASS_MATRICES]
    return [
        pytest.param(kernel, warmup, id=f"{kernel.kind}-{getattr(warmup, 'mass_matrix', '')}")
        for kernel, warmup in pairs
    ]


def test_curvature_of_a_network_is_that_of_its_outputs_and_of_its_learned_noise(
    learned: Model, dataset: Dataset
) -> None:
    """J' J over the learned variance, by finite differences, and 2 for each row of log sigma."""
    position = learned.density.draw_prior(4)
    train = jnp.asarray(dataset.features[dataset.split == 0])
    predict = builder.predict_with(learned)
    steps = 1e-5 * np.eye(learned.density.size)
    jacobian = np.stack(
        [(predict(position + d, train) - predict(position - d, train)) / 2e-5 for d in steps],
        axis=1,
    )
    noise = learned.density.variables(position)["noise"]
    prior = -jax.jit(jax.hessian(learned.density.log_prior))(position)
    place = learned.density.places["noise"]
    prior = prior.at[place, place].add(2 * len(train))
    forms = builder.approach(learned, dataset, [np.asarray(position)]).gauss_newton
    expected = jacobian.T @ jacobian / noise**2 + prior
    np.testing.assert_allclose(forms.dense(position), expected, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(forms.diagonal(position), np.diag(expected), rtol=1e-6)
    vector = jnp.arange(1.0, position.size + 1)
    found = forms.product(position)(vector)
    np.testing.assert_allclose(found, expected @ vector, rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("more", [0, 2])
@pytest.mark.parametrize(("kernel", "warmup"), kinds())
@pytest.mark.by_day(8)
def test_templates_have_the_form_of_what_is_carried(
    hierarchical: Model, kernel: Kernel, warmup: Warmup, more: int
) -> None:
    """Every array of a warm-up and of sampling, its shape and its type, by a name of its own.

    For as few chains as there may be in a chain group, and for more.
    """
    chains = (kernel.fewest_chains if kernel.learns_from_all_chains else 1) + more
    model = hierarchical
    built = kernel.build(Posterior(model.logdensity_fn, model.conjugates))
    adaptation = warmup.build(Untuned(built, kernel))
    positions = [np.asarray(model.density.draw_prior(chain)) for chain in range(chains)]
    carry = jax.jit(adaptation.start)(builder.stack_positions(model, positions))
    made = [carry, *jax.jit(adaptation.finish)(carry)]
    templates = [
        builder.warmup_template(model, adaptation, chains),
        *builder.sampling_template(model, adaptation, chains),
    ]
    for template, tree in zip(templates, made, strict=True):
        assert str(jax.tree.structure(template)) == str(jax.tree.structure(tree))
        for form, array in zip(jax.tree.leaves(template), jax.tree.leaves(tree), strict=True):
            assert (form.shape, form.dtype) == (array.shape, array.dtype)
        assert len(to_arrays(tree)) == len(jax.tree.leaves(tree))
    for tree in made[1:]:
        assert {array.shape[0] for array in jax.tree.leaves(tree)} == {chains}


def test_problem_is_the_posterior(fixed: Model, dataset: Dataset) -> None:
    problem, position = builder.build_problem(fixed), fixed.density.draw_prior(2)
    train, validation = (builder.rows_of(fixed, dataset, split) for split in (0, 1))
    posterior = problem.log_prior(position) + problem.log_likelihood(position, train)
    np.testing.assert_allclose(posterior, fixed.logdensity_fn(position), rtol=1e-12)
    np.testing.assert_array_equal(problem.log_density(position), fixed.logdensity_fn(position))
    output = network_by_hand(fixed, position, np.asarray(validation.features))
    rmse = np.sqrt(np.mean((output - validation.target) ** 2))
    np.testing.assert_allclose(problem.misfit(position, validation), rmse, rtol=1e-12)


@pytest.mark.parametrize("errors", [False, True])
def test_pretraining_finds_the_ridge_solution(
    errors: bool, dataset: Dataset, noisy: Dataset
) -> None:
    """A network without hidden layer: its MAP is ridge regression, bias shrunk as the weights.

    Errors weigh the rows, far from equally.
    """
    prior = GaussianPrior(kind="gaussian", precision=3.0)
    data = noisy if errors else dataset._replace(target=dataset.target + 0.5)
    model = builder.build_model(model_job(prior=prior), data)
    train, validation = (builder.rows_of(model, data, split) for split in (0, 1))
    fit = jax.jit(
        lambda start: fit_map(
            builder.chain_key(0, "pretrain", 0),
            start,
            builder.build_problem(model),
            train,
            validation,
            epochs=3000,
            batch=len(train.target),
            learning_rate=0.05,
            patience=None,
        )
    )(builder.draw_start(model, "prior", seed=0, chain=0))
    x = np.column_stack([train.features, np.ones(len(train.target))])

    def ridge(noise: np.ndarray) -> np.ndarray:
        weighted = x.T / noise**2
        return np.linalg.solve(weighted @ x + 3.0 * np.eye(6), weighted @ train.target)

    plain = ridge(np.array(SIGMA))
    expected = ridge(row_noise(noisy, SIGMA)[noisy.split == 0]) if errors else plain
    found = builder.name_variables(model, fit.position).values
    np.testing.assert_allclose([*found["weights_1"][:, 0], *found["biases_1"]], expected, rtol=1e-5)
    assert (np.abs(plain - expected).max() > 0.03) == errors


@pytest.mark.parametrize("start", ["prior", "standard_normal"])
def test_starts_are_independent(start: str, dataset: Dataset) -> None:
    """Across chains and seeds, and the same again for the same chain and seed."""
    model = builder.build_model(model_job(64), dataset)
    starts = [
        np.asarray(builder.draw_start(model, start, seed=seed, chain=chain))
        for seed, chain in product((0, 1), range(4))
    ]
    again = builder.draw_start(model, start, seed=1, chain=3)
    np.testing.assert_array_equal(again, starts[-1])
    correlations = np.corrcoef(starts)[np.triu_indices(8, 1)]
    assert np.abs(correlations).max() < 4.5 / np.sqrt(model.density.size)
    everything = np.concatenate(starts)  # standard normal, for the prior is non-centered
    assert abs(everything.mean()) < 4 / np.sqrt(everything.size)
    assert abs(everything.var() - 1) < 4 * np.sqrt(2 / everything.size)
    assert everything.dtype == model.density.dtype


def test_a_normal_start_has_the_stated_sd(fixed: Model) -> None:
    one, narrow = (
        builder.draw_start(fixed, "standard_normal", seed=1, chain=2, sd=sd) for sd in (1.0, 0.22)
    )
    np.testing.assert_allclose(narrow, 0.22 * np.asarray(one), rtol=1e-6)


VARYING: dict[str, dict[str, Any]] = {
    "units": {"hidden": (5, 7), "units": {"kind": "uniform"}},
    "layers": {"hidden": (3, 3, 3, 3), "activation": "relu", "layers": {"kind": "uniform"}},
}


@pytest.mark.parametrize("what", VARYING)
@pytest.mark.parametrize("start", ["prior", "best_of_prior"])
def test_chains_start_at_the_stated_sizes_in_turn(what: str, start: str, dataset: Dataset) -> None:
    """The numbers in use of the MAP of each chain; all else is that of the same draw."""
    hidden = VARYING[what]["hidden"]
    settings = {key: value for key, value in VARYING[what].items() if key != "hidden"}
    model = builder.build_model(model_job(*hidden, **settings), dataset)
    drawn = {"start_draws": 5} if start == "best_of_prior" else {}
    preset = Pretraining.model_validate(
        {"epochs": 1, "batch": 30, "start": start, "start_sizes": (4, 2), **drawn}
    )
    search = builder.build_search(model, dataset, preset, seed=3)
    architecture = architecture_of(model.network, model.density, model.varying)
    assert architecture is not None
    for chain, size in enumerate((4, 2, 4)):
        numbers = architecture.numbers(search(chain)[0].position)
        assert {int(number) for number in numbers.values()} == {size}
    plain, small = (
        builder.draw_start(model, "prior", seed=3, chain=1, size=size) for size in (None, 2)
    )
    moved = np.flatnonzero(np.asarray(plain) != np.asarray(small))
    assert {*moved} <= {*architecture.indicators}


@pytest.mark.parametrize("kind", ["fan_in", "gaussian", "tensorbnn_cauchy", "hierarchical"])
def test_a_start_of_he_has_twice_the_inverse_inputs_as_variance(
    kind: str, dataset: Dataset
) -> None:
    """In the units of the network; what the prior learns keeps the start of `prior`."""
    centered = {"non_centered": False, "precision": 7.0} if kind == "gaussian" else {}
    prior = TypeAdapter[Any](Prior).validate_python({"kind": kind, **centered})
    model = builder.build_model(model_job(50, 40, prior=prior), dataset)
    begin, other, plain = (
        builder.draw_start(model, start, seed=3, chain=chain)
        for start, chain in (("he", 1), ("he", 2), ("prior", 1))
    )
    assert (begin.shape, begin.dtype) == ((model.density.size,), model.density.dtype)
    found, beside = (model.density.variables(position) for position in (begin, plain))
    for name, value in found.items():
        if name.startswith("weights_"):
            squares = np.asarray(value) ** 2 * value.shape[0] / 2
            assert abs(squares.mean() - 1) < 4 * np.sqrt(2 / squares.size)
        elif name.startswith("biases_"):
            np.testing.assert_allclose(value, 0.0, atol=1e-12)
        else:
            np.testing.assert_array_equal(value, beside[name])
    weights = np.stack([model.density.variables(p)["weights_2"].ravel() for p in (begin, other)])
    assert abs(np.corrcoef(weights)[0, 1]) < 4 / np.sqrt(2000)
    again = builder.draw_start(model, "he", seed=3, chain=1)
    np.testing.assert_array_equal(again, begin)


def test_a_start_of_he_is_refused_where_units_come_and_go(dataset: Dataset) -> None:
    units = {"kind": "poisson", "mean": 2.0}
    model = builder.build_model(model_job(4, activation="relu", units=units), dataset)
    with refused("builder.he_start", name="weights_1"):
        builder.draw_start(model, "he", seed=0, chain=0)


def test_the_best_of_many_draws_of_the_prior_has_the_highest_density(
    fixed: Model, dataset: Dataset
) -> None:
    """By hand: standard normals, and residuals over sigma at the train rows."""
    train = dataset.split == 0
    best = builder.draw_start(fixed, "best_of_prior", seed=5, chain=2, draws=40)
    words = np.random.SeedSequence([5, builder.STAGES["start"], 2]).generate_state(40)
    drawn = [fixed.density.draw_prior(int(word)) for word in words]
    np.testing.assert_array_equal(builder.draw_start(fixed, "prior", seed=5, chain=2), drawn[0])
    logs = []
    for position in drawn:
        missed = network_by_hand(fixed, position, dataset.features[train]) - dataset.target[train]
        logs.append(-np.sum(np.asarray(position) ** 2) / 2 - np.sum(missed**2) / SIGMA**2 / 2)
    assert 0 < np.argmax(logs) < 40
    np.testing.assert_array_equal(best, drawn[np.argmax(logs)])
    one = builder.draw_start(fixed, "best_of_prior", seed=5, chain=2, draws=1)
    np.testing.assert_array_equal(one, drawn[0])


def test_keys_differ_by_seed_stage_and_chain() -> None:
    grid = list(product(range(4), builder.STAGES, range(4)))
    keys = {jax.random.key_data(builder.chain_key(*place)).tobytes() for place in grid}
    assert len(keys) == len(grid)


def test_positions_of_a_chain_group_are_in_the_order_of_its_chains(fixed: Model) -> None:
    positions = [np.asarray(fixed.density.draw_prior(seed), np.float32) for seed in (3, 1)]
    stacked = builder.stack_positions(fixed, positions)
    np.testing.assert_array_equal(stacked, positions)
    assert stacked.dtype == fixed.density.dtype


def test_observer_sees_f_at_the_reference_points(
    fixed: Model, learned: Model, dataset: Dataset
) -> None:
    points = dataset.features[dataset.reference]
    for model, names in ((fixed, {"f"}), (learned, {"f", "noise"})):
        position = model.density.draw_prior(3)
        observed = builder.observer(model, dataset)(position)
        assert observed.keys() == names
        expected = network_by_hand(model, position, points)
        np.testing.assert_allclose(observed["f"], expected, rtol=1e-12)
        if "noise" in names:
            np.testing.assert_allclose(observed["noise"], np.exp(position[-1]), rtol=1e-12)


def test_position_without_density_is_refused(fixed: Model) -> None:
    builder.check_finite(fixed, fixed.density.draw_prior(4), "start")
    broken = fixed.density.draw_prior(4).at[0].set(jnp.nan)
    with refused("builder.no_density", where="chain 3"):
        builder.check_finite(fixed, broken, "chain 3")


@every_likelihood
def test_model_weighs_every_train_row_by_its_error(noisy: Dataset, likelihood: Likelihood) -> None:
    model = builder.build_model(model_job(4, likelihood=likelihood), noisy)
    train = noisy.split == 0
    position = model.density.draw_prior(1)
    residual = noisy.target - builder.predict_with(model)(position, jnp.asarray(noisy.features))
    scale = row_noise(noisy, noise_of(model, position))
    data = norm.logpdf(residual[train], scale=scale[train]).sum()
    for b in (1.0, 0.3):
        expected = model.density.log_prior(position) + b * data
        np.testing.assert_allclose(model.logdensity_fn(position, b), expected, rtol=1e-12)


@every_likelihood
def test_problem_is_the_posterior_of_rows_with_errors(
    noisy: Dataset, likelihood: Likelihood
) -> None:
    model = builder.build_model(model_job(4, likelihood=likelihood), noisy)
    problem, position = builder.build_problem(model), model.density.draw_prior(2)
    train = builder.rows_of(model, noisy, 0)
    posterior = problem.log_prior(position) + problem.log_likelihood(position, train)
    np.testing.assert_allclose(posterior, model.logdensity_fn(position), rtol=1e-12)


@every_likelihood
@pytest.mark.by_day(1)
def test_curvature_of_a_linear_model_is_its_hessian(noisy: Dataset, likelihood: Likelihood) -> None:
    """In the weights and the bias; Gauss-Newton leaves out what couples a learned noise to them."""
    model = builder.build_model(model_job(likelihood=likelihood), noisy)
    position = model.density.draw_prior(3)
    curvature = builder.curvature_with(model, noisy)(position)
    hessian = -jax.jit(jax.hessian(model.logdensity_fn))(position)
    np.testing.assert_allclose(curvature[:6, :6], hessian[:6, :6], rtol=1e-9, atol=1e-9)
