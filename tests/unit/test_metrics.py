"""The one list of scores: it has every key that an evaluation writes, and no other."""

from pathlib import Path

import numpy as np

from nlobayes.evaluation.calibration.conditional import scale_shares
from nlobayes.evaluation.scores.classification.classes import predict_classes
from nlobayes.evaluation.scores.of_split import evaluate, evaluate_classes
from nlobayes.metrics import METRICS, MetricKind, by_column
from nlobayes.metrics.__main__ import as_markdown
from tests.unit.evaluation.noises import make_noise

KEYS = {kind: [key for m in METRICS if m.kind == kind for key in m.keys] for kind in MetricKind}
PAGE = Path(__file__).parents[2] / "docs/scores.md"


def test_the_list_has_the_keys_that_an_evaluation_of_numbers_writes() -> None:
    rng = np.random.default_rng(1)
    draws, observed = rng.normal(size=(8, 40)), rng.normal(size=40)
    noise = make_noise("gaussian", 0.3)
    scores = evaluate(draws, observed, noise, rng, scale="log10", features=draws.T)
    scores |= scale_shares(draws.mean(axis=0), np.ones(40), observed, np.ones(40))
    assert {*KEYS[MetricKind.NUMBERS]} == scores.keys() - {"undefined"}


def test_the_list_has_the_keys_that_an_evaluation_of_classes_writes() -> None:
    rng = np.random.default_rng(2)
    probabilities = rng.dirichlet(np.ones(4), size=(8, 40))
    scores = evaluate_classes(predict_classes(probabilities), rng.integers(4, size=40))
    assert {*KEYS[MetricKind.CLASSES]} == scores.keys() - {"undefined"}


def test_no_score_of_a_kind_is_listed_twice() -> None:
    for keys in KEYS.values():
        assert len(keys) == len({*keys})


def test_columns_of_the_summary_are_in_their_places() -> None:
    titles = {kind: [column.title for column in by_column(kind)] for kind in MetricKind}
    assert titles[MetricKind.NUMBERS] == ["RMSE", "R²", "68 %", "95 %", "worst slab", "log score"]
    assert titles[MetricKind.CLASSES] == ["accuracy", "log score", "ece"]


def test_the_page_is_the_list() -> None:
    """Where it is not: `python -m nlobayes.metrics > docs/scores.md`."""
    assert PAGE.read_text() == as_markdown()
