"""`as_jax` gives what `predict` gives, with derivatives, or an error of one line."""

from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

from nlobayes import Surrogate
from nlobayes.data.feature_maps import FEATURE_MAPS
from nlobayes.data.features import map_features
from nlobayes.data.references import completed, make_reference
from nlobayes.extras import MissingExtra
from nlobayes.model import infinite
from nlobayes.model.likelihood import NOISE
from nlobayes.surrogate.predictive import Prediction
from nlobayes.types import SurrogateContent
from tests.refusals import refused
from tests.unit.surrogate.conftest import COLUMNS, make_exported, points
from tests.unit.surrogate.test_theory import with_theory

X = points(6, seed=8)
BOTH_SIGNS = [[200.0, 0.6, -0.2, 0.5, 0.6], [-180.0, 0.1, 0.2, -0.7, 0.6]]
INPUTS = {
    **dict.fromkeys(("raw", "invariants", "threshold_invariants", "resolved_invariants"), 5),
    **{"chargino_invariants": 5, "chargino_pair_invariants": 10, "pair_invariants": 10},
    **{"chargino_neutralino_invariants": 10, "channels": 5, "ratios": 5},
}
BORN = {"calculation": "born", "pair": [1, 1], "sqrt_s_tev": 13.0, "mu_over_q": 1.0}
ENGINE = completed({**BORN, "squark_mass_gev": 3000.0}, "pb")


def in_double(whole: SurrogateContent) -> SurrogateContent:
    """Let `predict` compute in double precision."""
    drawn = {name: values.astype(np.float64) for name, values in whole.variables.items()}
    return whole._replace(variables=drawn)


def infinitely_wide(whole: SurrogateContent, activation: str) -> SurrogateContent:
    """Replace the network by one of infinite width, with warped inputs and two draws."""
    rng, features = np.random.default_rng(5), whole.features.astype(np.float64)
    warp = infinite.warp_of(features, whole.facts["transforms"]["features"])
    drawn = {
        infinite.INPUTS: np.exp(rng.normal(-0.5, 0.3, (2, 5))),
        infinite.EXPONENTS: rng.normal(1, 0.3, (2, 5)),
        infinite.BIASES: np.array([0.8, 1.1]),
        infinite.OUTPUT: np.array([1.7, 1.4]),
        infinite.COSINES: np.array([0.5, 0.8]),
        NOISE: np.array([0.1, 0.12]),
    }
    constants = {name: values.tolist() for name, values in warp._asdict().items()}
    facts = whole.facts | {"activation": activation, "warp": constants}
    rows = {"features": features, "target": np.sin(features[:, 0])}
    return whole._replace(variables=drawn, rows=rows, facts=facts)


def relative_to(
    settings: dict[str, Any], *columns: str, of: SurrogateContent | None = None
) -> SurrogateContent:
    whole = in_double(of or make_exported("conformal"))
    transforms = whole.facts["transforms"]
    target = transforms["target"] | {"relative_to": settings}
    facts = whole.facts | {"transforms": transforms | {"target": target}}
    limits = np.vstack([whole.limits, *([1e-3, 1.0] for _ in columns)])
    typical = np.append(whole.typical, np.full(len(columns), 0.1))
    facts |= {"columns": [*COLUMNS, *columns]}
    return whole._replace(facts=facts, limits=limits, typical=typical)


def each_by_itself(surrogate: Surrogate, x: np.ndarray, **options: Any) -> Prediction:
    """Predict point by point: for several points the mean of 10^noise is interpolated."""
    found = [surrogate.predict(x[row : row + 1], **options) for row in range(len(x))]
    return Prediction(*(np.concatenate(fields, axis=-1) for fields in zip(*found, strict=True)))


def assert_same(found: Prediction, expected: Prediction, of_quantiles: float = 1e-10) -> None:
    for name in ("mean", "posterior_sd", "total_sd"):
        actual, desired = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(actual, desired, rtol=1e-10, err_msg=name)
    for name in ("median", "quantiles"):
        actual, desired = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(actual, desired, rtol=of_quantiles, err_msg=name)


@pytest.mark.parametrize("scale", ["log10", "identity"])
@pytest.mark.parametrize(
    "family", ["student_t", "scaled_gaussian", "scaled_student_t", "conformal"]
)
def test_it_is_what_predict_gives(family: str, scale: str) -> None:
    """About draws `predict` finds quantiles to 1e-5 of the scale of the noise."""
    surrogate = Surrogate(in_double(make_exported(family, scale)))
    probabilities = (0.025, 0.3, 0.84)
    found = jax.jit(surrogate.as_jax(quantiles=probabilities))(X)
    tolerance = 1e-10 if family in ("scaled_student_t", "conformal") else 1e-5
    assert_same(found, each_by_itself(surrogate, X, quantiles=probabilities), tolerance)


@pytest.mark.parametrize("family", ["student_t", "conformal"])
@pytest.mark.parametrize("activation", ["erf", "relu"])
def test_an_infinitely_wide_network_is_what_predict_gives(activation: str, family: str) -> None:
    surrogate = Surrogate(infinitely_wide(make_exported(family), activation))
    found = jax.jit(surrogate.as_jax(quantiles=(0.025, 0.84)))(X)
    expected = each_by_itself(surrogate, X, quantiles=(0.025, 0.84))
    assert_same(found, expected, 1e-10 if family == "conformal" else 1e-5)


def test_components_and_every_target_are_those_of_predict() -> None:
    surrogate = Surrogate(in_double(make_exported(components=3)))
    assert_same(surrogate.as_jax()(X), each_by_itself(surrogate, X), 1e-5)
    several = Surrogate(in_double(with_theory()))
    for name in (several.outputs[1], several.outputs[3]):
        found = several.as_jax(output=name)(X)
        assert_same(found, each_by_itself(several, X, output=name), 1e-5)


def test_a_target_relative_to_a_column_takes_it_behind_the_inputs() -> None:
    surrogate = Surrogate(relative_to({"column": "lo_pb", "unit": "pb"}, "lo_pb"))
    x = np.column_stack([X, np.linspace(0.01, 0.2, len(X))])
    assert_same(surrogate.as_jax()(x), each_by_itself(surrogate, x))
    x[1, -1] = -1.0
    assert np.isnan(surrogate.as_jax()(x).mean).tolist() == [row == 1 for row in range(len(X))]
    x[1, -1] = 0.1
    several = Surrogate(relative_to({"column": "lo_pb", "unit": "pb"}, "lo_pb", of=with_theory()))
    for name in (several.target, several.outputs[1]):
        found = several.as_jax(output=name)(x)
        assert_same(found, each_by_itself(several, x, output=name), 1e-5)


def seen_by(whole: SurrogateContent, name: str) -> SurrogateContent:
    """Give a surrogate the features of another map with the same number of columns."""
    features = whole.facts["transforms"]["features"] | {"map": name}
    transforms = whole.facts["transforms"] | {"features": features}
    return whole._replace(facts=whole.facts | {"transforms": transforms})


def test_a_target_relative_to_the_engine_is_what_predict_gives_with_its_derivatives() -> None:
    """As in the study `bundle`, features and reference are both computed from the Born rate."""
    surrogate = Surrogate(seen_by(relative_to(ENGINE), "channels"))
    predict = surrogate.as_jax()
    beyond = X.copy()
    beyond[1, 0] = 2100.0
    found, expected = jax.jit(predict)(beyond), each_by_itself(surrogate, X)
    known = np.arange(len(X)) != 1
    assert np.isnan(found.mean).tolist() == (~known).tolist()
    assert_same(
        Prediction(*(np.asarray(values)[..., known] for values in found)),
        Prediction(*(values[..., known] for values in expected)),
    )
    whole = jax.jit(lambda x: predict(x).mean)
    slopes = jax.jit(jax.jacfwd(whole))(X[0])
    for column, value in enumerate(X[0]):
        step = 1e-5 * abs(value) * np.eye(5)[column]
        expected = (whole(X[0] + step) - whole(X[0] - step)) / (2 * step[column])
        np.testing.assert_allclose(slopes[column], expected, rtol=1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        {**BORN, "calculation": "nlo", "mu_over_q": 0.5, "pair": [1, 2], "sqrt_s_tev": 13.6},
        *(
            {**{name: BORN[name] for name in BORN if name != "pair"}, "process": process}
            for process in ([1000023, 1000024], [1000024, -1000024], [1000024, -1000037])
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("squarks", [2500.0, "msq"])
def test_references_are_alike_in_both(settings: dict[str, Any], squarks: object) -> None:
    """This holds for all kinds of pairs; references are NaN for masses that the engine refuses."""
    reference = make_reference(completed({**settings, "squark_mass_gev": squarks}, "fb"))
    names = reference.columns
    rng = np.random.default_rng(5)
    values = rng.uniform(-1, 1, (7, len(names)))
    masses = [place for place, name in enumerate(names) if name.startswith("m")]
    values[:, masses] = rng.uniform(100, 1000, (7, len(masses)))
    values[:, names.index("msq") if "msq" in names else 0] += 2500 if "msq" in names else 0
    values[2, masses[0]] = 20.0
    expected = reference.values(values, names, "log10")
    named = dict(zip(names, jax.numpy.asarray(values).T, strict=True))
    found = jax.jit(reference.at)(named)
    assert np.isnan(found).tolist() == np.isnan(expected).tolist()
    assert np.isnan(expected).sum() == 1
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_draws_in_single_precision_are_computed_in_double() -> None:
    whole = make_exported("conformal")
    found = Surrogate(whole).as_jax()(X)
    assert_same(found, Surrogate(in_double(whole)).as_jax()(X))
    np.testing.assert_allclose(found.mean, Surrogate(whole).predict(X).mean, rtol=1e-5)


@pytest.mark.parametrize("name", INPUTS)
def test_feature_maps_are_alike_in_both(name: str) -> None:
    x = np.tile(BOTH_SIGNS, INPUTS[name] // 5)
    with_squarks = np.column_stack([x, [3000.0, 2500.0]])
    for inputs in (x, with_squarks):
        found = jax.jit(FEATURE_MAPS[name].apply)(inputs)
        np.testing.assert_allclose(found, map_features(name, inputs), rtol=1e-12)


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("family", "activation"),
    [("student_t", "tanh"), ("conformal", "tanh"), ("conformal", "erf"), ("conformal", "relu")],
)
def test_derivatives_are_those_of_finite_differences(family: str, activation: str) -> None:
    """The density of the noise jumps between nodes, where a difference of quantiles steps over."""
    exported = in_double(make_exported(family))
    if activation != "tanh":
        exported = infinitely_wide(exported, activation)
    predict = Surrogate(exported).as_jax()
    point = np.array([310.0, 0.5, -0.3, 0.6, 0.54])
    found = jax.jit(jax.jacfwd(predict))(point)
    reverse = jax.jit(jax.grad(lambda x: predict(x).total_sd))(point)
    np.testing.assert_allclose(reverse, found.total_sd, rtol=1e-9)
    whole = jax.jit(predict)
    for column, value in enumerate(point):
        step = 1e-5 * abs(value)
        moved = [whole(point + sign * step * np.eye(5)[column]) for sign in (1, -1)]
        for name, slope in found._asdict().items():
            up, down = (getattr(each, name) for each in moved)
            expected = (up - down) / (2 * step)
            steps_over = family == "student_t" and name in ("median", "quantiles")
            np.testing.assert_allclose(
                slope[..., column],
                expected,
                rtol=5e-3 if steps_over else 1e-5,
                atol=1e-6 * abs(float(getattr(found, name).max())),
                err_msg=f"{name} by {COLUMNS[column]}",
            )


def test_it_is_pure_for_vmap_jit_and_any_shape() -> None:
    predict = Surrogate(in_double(make_exported("conformal"))).as_jax()
    together, mapped = predict(X), jax.vmap(jax.jit(predict))(X)
    np.testing.assert_allclose(mapped.mean, together.mean, rtol=1e-12)
    np.testing.assert_allclose(mapped.quantiles.T, together.quantiles, rtol=1e-12)
    stacked = predict(X.reshape(2, 3, 5))
    assert stacked.quantiles.shape == (2, 2, 3)
    np.testing.assert_allclose(stacked.total_sd.ravel(), together.total_sd, rtol=1e-12)
    assert predict(X[0].tolist()).mean.shape == ()


def test_points_that_predict_refuses_have_no_number() -> None:
    """Zero masses have no logarithm: tanh of infinity would be a number."""
    predict = Surrogate(make_exported("conformal")).as_jax()
    x = np.array([X[0], X[1], X[2]])
    x[0, 0], x[1, 2] = 0.0, np.inf
    for values in predict(x):
        assert np.isnan(values).any(axis=tuple(range(values.ndim - 1))).tolist() == [1, 1, 0]
    with refused("surrogate.other_shape", shape=(3, 4), count=5):
        predict(x[:, :4])


def test_what_jax_cannot_compute_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = make_exported()
    of_numpy = {"invariants": SimpleNamespace(apply=np.asarray)}
    monkeypatch.setattr("nlobayes.surrogate.in_jax.FEATURE_MAPS", of_numpy)
    with refused("surrogate.map_not_in_jax", map="invariants"):
        Surrogate(whole).as_jax()
    with refused("surrogate.no_output", output="sigma"):
        Surrogate(whole).as_jax(output="sigma")
    with refused("surrogate.beyond_table"):
        Surrogate(whole).as_jax(quantiles=(1.0,))


def test_without_jax_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jax", None)
    monkeypatch.delitem(__import__("sys").modules, "nlobayes.surrogate.in_jax", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'nlobayes\[jax\]'") as caught:
        Surrogate(make_exported()).as_jax()
    assert "\n" not in str(caught.value)
