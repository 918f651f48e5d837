"""Functions of the user: an activation, a likelihood and a score, as the documentation has them."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import yaml
from scipy.stats import expon
from scipy.stats import laplace as laplace_law

from nlobayes.evaluation.predictive.predictive_density import PredictiveNoise
from nlobayes.evaluation.scores.classification.classes import predict_classes
from nlobayes.evaluation.scores.of_split import evaluate, evaluate_classes
from nlobayes.evaluation.scores.split import OwnScores
from nlobayes.likelihoods.custom import CustomLikelihood
from nlobayes.model.networks import Network
from nlobayes.model.own_function_checks import check_activation, check_layer
from nlobayes.own_functions import Bound, bind, bind_activations
from nlobayes.study.evaluation import CustomScore, Evaluation
from nlobayes.study.job_builder import run_jobs
from nlobayes.study.network import CustomActivation, CustomLayer
from nlobayes.study.network import Network as Networks
from nlobayes.study.study import Study, load_study, override
from nlobayes.surrogate.in_numpy import evaluate as by_numpy
from nlobayes.surrogate.prediction import predict as by_jax
from tests.densities import density_of
from tests.members import likelihood, prior
from tests.refusals import refused
from tests.unit.evaluation.noises import make_noise
from tests.unit.study.small import SMALL

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"```python\n# (\S+)\n(.*?)```\n\n```yaml\n(.*?)```", re.S)
ROWS = np.random.default_rng(1).normal(size=(7, 2))
TARGET = np.random.default_rng(2).normal(size=7)
ERROR = np.random.default_rng(3).uniform(0.1, 0.3, 7)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of the user's, with one file."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(source: str, name: str = "mine.py") -> str:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text(source)
    return name


def documented(page: str) -> dict[str, dict[str, Any]]:
    """Write the files of the examples of a page, and give their settings by file."""
    found = {}
    for file, source, settings in BLOCK.findall((DOCS / page).read_text()):
        write(source, file)
        found[file] = yaml.safe_load(settings)
    return found


def built(likelihood: Any, outputs: int = 1, **given: Any) -> Any:
    return density_of((2, 3, outputs), prior("fan_in", scale=1.0), likelihood, **given)


def terms(density: Any, errors: np.ndarray | None = None) -> tuple[Any, ...]:
    """Log prior, log likelihood, and the gradient of both at some position."""
    position = jnp.asarray(np.random.default_rng(5).normal(size=density.size))
    data = density.place(ROWS, TARGET, errors)
    slope = jax.jit(jax.grad(density.log_density))(position, data)
    both = float(density.log_prior(position)), float(density.log_likelihood(position, data))
    return *both, np.asarray(slope)


def assert_same(first: Any, second: Any, errors: np.ndarray | None = None) -> None:
    for one, other in zip(terms(first, errors), terms(second, errors), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


TANH = "def mine(xp, x, times=1.0):\n    return times * xp.tanh(x)\n"


def activation(source: str = TANH, **settings: Any) -> CustomActivation:
    return CustomActivation(kind="custom", file=write(source), function="mine", settings=settings)


def test_tanh_of_the_user_is_ours() -> None:
    own: Any = bind_activations(["tanh", activation()])
    assert own[0] == "tanh"
    sizes, rng = (2, 3, 3, 1), np.random.default_rng(4)
    drawn = {f"weights_{n}": rng.normal(size=(4, *sizes[n - 1 : n + 1])) for n in (1, 2, 3)}
    drawn |= {f"biases_{n}": rng.normal(size=(4, sizes[n])) for n in (1, 2, 3)}
    ours, mine = Network(sizes, "tanh"), Network(sizes, own)
    for predict in (by_numpy, by_jax):
        np.testing.assert_allclose(predict(mine, drawn, ROWS), predict(ours, drawn, ROWS), 1e-12)
    assert_same(
        built(likelihood("gaussian", sigma=0.1), activation=own[1]),
        built(likelihood("gaussian", sigma=0.1)),
    )


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("return xp.sum(x)", "model.own_activation_of_numpy"),
        ("return xp.log(x)", "model.own_activation_of_numpy"),
        ("return x.astype('float32')", "model.own_activation_of_numpy"),
        ("return 1 / 0", "functions.raises"),
        ("raise SystemExit(1)", "functions.raises"),
        ("import numpy; return numpy.tanh(numpy.asarray(x, float))", "functions.raises"),
        ("return xp.tanh(x) if xp.__name__ == 'numpy' else x", "model.own_activation_differs"),
        ("return x + 1.0 * (xp.__name__ == 'pytensor.tensor')", "model.own_activation_differs"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_no_activation_is_refused_before_anything_runs(body: str, code: str) -> None:
    mine = bind(activation(f"def mine(xp, x):\n    {body}\n"))
    with refused(code, where="mine.py") as caught:
        check_activation(mine, "mine.py")
    assert "\n" not in str(caught.value)


def test_the_documented_activation_is_one() -> None:
    preset = documented("models.md")["activations/softsign.py"]["networks"]["mine"]
    mine = bind(CustomActivation.model_validate(preset["activation"]))
    check_activation(mine, "activations/softsign.py")
    np.testing.assert_allclose(mine(np, ROWS), 0.5 * ROWS / (1 + np.abs(0.5 * ROWS)))


DENSE = "def mine(xp, x, weights, biases):\n    return xp.tanh(x @ weights + biases)\n"


def layer(source: str = DENSE, **settings: Any) -> CustomLayer:
    return CustomLayer(kind="layer", file=write(source), function="mine", settings=settings)


@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("chunk", [0, 3])
def test_a_dense_layer_of_the_user_is_ours(layout: str, chunk: int) -> None:
    """Beside a dense layer of ours, in the density, its gradient and predictions."""
    own: Any = bind_activations([layer(), "tanh"])
    sizes, rng = (2, 3, 4, 1), np.random.default_rng(4)
    drawn = {f"weights_{n}": rng.normal(size=(5, *sizes[n - 1 : n + 1])) for n in (1, 2, 3)}
    drawn |= {f"biases_{n}": rng.normal(size=(5, sizes[n])) for n in (1, 2, 3)}
    ours, mine = Network(sizes, "tanh"), Network(sizes, own)
    np.testing.assert_allclose(by_jax(mine, drawn, ROWS), by_jax(ours, drawn, ROWS), 1e-12)
    given: dict[str, Any] = {"chunk": chunk, "layout": layout}
    stated = (prior("fan_in", scale=1.0), likelihood("gaussian", sigma=0.1))
    assert_same(
        density_of(sizes, *stated, activation=own, **given), density_of(sizes, *stated, **given)
    )


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("return x", "model.own_layer_of_numpy"),
        ("return xp.sum(x @ weights + biases)", "model.own_layer_of_numpy"),
        ("return xp.log(x @ weights)", "model.own_layer_of_numpy"),
        ("return x @ weights - (x @ weights).mean(axis=0)", "model.own_layer_of_numpy"),
        ("return x @ weights + (xp.__name__ == 'numpy')", "model.own_activation_differs"),
        ("return x @ biases", "functions.raises"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_no_layer_is_refused_before_anything_runs(body: str, code: str) -> None:
    """A layer of two inputs and three units gives three numbers for each row, by that row alone."""
    mine = bind(layer(f"def mine(xp, x, weights, biases):\n    {body}\n"))
    with refused(code, where="mine.py") as caught:
        check_layer(mine, 2, 3, "mine.py")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        "return xp.exp(-xp.sum((x[:, :, None] - weights) ** 2, axis=1)) * biases",
        "z = xp.exp(x @ weights + biases); return z / xp.sum(z, axis=1, keepdims=True)",
    ],
)
def test_radial_units_and_a_softmax_are_layers(body: str) -> None:
    check_layer(bind(layer(f"def mine(xp, x, weights, biases):\n    {body}\n")), 2, 3, "mine.py")


def test_the_documented_layer_is_one() -> None:
    preset = documented("models.md")["layers/residual.py"]["networks"]["mine"]
    named = Networks.model_validate(preset)
    first, second = bind_activations(named.activation)
    assert first == "tanh"
    assert second.is_layer
    check_layer(second, 20, 20, "layers/residual.py")
    weights, biases = np.eye(2), np.array([0.5, -0.5])
    np.testing.assert_allclose(
        second(np, ROWS, weights, biases), ROWS + np.tanh(ROWS + biases), rtol=1e-12
    )


def test_a_layer_of_the_user_is_refused_where_the_number_of_units_is_drawn() -> None:
    network = {"hidden": [4], "activation": layer().model_dump(), "units": {"kind": "uniform"}}
    jumping = {"kernel": {"kind": "reversible_jump"}, "draws_per_segment": 16}
    grid = SMALL["grids"]["small"] | {"network": "own", "method": "jumping"}
    changes = {"networks": {"own": network}, "methods": {"jumping": jumping}}
    with refused("study.jumps_of_network"):
        load_study(override(SMALL, changes | {"grids": {"small": grid}}))


LIKELIHOODS = """
import pymc as pm
from pymc.pytensorf import floatX
import pytensor.tensor as pt

def quadrature(sigma, error, xp):
    return sigma if error is None else xp.sqrt(sigma**2 + error**2)

def gaussian(seen, sigma):
    sigma = quadrature(sigma, seen.error, pt)
    return pm.Normal(seen.name, seen.f, sigma, observed=seen.target)

def noise_of_gaussian(f, variables, error, xp, sigma):
    return "gaussian", quadrature(sigma, error, xp)

def learned(seen):
    return pm.Normal(seen.name, seen.f, pm.HalfNormal("noise", 1.0), observed=seen.target)

def noise_of_learned(f, variables, error, xp):
    return "gaussian", variables["noise"]

def by_hand(seen, sigma):
    def logp(value, f):
        return -0.5 * ((value - f) / sigma) ** 2 - pt.log(sigma * (2 * 3.141592653589793) ** 0.5)
    return pm.CustomDist(seen.name, seen.f, logp=logp, observed=seen.target)

def two(seen, scale):
    sigma = scale * pt.exp(seen.f[:, 1])
    return pm.Normal(seen.name, seen.f[:, 0], sigma, observed=seen.target)

def noise_of_two(f, variables, error, xp, scale):
    return "gaussian", scale * xp.exp(f[..., 1])

def student(seen):
    return pm.StudentT(seen.name, floatX(4.0), seen.f, sigma=0.2, observed=seen.target)

def noise_of_student(f, variables, error, xp):
    return "student_t", 0.2, 4.0

def laplace(seen):
    return pm.Laplace(seen.name, seen.f, 0.2, observed=seen.target)

def noise_of_laplace(f, variables, error, xp):
    return "laplace", 0.2

def raises(seen):
    return 1 / 0

def nothing(seen):
    return pm.Normal("other", seen.f, 1.0, observed=seen.target)

def unobserved(seen):
    return pm.Normal(seen.name, 0.0, 1.0)

def of_all_rows(seen):
    return pm.MvNormal(seen.name, seen.f, cov=pt.eye(seen.f.shape[0]), observed=seen.target[None])

def unknown_family(f, variables, error, xp):
    return "cauchy", 1.0

def of_no_variable(f, variables, error, xp):
    return "gaussian", variables["nosie"]

def alone(f, variables, error, xp):
    return 1.0

def without_degrees(f, variables, error, xp):
    return "student_t", 1.0
"""


def custom(function: str, noise: str, outputs: int = 1, **settings: Any) -> Any:
    given = {"file": write(LIKELIHOODS), "function": function, "noise": noise}
    return likelihood("custom", settings=settings, outputs_of_network=outputs, **given)


CASES: dict[str, tuple[Callable[[], Any], Any, int]] = {
    "gaussian": (
        lambda: custom("gaussian", "noise_of_gaussian", sigma=0.3),
        likelihood("gaussian", sigma=0.3),
        1,
    ),
    "by hand": (
        lambda: custom("by_hand", "noise_of_gaussian", sigma=0.3),
        likelihood("gaussian", sigma=0.3),
        1,
    ),
    "learned": (
        lambda: custom("learned", "noise_of_learned"),
        likelihood("gaussian", sigma=None, scale=1.0),
        1,
    ),
    "two outputs": (
        lambda: custom("two", "noise_of_two", 2, scale=0.3),
        likelihood("heteroscedastic", scale=0.3),
        2,
    ),
    "student_t": (
        lambda: custom("student", "noise_of_student"),
        likelihood("student_t", sigma=0.2, degrees_of_freedom=4.0),
        1,
    ),
    "laplace": (
        lambda: custom("laplace", "noise_of_laplace"),
        likelihood("laplace", sigma=0.2),
        1,
    ),
}


def information_of(of: Any, row: jax.Array, noise: jax.Array) -> np.ndarray:
    """Give the information of the outputs of one row, and of the learned noise."""

    def moved(given: jax.Array) -> Any:
        outputs = given[:-1] if row.size > 1 else given[0]
        return of.moved(outputs[None], {"noise": given[-1]}, None, jnp)[0]

    flat = jnp.append(row, noise)
    outputs = row if row.size > 1 else row[0]
    root = of.information_root(outputs[None], {"noise": noise}, None, jnp)[0]
    weighed = np.asarray(root @ jax.jit(jax.jacobian(moved))(flat).reshape(-1, flat.size))
    return weighed.T @ weighed


@pytest.mark.by_day(3)
@pytest.mark.parametrize("name", CASES)
def test_a_likelihood_of_the_user_is_ours_of_the_same_formula(name: str) -> None:
    build, ours, outputs = CASES[name]
    own = build()
    assert own.outputs(1) == ours.outputs(1) == outputs
    assert_same(built(own, outputs=outputs), built(ours, outputs=outputs))
    f = np.random.default_rng(6).normal(size=(4, 7, outputs)[: 2 + (outputs > 1)])
    variables = {"noise": np.full((4, 1), 0.4)}
    for found, known in zip(
        own.noise_about(f, variables, None, np),
        ours.noise_about(f, variables, None, np),
        strict=True,
    ):
        if not isinstance(known, str) and known is not None:
            np.testing.assert_allclose(found, known, rtol=1e-12)
        else:
            assert found == known
    row = jnp.asarray(f[0, :1]).ravel()
    information = [information_of(each, row, jnp.asarray(0.4)) for each in (own, ours)]
    np.testing.assert_allclose(information[0], information[1], rtol=1e-12, atol=1e-12)


def test_errors_of_rows_reach_a_likelihood_of_the_user() -> None:
    own = custom("gaussian", "noise_of_gaussian", sigma=0.3)
    mine, ours = (
        built(own, errors=True),
        built(likelihood("gaussian", sigma=0.3), errors=True),
    )
    assert_same(mine, ours, ERROR)
    assert terms(mine, ERROR)[1] != terms(mine, 2 * ERROR)[1]


@pytest.mark.parametrize(
    ("function", "noise", "code"),
    [
        ("raises", "alone", "model.own_likelihood_fails"),
        ("nothing", "noise_of_laplace", "model.own_likelihood_names"),
        ("unobserved", "noise_of_laplace", "model.own_likelihood_names"),
        ("of_all_rows", "noise_of_laplace", "model.own_likelihood_rows"),
        ("laplace", "unknown_family", "model.own_noise"),
        ("laplace", "of_no_variable", "model.own_likelihood_fails"),
        ("laplace", "alone", "model.own_noise"),
        ("laplace", "without_degrees", "model.own_noise"),
    ],
)
def test_what_is_no_likelihood_is_refused_before_anything_runs(
    function: str, noise: str, code: str
) -> None:
    with refused(code) as caught:
        built(custom(function, noise))
    assert "\n" not in str(caught.value)


def test_the_documented_likelihood_is_one() -> None:
    preset = documented("models.md")["likelihoods/exponential.py"]["likelihoods"]["mine"]
    own: Any = CustomLikelihood.model_validate(preset)
    density = built(own)
    position = np.random.default_rng(5).normal(size=density.size)
    named = density.variables(position)
    spread, data = float(named["spread"]), density.place(ROWS, TARGET)
    f = by_numpy(
        Network((2, 3, 1), "tanh"),
        {name: np.asarray(each)[None] for name, each in named.items() if name != "spread"},
        ROWS,
    )[0]
    expected = laplace_law.logpdf(TARGET, f, spread).sum()
    np.testing.assert_allclose(density.log_likelihood(position, data), expected, rtol=1e-10)
    others = built(likelihood("gaussian", sigma=0.1))
    weights = np.delete(position, density.places["spread"])
    hyper = float(density.log_prior(position) - others.log_prior(weights))
    np.testing.assert_allclose(hyper, expon.logpdf(spread, scale=0.1) + np.log(spread), rtol=1e-8)
    assert own.noise_about(f, {"spread": 0.2}, None, np)[::2] == ("laplace", 0.2)


SCORES = """
import numpy as np

def rmse(split):
    return np.sqrt(np.mean((split.draws.mean(axis=0) - split.observed) ** 2))

def sampled(split):
    return split.rng.normal()

def share(split):
    return float(np.mean(split.prediction.predicted == split.labels))

def says(split):
    return "no such\\nnumber"

def each(split):
    return split.observed

def endless(split):
    return np.float32("inf")

def nothing(split):
    pass

def complex(split):
    return 1j

def raises(split):
    return {}["key"]
"""


def score(function: str, **settings: Any) -> Bound:
    return bind(CustomScore(file=write(SCORES), function=function, settings=settings))


def scored(**own: Bound) -> dict[str, Any]:
    rng = np.random.default_rng(7)
    draws, observed = rng.normal(size=(5, 40)), rng.normal(size=40)
    noise: PredictiveNoise = make_noise("gaussian", 0.3)
    return evaluate(
        draws, observed, noise, np.random.default_rng(8), scale="log10", own=OwnScores(own, "test")
    )


def test_scores_of_the_user_stand_beside_ours_and_change_none() -> None:
    ours = scored()
    found = scored(mine=score("rmse"), told=score("says"), chance=score("sampled"))
    assert found["mine"] == pytest.approx(ours["rmse_log10"], rel=1e-14)
    assert (found["told"], found["undefined"]["told"]) == (None, "no such number")
    assert scored(other=score("rmse"), chance=score("sampled"))["chance"] != found["chance"]
    assert {key: found[key] for key in ours if key != "undefined"} == {
        key: value for key, value in ours.items() if key != "undefined"
    }


def test_a_score_of_classes_by_the_user() -> None:
    rng = np.random.default_rng(2)
    probabilities, labels = rng.dirichlet(np.ones(4), size=(8, 40)), rng.integers(4, size=40)
    found = evaluate_classes(
        predict_classes(probabilities), labels, OwnScores({"mine": score("share")})
    )
    assert found["mine"] == found["accuracy"]


@pytest.mark.parametrize(
    ("function", "code", "said"),
    [
        ("each", "evaluation.own_score", "an array of shape (40,)"),
        ("endless", "evaluation.own_score", "inf"),
        ("nothing", "evaluation.own_score", "None"),
        ("complex", "evaluation.own_score", "1j"),
        ("raises", "functions.raises", "KeyError"),
    ],
)
def test_what_is_no_score_is_told_in_one_line_with_its_place(
    function: str, code: str, said: str
) -> None:
    with refused(code) as caught:
        scored(mine=score(function))
    line = str(caught.value)
    assert line.startswith("score mine of test: ")
    assert said in line
    assert "\n" not in line


def test_the_documented_score_is_one() -> None:
    told = documented("scores.md")["scores/tail.py"]["evaluation"]["default"]
    (name, own), *_ = Evaluation.model_validate(told).scores.items()
    rng = np.random.default_rng(7)
    draws, observed = rng.normal(size=(5, 40)), rng.normal(size=40)
    expected = np.mean(draws.mean(axis=0) < observed - 0.1)
    assert scored(**{name: bind(own)})[name] == pytest.approx(expected)
    assert own.compared


WHOLE = """
def state(parameters): ...
def mine(xp, x): ...
def observe(observation): ...
def noise(f, variables, error, xp): ...
def score(split): ...
"""
USERS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "activation": (
        {"networks": {"n4": {"activation": {"kind": "custom", "function": "mine"}}}},
        {"pretrain", "warmup", "draw", "posterior_predictive", "landscape", "prior_predictive"}
        | {"export"},
    ),
    "likelihood": (
        {"likelihoods": {"tight": {"kind": "custom", "function": "observe", "noise": "noise"}}},
        {"pretrain", "warmup", "draw", "posterior_predictive", "landscape", "prior_predictive"}
        | {"diagnose"},
    ),
    "score": (
        {"evaluation": {"default": {"scores": {"mine": {"function": "score"}}}}},
        {"evaluate"},
    ),
}


def with_file(changes: Any, file: str) -> Any:
    """Give every function of changes its file."""
    if not isinstance(changes, dict):
        return changes
    found = {key: with_file(value, file) for key, value in changes.items()}
    return found | {"file": file} if "function" in found else found


def study_of(changes: Any) -> Study:
    if "likelihoods" in changes:
        changes = {"likelihoods": {"mine": changes["likelihoods"]["tight"]}} | {
            "grids": {"small": {**SMALL["grids"]["small"], "likelihood": "mine"}}
        }
    return load_study(override(SMALL, changes))


@pytest.mark.parametrize("user", USERS)
def test_jobs_that_use_a_changed_file_and_no_others_are_told_so(user: str) -> None:
    changes, expected = USERS[user]
    told = []
    for source in (WHOLE, WHOLE + "# another\n", WHOLE):
        study = study_of(with_file(changes, write(source)))
        told.append(run_jobs(next(study.runs("small"))))
    first, changed, same = ({n: job.model_dump_json() for n, job in jobs.items()} for jobs in told)
    assert {name for name in first if first[name] != changed[name]} == expected
    assert first == same
    assert {code.file for code in study.codes} == {"mine.py"}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (None, "study.no_file"),
        ("def other(): ...\n", "study.no_function"),
        ("def mine(:\n", "study.not_python"),
    ],
)
def test_a_missing_file_or_function_is_refused_when_a_study_is_read(
    user: str, source: str | None, fault: str
) -> None:
    file = "mine.py" if source is None else write(source)
    with refused(fault) as caught:
        study_of(with_file(USERS[user][0], file))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "fault"), [("A b", "name"), ("crps", "taken")])
def test_a_score_has_a_plain_name_of_its_own(name: str, fault: str) -> None:
    scores = {"evaluation": {"default": {"scores": {name: {"function": "score"}}}}}
    with refused(f"study.score_{fault}"):
        study_of(with_file(scores, write(WHOLE)))


def test_a_file_is_looked_into_and_never_run() -> None:
    file = write(WHOLE + "raise SystemExit('run')\n")
    for changes, _ in USERS.values():
        study_of(with_file(changes, file))
