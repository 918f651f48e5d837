"""What is computed of the last points is used for the same points only."""

from collections.abc import Callable

import numpy as np
import pytest

from nlobayes.data.transforms import FeatureTransform
from nlobayes.surrogate import trained
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import SurrogateContent
from tests.unit.surrogate.conftest import points


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of points whose features were computed."""
    counted: list[int] = []
    standardise = trained.standardise_features

    def count(transform: FeatureTransform, mapped: np.ndarray) -> np.ndarray:
        counted.append(len(mapped))
        return standardise(transform, mapped)

    monkeypatch.setattr(trained, "standardise_features", count)
    return counted


def test_the_features_of_the_same_points_are_computed_once(
    make_exported: Callable[..., SurrogateContent], computed: list[int]
) -> None:
    surrogate, x = Surrogate(make_exported()), points(3)
    for _ in range(2):
        surrogate.predict(x.copy())
        surrogate.reasons(x)
        surrogate.distance(x)
    surrogate.predict(x[:2])
    assert computed == [3, 2]


def test_points_or_answers_changed_in_place_are_not_remembered(
    make_exported: Callable[..., SurrogateContent],
) -> None:
    surrogate, x, first = Surrogate(make_exported()), points(3), points(3)
    expected = surrogate.distance(x)
    surrogate.distance(x)[0], surrogate.usable(x)[0] = -1.0, False
    x[0] = 1e6
    assert surrogate.distance(x)[0] > expected[0]
    np.testing.assert_array_equal(surrogate.distance(first), expected)
    assert surrogate.usable(first).all()
