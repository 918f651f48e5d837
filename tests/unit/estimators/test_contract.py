"""scikit-learn's own checks of estimators, with the smallest settings."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from nlobayes import BayesianNetworkClassifier, BayesianNetworkRegressor
from tests.unit.estimators.settings import MAPS

BY_DAY = 3


@pytest.mark.by_day(BY_DAY)
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([BayesianNetworkRegressor(**MAPS)])
def test_the_regressor_keeps_the_contract(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.by_day(BY_DAY)
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([BayesianNetworkClassifier(**MAPS)])
def test_the_classifier_keeps_the_contract(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
