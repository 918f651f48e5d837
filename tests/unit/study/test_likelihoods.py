"""Likelihood presets: their limits, told in one line that names the place."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from nlobayes.errors import InputError
from nlobayes.study.grid import Study
from nlobayes.study.likelihoods import Likelihood, is_of_classes, stated_sigma

INFINITY = float("inf")
KINDS = (
    "'tolerance', 'learned_noise', 'student_t', 'laplace', 'heteroscedastic', 'bernoulli', "
    "'categorical'"
)
REFUSED: list[tuple[dict[str, Any], str, tuple[str, ...]]] = [
    ({"kind": "normal"}, "", ("'normal'", KINDS)),
    ({"kind": "tolerance"}, "sigma", ("required",)),
    ({"kind": "tolerance", "sigma": None}, "sigma", ("got None",)),
    ({"kind": "tolerance", "sigma": -0.1}, "sigma", ("greater than 0", "got -0.1")),
    ({"kind": "learned_noise", "scale": -1}, "scale", ("greater than 0", "got -1")),
    ({"kind": "learned_noise", "sigma": 1}, "", ("unknown key 'sigma'",)),
    ({"kind": "student_t", "sigma": -1}, "sigma", ("greater than 0", "got -1")),
    ({"kind": "student_t", "scale": 0}, "scale", ("greater than 0", "got 0")),
    ({"kind": "student_t", "degrees_of_freedom": 2}, "degrees_of_freedom", ("greater than 2",)),
    ({"kind": "student_t", "degrees_of_freedom": 1.5}, "degrees_of_freedom", ("got 1.5",)),
    ({"kind": "student_t", "degrees_of_freedom": -4}, "degrees_of_freedom", ("got -4",)),
    (
        {"kind": "student_t", "degrees_of_freedom": INFINITY},
        "degrees_of_freedom",
        ("finite", "got inf"),
    ),
    ({"kind": "laplace", "sigma": 0}, "sigma", ("greater than 0", "got 0")),
    ({"kind": "laplace", "scale": -1}, "scale", ("greater than 0", "got -1")),
    ({"kind": "laplace", "degrees_of_freedom": 4}, "", ("unknown key 'degrees_of_freedom'",)),
    ({"kind": "heteroscedastic", "scale": -1}, "scale", ("greater than 0", "got -1")),
    ({"kind": "bernoulli", "temperature": 0}, "temperature", ("greater than 0", "got 0")),
    ({"kind": "categorical", "temperature": -1}, "temperature", ("greater than 0", "got -1")),
]


@pytest.mark.parametrize(("preset", "key", "said"), REFUSED, ids=lambda part: str(part)[:70])
def test_refused_likelihoods_are_told_in_one_line(
    make_study: Callable[..., Study], preset: dict[str, Any], key: str, said: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as caught:
        make_study({"likelihoods": {"mine": preset}})
    message = str(caught.value)
    assert message.startswith("configuration: likelihoods.mine")
    assert key in message
    assert "\n" not in message
    for words in said:
        assert words in message


@pytest.mark.parametrize(
    ("preset", "classes", "sigma"),
    [
        ({"kind": "tolerance", "sigma": 0.1}, False, 0.1),
        ({"kind": "learned_noise"}, False, None),
        ({"kind": "student_t"}, False, None),
        ({"kind": "student_t", "sigma": 0.1}, False, 0.1),
        ({"kind": "laplace"}, False, None),
        ({"kind": "laplace", "sigma": 0.1}, False, 0.1),
        ({"kind": "heteroscedastic"}, False, None),
        ({"kind": "bernoulli"}, True, None),
        ({"kind": "categorical"}, True, None),
    ],
)
def test_what_a_likelihood_states_is_told(
    preset: dict[str, Any], classes: bool, sigma: float | None
) -> None:
    likelihood: Any = TypeAdapter(Likelihood).validate_python(preset)
    assert is_of_classes(likelihood) == classes
    assert stated_sigma(likelihood) == sigma
