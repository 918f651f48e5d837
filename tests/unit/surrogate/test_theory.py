"""Several targets in one file, and the theory errors that are computed from them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes import Surrogate
from nlobayes.artifacts.contents import write_surrogate
from nlobayes.surrogate.answers import answer_beside
from nlobayes.surrogate.theory import relative_errors
from nlobayes.types import SurrogateContent
from tests.refusals import refused
from tests.unit.surrogate.conftest import HIDDEN, dataset, make_exported, points

SIGMA = "sigma_pb"
SCALE = ["scale_up_over_sigma_pb", "scale_down_over_sigma_pb"]
PDF = ["pdf_error_pb_over_sigma_pb"]
ALPHA_S = ["alpha_s_up_over_sigma_pb", "alpha_s_down_over_sigma_pb"]
NAMES = [*SCALE, *PDF, *ALPHA_S]
MEANS = (0.02, -0.03, -1.5, 0.01, -0.01)
SDS = (0.01, 0.01, 0.1, 0.002, 0.003)
X = points(40, seed=7)
RTOL = 1e-5
"""Tolerance for weights in single precision and for rounding of matrix products."""


def with_theory(family: str = "conformal") -> SurrogateContent:
    """Add five outputs to a network, with other weights, transforms and noises."""
    first, last = make_exported(family), len(HIDDEN) + 1
    others = [make_exported(each) for each in ("gaussian", "student_t", "conformal", "gaussian")]
    others.append(make_exported("scaled_student_t"))
    rng = np.random.default_rng(11)
    drawn = {
        name: np.concatenate(
            [values, *(rng.permuted(values, axis=0) + 0.1 * place for place in range(5))], axis=-1
        )
        if name in (f"weights_{last}", f"biases_{last}")
        else values
        for name, values in first.variables.items()
    }
    further = [
        {
            "target": name,
            "transform": {"scale": "log10", "mean": mean, "sd": sd},
            "noise": one.facts["noise"],
        }
        for name, mean, sd, one in zip(NAMES, MEANS, SDS, others, strict=True)
    ]
    transforms = first.facts["transforms"]
    transforms |= {"theory": {"scale": SCALE, "pdf": PDF, "alpha_s": ALPHA_S}}
    facts = first.facts | {"transforms": transforms, "further": further}
    noises = tuple(one.noises[0] for one in (first, *others))
    return first._replace(variables=drawn, facts=facts, noises=noises)


def one_target(whole: SurrogateContent, place: int) -> SurrogateContent:
    """Make the surrogate of one of the targets by hand, as in files of one target."""
    last = len(HIDDEN) + 1
    own = whole.facts["further"][place - 1] if place else {}
    facts = {name: value for name, value in whole.facts.items() if name != "further"}
    transforms = {"features": facts["transforms"]["features"]}
    transforms["target"] = own.get("transform", facts["transforms"]["target"])
    facts |= {"target": own.get("target", SIGMA), "noise": own.get("noise", facts["noise"])}
    variables = {
        name: values[..., [place]] if name.endswith(f"_{last}") else values
        for name, values in whole.variables.items()
    }
    return whole._replace(
        variables=variables,
        facts=facts | {"transforms": transforms},
        noises=(whole.noises[place],),
    )


@pytest.fixture(scope="module")
def whole() -> SurrogateContent:
    return with_theory()


@pytest.fixture(scope="module")
def surrogate(whole: SurrogateContent, tmp_path_factory: pytest.TempPathFactory) -> Surrogate:
    """The six targets, through a file."""
    path = tmp_path_factory.mktemp("theory") / "s.nc"
    write_surrogate(path, whole, dataset(), {"verb": "export"})
    return Surrogate.load(path)


@pytest.mark.parametrize("place", range(6))
def test_each_target_is_predicted_as_if_it_were_alone(
    surrogate: Surrogate, whole: SurrogateContent, place: int
) -> None:
    """The first target also has the same noise, that of its seed."""
    name, alone = [SIGMA, *NAMES][place], Surrogate(one_target(whole, place))
    for on in ("target", "model"):
        found = surrogate.predict_outputs(X, on=on)[name]
        for one, other in zip(found, alone.predict(X, on=on), strict=True):
            np.testing.assert_allclose(one, other, rtol=RTOL)
        drawn = surrogate.sample(X, noise=False, on=on, output=name)
        np.testing.assert_allclose(drawn, alone.sample(X, noise=False, on=on), rtol=RTOL)
    np.testing.assert_array_equal(
        surrogate.predict(X, output=name).median, found_median(surrogate, name)
    )
    if place == 0:
        np.testing.assert_allclose(surrogate.sample(X), alone.sample(X), rtol=RTOL)
        np.testing.assert_array_equal(surrogate.domain(X), alone.domain(X))


def found_median(surrogate: Surrogate, name: str) -> np.ndarray:
    return surrogate.predict_outputs(X)[name].median


def test_one_draw_is_of_one_network_with_noises_of_their_own(
    surrogate: Surrogate, whole: SurrogateContent
) -> None:
    drawn = surrogate.sample_outputs(X, on="model")
    bare = surrogate.sample_outputs(X, on="model", noise=False)
    assert [*drawn] == [*surrogate.outputs] == [SIGMA, *NAMES]
    noises = [(drawn[name] - bare[name])[:, 0] for name in (SCALE[0], ALPHA_S[0])]
    assert abs(np.corrcoef(noises)[0, 1]) < 0.4  # 60 draws
    np.testing.assert_array_equal(surrogate.sample(X, output=PDF[0], on="model"), drawn[PDF[0]])


def test_engines_agree(surrogate: Surrogate, whole: SurrogateContent) -> None:
    compiled = Surrogate(whole, "jax").quantiles(X, (0.5, 0.9))
    for name, values in surrogate.quantiles(X, (0.5, 0.9)).items():
        np.testing.assert_allclose(compiled[name], values, rtol=1e-4)


def test_errors_are_combined_as_published(surrogate: Surrogate) -> None:
    """Compare with the formulas: xsec's signs, half the range of alpha_s, sums in quadrature."""
    predicted = {name: surrogate.predict(X, output=name) for name in surrogate.outputs}
    up, down, pdf, high, low = (predicted[name].median for name in NAMES)
    central = predicted[SIGMA]
    found = surrogate.errors(X)
    expected = {
        "regression_down": central.quantiles[0] / central.median - 1,
        "regression_up": central.quantiles[1] / central.median - 1,
        "scale_down": np.minimum(up, down) - 1,
        "scale_up": np.maximum(up, down) - 1,
        "pdf_down": -pdf,
        "pdf_up": pdf,
        "alpha_s_down": -abs(high - low) / 2,
        "alpha_s_up": abs(high - low) / 2,
    }
    names = ("regression", "scale", "pdf", "alpha_s")
    for side, sign in (("down", -1), ("up", 1)):
        parts = [np.maximum(sign * expected[f"{name}_{side}"], 0) ** 2 for name in names]
        expected[f"total_{side}"] = sign * np.sqrt(sum(parts))
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("others", [{}, {"c": 1.02, "d": 1.03}], ids=["three", "more points"])
def test_scales_on_one_side_count_on_that_side_alone(others: dict[str, float]) -> None:
    """At low masses all other scales may give more than the central one; the extremes count."""
    ratios = {"a": 1.04, **others, "b": 1.01}
    quantiles = {"s": np.array([[2.0], [1.8], [2.2]])}
    quantiles |= {name: np.full((3, 1), ratio) for name, ratio in ratios.items()}
    found = relative_errors(quantiles, "s", {"scale": [*ratios]})
    assert found["scale_down"][0] == pytest.approx(0.01)
    assert found["scale_up"][0] == pytest.approx(0.04)
    assert found["total_down"][0] == pytest.approx(-0.1)
    assert found["total_up"][0] == pytest.approx(np.hypot(0.1, 0.04))


@pytest.mark.parametrize(("names", "down"), [(["up"], 0.08), (["up", "down"], 0.06)])
def test_a_combined_error_has_one_side_or_two(names: list[str], down: float) -> None:
    quantiles = {"s": np.array([[2.0], [2.0], [2.0]])}
    quantiles |= {"up": np.full((3, 1), 0.08), "down": np.full((3, 1), 0.06)}
    found = relative_errors(quantiles, "s", {"combined": names})
    assert found["total_up"][0] == pytest.approx(0.08)
    assert found["combined_down"][0] == found["total_down"][0] == pytest.approx(-down)


def test_a_surrogate_of_one_target_knows_the_error_of_the_regression_alone() -> None:
    surrogate = Surrogate(make_exported())
    found = surrogate.errors(X)
    assert [*found] == ["regression_down", "regression_up", "total_down", "total_up"]
    np.testing.assert_allclose(found["total_up"], found["regression_up"])
    assert surrogate.outputs == (SIGMA,)
    assert [*surrogate.predict_outputs(X)] == [SIGMA]
    assert answer_beside(surrogate, X) == {}


def test_columns_beside_are_the_errors(surrogate: Surrogate) -> None:
    columns, errors = answer_beside(surrogate, X), surrogate.errors(X)
    assert [*columns] == [f"{name}_rel" for name in errors]
    unit, values = columns["total_up_rel"]
    assert unit == ""
    np.testing.assert_array_equal(values, errors["total_up"])


def changed(whole: SurrogateContent, **facts: Any) -> SurrogateContent:
    return whole._replace(facts={**whole.facts, **facts})


def first_further(whole: SurrogateContent, **changes: Any) -> list[dict[str, Any]]:
    first, *others = whole.facts["further"]
    return [first | changes, *others]


def test_files_that_do_not_fit_are_refused(whole: SurrogateContent, tmp_path: Path) -> None:
    """They are refused as files of one target are: no part of a file is used."""
    transforms = whole.facts["transforms"]
    noise = {n: v for n, v in whole.facts["further"][0]["noise"].items() if n != "scale"}
    relative = {"scale": "log10", "mean": 0.0, "sd": 1.0, "relative_to": {"column": "a"}}
    cases = {
        "surrogate.not_whole": [
            whole._replace(noises=whole.noises[:-1]),
            changed(whole, further=whole.facts["further"][:-1]),
            changed(whole, further=first_further(whole, target=SIGMA)),
            changed(whole, transforms=transforms | {"theory": {"pdf": ["unknown"]}}),
            changed(
                whole, transforms=transforms | {"theory": {"pdf": PDF, "scale": [*PDF, SCALE[0]]}}
            ),
        ],
        "surrogate.other_fact": [
            changed(whole, further={}),
            changed(whole, further=first_further(whole, transform={"scale": "cubic"})),
            changed(whole, transforms=transforms | {"theory": {"pdf": SCALE}}),
            changed(whole, transforms=transforms | {"theory": {"luck": PDF}}),
        ],
        "surrogate.no_fact": [
            changed(whole, further=[{}] * 5),
            changed(whole, further=first_further(whole, noise=noise)),
        ],
        "surrogate.unknown_fact": [
            changed(whole, further=first_further(whole, transform=relative)),
        ],
    }
    for code, surrogates in cases.items():
        for number, wrong in enumerate(surrogates):
            path = tmp_path / f"{code}_{number}.nc"
            write_surrogate(path, wrong, dataset(), {"verb": "export"})
            with refused(code):
                Surrogate.load(path)
