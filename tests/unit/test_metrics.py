"""The one list of scores: it has every key that an evaluation writes, and no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nlobayes.evaluation.calibration.conditional import scale_shares
from nlobayes.evaluation.classification.scores import predict_classes
from nlobayes.evaluation.comparison.posteriors import compare, held_out
from nlobayes.evaluation.scores.of_split import evaluate, evaluate_classes
from nlobayes.metrics import METRICS, MetricKind, Shown, by_column, keys_of, metric_of, shown_in
from nlobayes.metrics.__main__ import as_markdown
from nlobayes.types import Predicted
from tests.unit.evaluation.noises import make_noise

PAGE = Path(__file__).parents[2] / "docs/scores.md"


def test_the_list_has_the_keys_that_an_evaluation_of_numbers_writes() -> None:
    rng = np.random.default_rng(1)
    draws, observed = rng.normal(size=(8, 40)), rng.normal(size=40)
    noise = make_noise("gaussian", 0.3)
    scores = evaluate(draws, observed, noise, rng, scale="log10")
    scores |= scale_shares(draws.mean(axis=0), np.ones(40), observed, np.ones(40))
    assert {*keys_of(MetricKind.NUMBERS)} == scores.keys() - {"undefined"}


def test_the_list_has_the_keys_that_an_evaluation_of_classes_writes() -> None:
    rng = np.random.default_rng(2)
    probabilities = rng.dirichlet(np.ones(4), size=(8, 40))
    scores = evaluate_classes(predict_classes(probabilities), rng.integers(4, size=40))
    assert {*keys_of(MetricKind.CLASSES)} == scores.keys() - {"undefined"}


def test_the_list_has_the_keys_that_approximations_are_held_by() -> None:
    rng = np.random.default_rng(3)
    says = [Predicted(rng.normal(size=(20, 40)), "gaussian", np.ones((1, 1))) for _ in range(2)]
    found = compare(*(held_out(one, 2, np.ones(40, bool)) for one in says))
    assert {*keys_of(MetricKind.FIDELITY)} == {*found, "pareto_k"}


def test_no_score_of_a_kind_is_listed_twice() -> None:
    for kind in MetricKind:
        keys = keys_of(kind)
        assert len(keys) == len({*keys})


def test_a_nominal_value_is_drawn_in_the_unit_of_its_axis() -> None:
    assert metric_of("coverage_95").line == 95.0
    assert metric_of("rhat_f_p99").line == 1.05
    assert (metric_of("lppd").line, metric_of("lppd").direction) == (None, "higher")


def test_columns_of_the_summary_are_in_their_places() -> None:
    titles = {kind: [column.title for column in by_column(kind)] for kind in MetricKind}
    assert titles[MetricKind.NUMBERS] == ["RMSE", "R²", "68 %", "95 %", "log score"]
    assert titles[MetricKind.CLASSES] == ["accuracy", "log score", "ece"]


@pytest.mark.parametrize("place", Shown)
def test_scores_are_shown_in_the_order_of_the_list(place: Shown) -> None:
    every = [metric.key for metric in METRICS]
    shown = shown_in(place)
    assert [every.index(key) for key in shown] == sorted(every.index(key) for key in shown)


def test_the_page_is_the_list() -> None:
    """Where it is not: `python -m nlobayes.metrics > docs/scores.md`."""
    assert PAGE.read_text() == as_markdown()


def test_planning_loads_nothing_but_the_list() -> None:
    code = "import sys, nlobayes.metrics; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "matplotlib", "pydantic", "jax"} & {*done.stdout.split()}
