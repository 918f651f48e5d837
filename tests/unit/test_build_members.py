"""Settings become the members they name, with every constant in its place; users' files run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy.stats import laplace

from nlobayes.priors import Prior
from nlobayes.priors.custom import CustomPrior
from tests.densities import density_of
from tests.members import likelihood
from tests.refusals import invalid, refused


def preset(vocabulary: Any, name: str, settings: dict[str, Any]) -> Any:
    return TypeAdapter(vocabulary).validate_python({"kind": name.split(",")[0], **settings})


@pytest.mark.parametrize("inputs", [("x0",), ("x0", "x2"), ("x0", "x1", "x2")])
def test_scales_of_other_inputs_are_refused(inputs: tuple[str, ...]) -> None:
    scales = dict.fromkeys(inputs, 1.0)
    prior = preset(Prior, "fixed_scales", {"inputs": scales})
    given = ", ".join(inputs)
    with refused("model.scales_of_other_inputs", given=given, inputs="x0, x1"):
        built(prior)


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


def built(prior: Any) -> Any:
    return density_of((2, 3, 1), prior, likelihood("gaussian", sigma=0.1))


def test_a_function_of_the_user_states_the_prior(custom: Callable[..., Any]) -> None:
    density = built(custom(b=0.3))
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
        built(planned)


def test_what_is_no_function_is_refused(custom: Callable[..., Any]) -> None:
    """A name that the file does not know is refused sooner, when the study is read."""
    with invalid("study.no_function", file="priors/mine.py", function="stated"):
        custom(function="stated")
    with refused("functions.missing", file="priors/mine.py", function="CONSTANT") as caught:
        built(custom(function="CONSTANT"))
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
        built(custom(f"{source}\nstate = None"))
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
    prior = custom(function=function, **settings)
    with refused("model.custom_prior_fails", name=name, kind=kind) as caught:
        built(prior)
    assert caught.value.fields["reason"].startswith(reason)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("function", ["unnamed", "scalar"])
def test_a_function_that_states_nothing_is_refused(
    custom: Callable[..., Any], function: str
) -> None:
    dims = ("feature", "hidden_1")
    with refused("model.custom_prior_names", name="weights_1", dims=dims) as caught:
        built(custom(function=function))
    assert "\n" not in str(caught.value)
