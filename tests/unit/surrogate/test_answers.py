"""Columns of the prediction of a point: the surrogate's own numbers by name, and the domain."""

import numpy as np
import pytest

from nlobayes.surrogate.answers import SUMMARIES, answer, quantile_names
from nlobayes.surrogate.surrogate import Scale, Surrogate
from nlobayes.types import SurrogateContent

POINTS = np.array([[300, 0.1, 0.2, 0.8, -0.55], [-800, 0.5, 0.5, 0.5, 0.5], [1e5, 0, 0, 1, 0]])


@pytest.fixture(scope="module")
def surrogate(exported: SurrogateContent) -> Surrogate:
    return Surrogate(exported)


def test_quantiles_are_named_by_percentages() -> None:
    names = quantile_names((0.16, 0.025, 0.5, 0.29, 1 - 1e-6))
    assert names == ["q16", "q2.5", "q50", "q29", "q99.9999"]
    assert quantile_names(()) == []


@pytest.mark.parametrize("on", ["target", "model"])
def test_an_answer_is_what_the_surrogate_predicts(surrogate: Surrogate, on: Scale) -> None:
    found = answer(surrogate, POINTS, (0.16, 0.975), on=on)
    expected = surrogate.predict(POINTS, quantiles=(0.16, 0.975), on=on)
    assert [*found] == [
        *("mean", "median", "posterior_sd", "total_sd", "q16", "q97.5", "domain", "reason"),
    ]
    for name in ("mean", "median", "posterior_sd", "total_sd"):
        assert np.array_equal(found[name], getattr(expected, name))
    assert np.array_equal([found["q16"], found["q97.5"]], expected.quantiles)
    assert found["domain"].tolist() == surrogate.domain(POINTS).tolist()
    assert found["domain"][2] == "outside"


def test_points_without_a_prediction_are_nan_with_a_reason(surrogate: Surrogate) -> None:
    bad = [[0, 0, 0, 0, 1], [np.nan, 0, 0, 0, 1], [1, 1e200, 0, 0, 0]]
    found, alone = (answer(surrogate, points) for points in (np.array([*POINTS, *bad]), POINTS))
    for name, column in alone.items():
        assert found[name][:3].tolist() == column.tolist()
    assert np.isnan([found[name][3:] for name in SUMMARIES]).all()
    assert found["domain"][3:].tolist() == ["outside"] * 3
    assert "|m| above 0" in found["reason"][3]
    assert found["reason"][4] == "m1 is nan, no finite number"


def test_the_reason_names_what_is_outside(surrogate: Surrogate) -> None:
    typical = [*surrogate.typical.values()]
    points = np.array([typical, typical, [typical[0], *2 * np.array(typical[1:])], typical])
    points[[1, 3], 0] = 1e5, 1.0
    reasons = surrogate.reasons(points).tolist()
    assert reasons[0] == ""
    assert reasons[1].startswith("m1 is 100000, train rows have -9")
    assert reasons[2].startswith("length of n11, n12, n13, n14 is 2, train rows have 0.99")
    assert reasons[3].startswith("|m1| is 1, train rows have 1")
