"""Settings become the members they name, with every constant in its place; users' files run."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy.stats import laplace

from nlobayes import model, study
from nlobayes.builder.statement import build_prior, build_slopes
from nlobayes.model.density import build_density
from nlobayes.model.independent import Independent, fan_in, gaussian
from nlobayes.model.likelihoods.bernoulli import Bernoulli
from nlobayes.model.likelihoods.categorical import Categorical
from nlobayes.model.likelihoods.gaussian import Gaussian
from nlobayes.model.likelihoods.heteroscedastic import Heteroscedastic
from nlobayes.model.likelihoods.laplace import Laplace
from nlobayes.model.likelihoods.student_t import StudentT
from nlobayes.model.networks import Network
from nlobayes.model.posterior import build_posterior
from nlobayes.model.priors.fixed_scales import FixedScales
from nlobayes.model.priors.hierarchical import GammaPrecision, HalfCauchy, HalfNormal, Hierarchical
from nlobayes.model.priors.horseshoe import Horseshoe
from nlobayes.model.priors.random_features import RandomFeatures
from nlobayes.model.priors.tensorbnn import TensorBNN
from nlobayes.model.priors.tensorbnn_cauchy import TensorBNNCauchy
from nlobayes.model.slopes.exponential import ExponentialSlopes
from nlobayes.model.slopes.normal import NormalSlopes
from nlobayes.model.slopes.tensorbnn import TensorBNNSlopes
from nlobayes.study.likelihoods import Likelihood
from nlobayes.study.priors import Prior
from nlobayes.study.priors.custom import CustomPrior
from tests.refusals import invalid, refused

PRIORS: dict[str, tuple[dict[str, Any], Any]] = {
    "fan_in": ({"scale": 2.0}, fan_in(2.0)),
    "fan_in, biases": (
        {"scale": 2.0, "bias_scale": 0.5, "output_bias_scale": 3.0},
        fan_in(2.0, 0.5, 3.0),
    ),
    "gaussian": ({}, gaussian(1.0, True)),
    "gaussian, plain": ({"precision": 4.0, "non_centered": False}, gaussian(0.5, False)),
    "gaussian, biases": ({"precision": 4.0, "bias_precision": 25.0}, gaussian(0.5, True, 0.2)),
    "laplace": ({"scale": 2.0}, Independent("laplace", 2.0, 2.0, 1.0, fan_in_power=0.5)),
    "cauchy": (
        {"scale": 2.0, "bias_scale": 0.5},
        Independent("cauchy", 2.0, 0.5, 1.0, fan_in_power=1.0),
    ),
    "student_t": (
        {"scale": 2.0},
        Independent("student_t", 2.0, 2.0, 1.0, 0.5, degrees_of_freedom=4.0),
    ),
    "student_t, heavy": (
        {"degrees_of_freedom": 1.25},
        Independent("student_t", 1.0, 1.0, 1.0, 0.8, degrees_of_freedom=1.25),
    ),
    "hierarchical": ({}, Hierarchical(HalfNormal(1.0), "layer")),
    "hierarchical, half-Cauchy": (
        {"hyper": {"kind": "half_cauchy", "scale": 0.3}, "shared": "network"},
        Hierarchical(HalfCauchy(0.3), "network"),
    ),
    "hierarchical, Gamma": (
        {"hyper": {"kind": "gamma_precision", "shape": 2.0, "rate": 3.0}},
        Hierarchical(GammaPrecision(2.0, 3.0), "layer"),
    ),
    "fixed_scales": (
        {"inputs": {"m": 2.0, "n": 0.5}, "biases": 0.3, "weights": 1.7, "output_biases": 0.4},
        FixedScales({"m": 2.0, "n": 0.5}, weights=1.7, biases=0.3, output_biases=0.4),
    ),
    "horseshoe": (
        {"global_scale": 0.1, "slab_scale": 3.0, "slab_degrees": 5.0, "bias_scale": 0.7},
        Horseshoe(0.1, 3.0, 5.0, 0.7),
    ),
    "random_features": (
        {"hyper": {"kind": "half_normal", "scale": 0.4}, "biases": 0.5, "seed": 7},
        RandomFeatures(HalfNormal(2.0), HalfNormal(0.4), 0.5, 7),
    ),
    "tensorbnn": ({}, TensorBNN(0.1, 1.0, 0.1)),
    "tensorbnn, changed": (
        {"mean_sd": 0.2, "scale_mean": 0.9, "scale_sd": 0.3},
        TensorBNN(0.2, 0.9, 0.3),
    ),
    "tensorbnn_cauchy": (
        {"location_sd": 0.3, "scale_mean": 0.9, "scale_sd": 0.4},
        TensorBNNCauchy(0.3, 0.9, 0.4),
    ),
}
SLOPES: dict[str, tuple[dict[str, Any], Any]] = {
    "exponential": ({}, ExponentialSlopes(0.3)),
    "exponential, learned": ({"rate": None, "hyper_rate": 0.7}, ExponentialSlopes(None, 0.7)),
    "normal": ({"mean": 0.1, "sd": 0.2}, NormalSlopes(0.1, 0.2)),
    "tensorbnn": ({}, TensorBNNSlopes(0.3, 0.3, 0.1)),
}
LIKELIHOODS: dict[str, tuple[dict[str, Any], Any]] = {
    "gaussian": ({"sigma": 0.2}, Gaussian(0.2)),
    "gaussian, learned": ({"sigma": None, "scale": 0.5}, Gaussian(None, 0.5)),
    "gaussian, precision": (
        {"sigma": None, "precision": {"shape": 2.0}},
        Gaussian(None, precision={"shape": 2.0, "rate": 1.0}),
    ),
    "student_t": ({}, StudentT(None, 4.0, 1.0)),
    "student_t, fixed": (
        {"sigma": 0.2, "degrees_of_freedom": None, "scale": 3.0},
        StudentT(0.2, None, 3.0),
    ),
    "laplace": ({"sigma": 0.2}, Laplace(0.2)),
    "laplace, learned": ({"scale": 0.5}, Laplace(None, 0.5)),
    "heteroscedastic": ({"scale": 0.3}, Heteroscedastic(0.3)),
    "bernoulli": ({"temperature": 2.0}, Bernoulli(2.0)),
    "categorical": ({"temperature": 0.5}, Categorical(0.5)),
}


def preset(vocabulary: Any, name: str, settings: dict[str, Any]) -> Any:
    return TypeAdapter(vocabulary).validate_python({"kind": name.split(",")[0], **settings})


@pytest.mark.parametrize(
    ("settings", "built", "cases"),
    [
        (study.priors.PRIORS, model.priors.PRIORS, PRIORS),
        (study.slopes.SLOPES, model.slopes.SLOPE_PRIORS, SLOPES),
        (study.likelihoods.LIKELIHOODS, model.likelihoods.LIKELIHOODS, LIKELIHOODS),
    ],
    ids=["priors", "slopes", "likelihoods"],
)
def test_what_has_settings_can_be_built(
    settings: Mapping[str, Any], built: Mapping[str, Any], cases: Mapping[str, Any]
) -> None:
    """By the same name; and no case below is of a kind that has gone."""
    assert {*settings} == {*built} >= {name.split(",")[0] for name in cases}


@pytest.mark.parametrize("name", PRIORS)
def test_presets_become_priors(name: str) -> None:
    settings, expected = PRIORS[name]
    built = build_prior(preset(Prior, name, settings))
    assert type(built) is type(expected)
    assert built == expected


@pytest.mark.parametrize("inputs", [("a",), ("a", "c"), ("a", "b", "c")])
def test_scales_of_other_inputs_are_refused(inputs: tuple[str, ...]) -> None:
    scales = dict.fromkeys(inputs, 1.0)
    prior = build_prior(preset(Prior, "fixed_scales", {"inputs": scales}))
    given = ", ".join(inputs)
    with refused("model.scales_of_other_inputs", given=given, inputs="a, b"):
        density_of(prior)


@pytest.mark.parametrize("name", SLOPES)
def test_presets_become_priors_of_slopes(name: str) -> None:
    settings, expected = SLOPES[name]
    slopes = {"kind": name.split(",")[0], **settings}
    prior = preset(Prior, "fan_in", {"slopes": slopes})
    built = build_slopes(prior)
    assert type(built) is type(expected)
    assert built == expected
    assert build_prior(prior) == fan_in(1.0)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_presets_become_likelihoods(name: str) -> None:
    settings, expected = LIKELIHOODS[name]
    given = preset(Likelihood, name, settings)
    built = model.likelihoods.LIKELIHOODS[given.kind].build(**given.arguments())
    assert type(built) is type(expected)
    assert built == expected


STATED = """
import pymc as pm

def state(parameters, b):
    scale = b if parameters.role == "weights" else 1.0
    return pm.Laplace(parameters.name, 0.0, scale, dims=parameters.dims)

def unnamed(parameters):
    return pm.Normal("other_" + parameters.name, 0.0, 1.0, dims=parameters.dims)

def scalar(parameters):
    return pm.Normal(parameters.name, 0.0, 1.0)

def twice(parameters):
    scale = pm.HalfNormal("scale", 1.0)
    return pm.Normal(parameters.name, 0.0, scale, dims=parameters.dims)

CONSTANT = 3
"""


@pytest.fixture
def custom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A prior of the user's in a file of the project, `priors/mine.py`."""
    monkeypatch.chdir(tmp_path)
    Path("priors").mkdir()

    def make(source: str = STATED, function: str = "state", **settings: Any) -> Any:
        Path("priors/mine.py").write_text(source)
        given = {"file": "priors/mine.py", "function": function, "settings": settings}
        return preset(Prior, "custom", given)

    return make


def density_of(prior: Any) -> Any:
    posterior = build_posterior(
        Network((2, 3, 1), "tanh"), prior, Gaussian(0.1), feature_names=("a", "b"), layout="rows"
    )
    return build_density(posterior, chunk=0)


def test_a_function_of_the_user_states_the_prior(custom: Callable[..., Any]) -> None:
    density = density_of(build_prior(custom(b=0.3)))
    position = np.random.default_rng(1).normal(size=density.size)
    scales = np.repeat([0.3, 1.0, 0.3, 1.0], [6, 3, 3, 1])
    expected = laplace.logpdf(position, scale=scales).sum()
    np.testing.assert_allclose(density.log_prior(position), expected, rtol=1e-9)
    assert density.dims["weights_2"] == ("hidden_1", "output")


def test_a_file_that_changed_since_it_was_planned_is_refused(custom: Callable[..., Any]) -> None:
    """By the preset, which a job carries with its digest, and by what runs the file."""
    planned = custom(b=1.0)
    Path("priors/mine.py").write_text(STATED + "# another\n")
    with invalid("study.file_changed", file="priors/mine.py", planned=planned.sha256):
        CustomPrior.model_validate(planned.model_dump())
    with refused("functions.changed", file="priors/mine.py"):
        build_prior(planned)


def test_what_is_no_function_is_refused(custom: Callable[..., Any]) -> None:
    """A name that the file does not know is refused sooner, when the study is read."""
    with invalid("study.no_function", file="priors/mine.py", function="stated"):
        custom(function="stated")
    with refused("functions.missing", file="priors/mine.py", function="CONSTANT") as caught:
        build_prior(custom(function="CONSTANT"))
    assert caught.value.fields["functions"][:3] == ["state", "unnamed", "scalar"]


@pytest.mark.parametrize(
    ("source", "kind", "reason"),
    [
        ("1 / 0", "ZeroDivisionError", "division by zero"),
        ("import no_such_module", "ModuleNotFoundError", "No module named 'no_such_module'"),
        ("raise SystemExit(3)", "SystemExit", "3"),
    ],
)
def test_a_file_that_raises_is_refused(
    custom: Callable[..., Any], source: str, kind: str, reason: str
) -> None:
    with refused("functions.file_raises", where="priors/mine.py", kind=kind) as caught:
        build_prior(custom(f"{source}\nstate = None"))
    assert caught.value.fields["reason"].startswith(reason)


@pytest.mark.parametrize(
    ("function", "settings", "name", "kind", "reason"),
    [
        ("state", {}, "weights_1", "TypeError", "state() missing 1 required"),
        ("state", {"c": 1}, "weights_1", "TypeError", "state() got an unexpected"),
        ("twice", {}, "biases_1", "ValueError", "Variable name scale already exists"),
    ],
)
def test_a_function_that_raises_is_refused(
    custom: Callable[..., Any],
    function: str,
    settings: dict[str, Any],
    name: str,
    kind: str,
    reason: str,
) -> None:
    prior = build_prior(custom(function=function, **settings))
    with refused("model.custom_prior_fails", name=name, kind=kind) as caught:
        density_of(prior)
    assert caught.value.fields["reason"].startswith(reason)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("function", ["unnamed", "scalar"])
def test_a_function_that_states_nothing_is_refused(
    custom: Callable[..., Any], function: str
) -> None:
    dims = ("feature", "hidden_1")
    with refused("model.custom_prior_names", name="weights_1", dims=dims) as caught:
        density_of(build_prior(custom(function=function)))
    assert "\n" not in str(caught.value)
