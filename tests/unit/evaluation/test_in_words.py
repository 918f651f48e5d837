"""What the verdict says of error bars along the prediction, and of a Gaussian process."""

from typing import Any

import pytest

from nlobayes.evaluation.run_evaluation import Evaluation
from nlobayes.evaluation.run_in_words import better_rival, describe_rival, describe_spread
from tests.run_results import evaluated

PASSED = {"value": 0.7, "low": 0.5, "high": 0.86, "passed": True}
TEST = {"relative_error_p50": 0.00028, "relative_error_p95": 0.0011, "rmse_target": 0.5}


def spread(*, changes: bool, noise: str = "gaussian", upper: Any = PASSED) -> Evaluation:
    checks = [PASSED, PASSED, upper]
    found = {"changes": changes, "thirds": [80.0, 120.0, 240.0], "coverage_68": checks}
    return evaluated(spread=found, predictive_noise={"family": noise})


@pytest.mark.parametrize(
    ("noise", "follow"),
    [("scaled_gaussian", "follow it"), ("conformal", "follow it"), ("gaussian", "do not follow")],
)
def test_a_changing_spread_is_said_with_what_the_error_bars_do(noise: str, follow: str) -> None:
    (line,) = describe_spread(spread(changes=True, noise=noise))
    assert "as 1 : 1.5 : 3 in its lower, middle and upper third" in line
    assert f"the error bars {follow}" in line
    assert describe_spread(spread(changes=False, noise=noise)) == []


def test_a_third_with_wrong_coverage_is_said() -> None:
    wrong = {"value": 0.47, "low": 0.5, "high": 0.86, "passed": False}
    (line,) = describe_spread(spread(changes=False, upper=wrong))
    assert line == "68 % error bars cover 47% in the upper third of predictions"


def beside(mean: float, half: float) -> Evaluation:
    """Scores beside a process whose log score is higher by `mean`, to within `half`."""
    found = {"mean": mean, "standard_error": half / 2, "low": mean - half, "high": mean + half}
    rivals = {"gp_matern": {"test": TEST, "lppd_difference": found}}
    return evaluated(rivals=rivals, learned={"unit": "pb"})


@pytest.mark.parametrize(
    ("mean", "half", "said"),
    [
        (3.1, 0.4, "its log score is 3.1 +- 0.2 higher: the process is better"),
        (-0.31, 0.08, "its log score is 0.31 +- 0.04 lower: the network is better"),
        (0.02, 0.1, "its log score is 0.02 +- 0.05 higher: equal within the error"),
        (-0.02, 0.1, "its log score is 0.02 +- 0.05 lower: equal within the error"),
    ],
)
def test_the_better_of_run_and_process_is_said(mean: float, half: float, said: str) -> None:
    line = describe_rival(beside(mean, half))
    errors = "half within 0.028%, 95 % within 0.11% of the target; RMSE 0.5 pb"
    assert line == f"Gaussian process on the same rows: {errors}; {said}"
    assert better_rival(beside(mean, half)) == (line if mean > half else None)
