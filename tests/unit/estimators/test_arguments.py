"""Arguments are taken as scikit-learn takes them, or refused in one line before a run."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlobayes import BayesianNetworkClassifier, BayesianNetworkRegressor
from nlobayes.data.column_names import BESIDE_INPUTS, LONGEST, carried, is_carried
from nlobayes.data.table_files import to_csv_text
from nlobayes.estimators.arguments import seed_of, sizes_of, unused
from nlobayes.surrogate.answers import DOMAIN, REASON
from nlobayes.surrogate.facts import NAME
from nlobayes.types import Table
from tests.refusals import refused
from tests.unit.estimators.settings import MAPS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X[:, 0] ** 2
LABELS = np.where(Y > 0.3, "up", "low")


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_gives_a_seed_and_another_one_next_time(make: Any) -> None:
    one, other = make(3), make(3)
    first, second = seed_of(one), seed_of(one)
    assert first != second
    assert (seed_of(other), seed_of(other)) == (first, second)
    assert seed_of(np.int64(7)) == 7


@given(st.integers(2, 1000), *2 * [st.floats(1e-3, 0.999) | st.integers(1, 1000)])
def test_sizes_fill_the_rows_or_are_refused(rows: int, validation: float, test: float) -> None:
    held_out = [max(int(size if size >= 1 else size * rows), 1) for size in (validation, test)]
    if rows - sum(held_out) < 2:
        with refused("estimators.no_train_rows", rows=rows, held_out=sum(held_out)):
            sizes_of(rows, validation, test)
    else:
        assert sizes_of(rows, validation, test) == [rows - sum(held_out), *held_out]


@given(
    st.lists(st.text(max_size=6) | st.sampled_from(["row", "x1", "m:GeV", "#", "7"]), unique=True)
)
def test_names_in_files_are_those_of_x_or_differ_from_them(names: list[str]) -> None:
    own = carried([*names, "m" * 300], taken=("entropy",))
    assert len({*own}) == len(own)
    assert all(is_carried(name) for name in own)
    assert all(new == old or new not in names for old, new in zip(names, own, strict=False))
    to_csv_text(Table({name: np.ones(2) for name in own}, {}, {}))
    assert all(NAME.holds(name) for name in own)
    assert max(map(len, own)) <= LONGEST
    target = unused("y", own)
    assert not {*BESIDE_INPUTS, DOMAIN, REASON, f"{target}_mean", target} & {*own}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"prior": "nope"}, "prior: unknown name 'nope'; known: cauchy"),
        ({"method": {"kernel": "nope"}}, "method.kernel: "),
        ({"pretraining": {"epochs": -1}}, "pretraining.epochs: "),
        ({"likelihood": {"kind": "nope"}}, "likelihood: "),
        ({"prior": {"kind": "scales", "nope": 1}}, "prior.scales: unknown key 'nope'"),
        ({"method": {"kind": "last_layer"}}, "the method draws the output layer exactly"),
        (
            {"likelihood": "categorical"},
            "likelihood 'categorical' is of classes, scale is 'identity'",
        ),
        ({"noise": "nope"}, "noise: "),
        ({"hidden": 0}, "hidden.0: "),
        ({"scale": "log10"}, "scale: log10 takes positive targets, 40 of 40 values of 'y'"),
        ({"features": {"map": "nope"}}, "features.map: "),
        ({"features": {"map": "invariants"}}, "features.map: 'invariants' takes 5 columns"),
        ({"features": "raw"}, "features is 'raw'"),
        ({"features": {"columns": ["x9"]}}, "features: no column 'x9'"),
        ({"hidden": (4, 4), "recipe": "wide"}, "width: infinite is one hidden layer"),
        ({"relative_to": "born"}, "relative_to: the calculation needs .*, X lacks m1"),
        ({"relative_to": "nope"}, "relative_to: no column 'nope'"),
        ({"validation": 0.9}, "validation 0.9 and test 0.15 take 42 of 40 rows"),
        ({"random_state": -1}, "Seed must be between 0 and"),
    ],
)
def test_messages_name_parameters_alone(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}") as caught:
        BayesianNetworkRegressor(**{**MAPS, **settings}).fit(X, -1 - Y)
    assert "\n" not in str(caught.value)
    assert not re.search(r"\bown\b|table\.|/|configuration", str(caught.value))


def test_weights_and_missing_labels_are_refused() -> None:
    regressor, classifier = BayesianNetworkRegressor(**MAPS), BayesianNetworkClassifier(**MAPS)
    with refused("estimators.unknown_argument", names=["sample_weight"]) as caught:
        regressor.fit(X, Y, sample_weight=np.ones(40))
    assert "sample_sd" in str(caught.value)
    with refused("estimators.unknown_argument"):
        classifier.fit(X, LABELS, sample_weight=np.ones(40))
    for missing in (None, np.nan):
        labels = [*LABELS.tolist()[:-1], missing]
        with refused("estimators.no_label", row=40, count=1, rows=40):
            classifier.fit(X, labels)
