"""The classifier gives the probabilities that the run gives of its own rows."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from nlobayes import BayesianNetworkClassifier, Classifier
from nlobayes.errors import InputError
from nlobayes.estimators.classifier import _each_class_first
from tests.unit.estimators.settings import MAPS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
LABELS = np.array(["low", "middle", "up"])[np.digitize(X[:, 0], [-0.5, 0.5])]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_probabilities_are_means_over_the_draws_of_those_of_the_evaluation(tmp_path: Path) -> None:
    fitted = BayesianNetworkClassifier(**MAPS).fit(X, LABELS)
    probability = fitted.predict_proba(X)
    assert probability.shape == (60, 3)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert fitted.classes_.tolist() == ["low", "middle", "up"]
    assert (fitted.predict(X) == fitted.classes_[probability.argmax(axis=1)]).all()
    right = (fitted.predict(X) == LABELS).mean()
    order = _each_class_first(np.unique(LABELS, return_inverse=True)[1], 1)
    train = order[:42]
    of_train = (fitted.predict(X)[train] == LABELS[train]).mean()
    assert of_train == pytest.approx(fitted.evaluation_["train"]["accuracy"])
    assert right > 0.7
    assert isinstance(fitted.idata_.posterior, xr.DataTree)
    fitted.to_surrogate(tmp_path / "classes.nc")
    loaded = Classifier.load(tmp_path / "classes.nc")
    np.testing.assert_array_equal(loaded.sample(X), fitted.sample(X))
    assert loaded.labels == (0, 1, 2)


def test_one_class_and_too_few_rows_are_refused() -> None:
    with pytest.raises(InputError, match="y has one class, 'a'"):
        BayesianNetworkClassifier(**MAPS).fit(X, np.full(60, "a"))
    with pytest.raises(InputError, match="20 classes but 14 train rows"):
        BayesianNetworkClassifier(**MAPS).fit(X[:20], np.arange(20).astype(str))


def test_every_class_has_a_row_among_the_first() -> None:
    codes = np.array([0] * 50 + [1] * 9 + [2])
    order = _each_class_first(codes, 3)
    assert sorted(order) == [*range(60)]
    assert {*codes[order[:3]]} == {0, 1, 2}
