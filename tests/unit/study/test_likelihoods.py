"""Likelihood presets: what they state, and their old kinds."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from nlobayes.likelihoods import LIKELIHOODS, Likelihood, LikelihoodSettings
from tests.refusals import invalid


def read(preset: dict[str, Any]) -> LikelihoodSettings:
    likelihood: LikelihoodSettings = TypeAdapter(Likelihood).validate_python(preset)
    return likelihood


@pytest.mark.parametrize(
    ("preset", "classes", "sigma", "outputs"),
    [
        ({"kind": "gaussian", "sigma": 0.1}, False, 0.1, 2),
        ({"kind": "gaussian", "sigma": None}, False, None, 2),
        ({"kind": "student_t"}, False, None, 2),
        ({"kind": "student_t", "sigma": 0.1}, False, 0.1, 2),
        ({"kind": "laplace"}, False, None, 2),
        ({"kind": "laplace", "sigma": 0.1}, False, 0.1, 2),
        ({"kind": "heteroscedastic"}, False, None, 4),
        ({"kind": "bernoulli"}, True, None, 2),
        ({"kind": "categorical"}, True, None, None),
    ],
)
def test_a_likelihood_gives_what_it_states(
    preset: dict[str, Any], classes: bool, sigma: float | None, outputs: int | None
) -> None:
    likelihood = read(preset)
    assert likelihood.of_classes == classes
    assert likelihood.stated_sigma == sigma
    assert likelihood.outputs_for(columns=2) == outputs


OURS = [name for name, one in LIKELIHOODS.items() if "file" not in one.model_fields]


@pytest.mark.parametrize("name", OURS)
def test_what_counts_outputs_and_what_builds_them_agree(name: str) -> None:
    """The study plans with the first, the network is built with the second."""
    needed = {key: 0.5 for key, one in LIKELIHOODS[name].model_fields.items() if one.is_required()}
    settings = read({**needed, "kind": name})
    columns = 2 if settings.of_classes else 1
    assert settings.outputs_for(1) in (settings.outputs(columns), None)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"kind": "tolerance", "sigma": 0.1}, {"kind": "gaussian", "sigma": 0.1}),
        ({"kind": "learned_noise"}, {"kind": "gaussian", "sigma": None}),
        ({"kind": "learned_noise", "scale": 2}, {"kind": "gaussian", "sigma": None, "scale": 2}),
        ({"kind": "learned_noise", "sigma": None}, {"kind": "gaussian", "sigma": None}),
    ],
)
def test_old_kinds_are_read_with_a_warning(old: dict[str, Any], new: dict[str, Any]) -> None:
    with pytest.warns(FutureWarning, match=f"'{old['kind']}' is now 'gaussian'"):
        assert read(old) == read(new)


@pytest.mark.parametrize(
    ("settings", "other"),
    [
        ({"sigma": 0.1}, ["sigma"]),
        ({"sigma": None, "scale": 0.5}, ["scale"]),
        ({"sigma": None, "floor": 0.05}, ["floor"]),
    ],
)
def test_a_precision_stands_in_place_of_a_half_normal(
    settings: dict[str, Any], other: list[str]
) -> None:
    with invalid("study.precision_and_sigma", other=other):
        read({"kind": "gaussian", "precision": {}, **settings})
    with invalid("greater_than"):
        read({"kind": "gaussian", "sigma": None, "precision": {"rate": 0}})
    likelihood = read({"kind": "gaussian", "sigma": None, "precision": {"shape": 2}})
    assert read(likelihood.model_dump()) == likelihood


@pytest.mark.parametrize(
    ("preset", "fault"),
    [
        ({"kind": "tolerance"}, "missing"),
        ({"kind": "gaussian", "sigma": 0.1, "floor": 0.05}, "study.floor_of_stated"),
        ({"kind": "tolerance", "sigma": None}, "study.old_likelihood"),
        ({"kind": "tolerance", "sigma": 0.1, "scale": 1.0}, "study.old_likelihood"),
        ({"kind": "learned_noise", "sigma": 0.1}, "study.old_likelihood"),
    ],
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_what_old_kinds_refused_stays_refused(preset: dict[str, Any], fault: str) -> None:
    """A tolerance without its number must not become a learned noise."""
    with invalid(fault):
        read(preset)
