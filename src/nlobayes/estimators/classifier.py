"""Classifier with probabilities, fitted as in the workflow."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from nlobayes.errors import InputError
from nlobayes.estimators.arguments import check_labels, refuse_unknown, seed_of, sizes_of, unused
from nlobayes.estimators.base import FittedNetwork
from nlobayes.fitting.studies import Precision, Preset
from nlobayes.fitting.table_settings import FEWEST_ROWS
from nlobayes.surrogate.classifier import Classifier
from nlobayes.types import Table
from nlobayes.untyped import Facts, Points

CLASS = "class"


class BayesianNetworkClassifier(ClassifierMixin, FittedNetwork):
    """Bayesian neural network for classes, sampled by exact Markov chains.

    Parameters and attributes are those of `BayesianNetworkRegressor` without `noise`, `scale` and
    `recipe`. `surrogate_` is a `Classifier`, which numbers the classes; `classes_` has the label of
    each number.
    """

    noise, recipe = "auto", "plain"

    def __init__(
        self,
        hidden: int | Sequence[int] = (32,),
        *,
        activation: str | Sequence[str] = "tanh",
        prior: Preset = "fan_in",
        likelihood: Preset = "categorical",
        pretraining: Preset = "adam",
        method: Preset = "hmc_table",
        chains: int | None = None,
        until: Facts | None = None,
        features: Facts | None = None,
        validation: float = 0.15,
        test: float = 0.15,
        precision: Precision | Literal["auto"] = "float32",
        together: bool = False,
        random_state: object = 1,
        n_jobs: int | None = None,
        verbose: bool = True,
    ) -> None:
        self.hidden = hidden
        self.activation = activation
        self.prior = prior
        self.likelihood = likelihood
        self.pretraining = pretraining
        self.method = method
        self.chains = chains
        self.until = until
        self.features = features
        self.validation = validation
        self.test = test
        self.precision = precision
        self.together = together
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Points, y: Points, **unknown: Any) -> BayesianNetworkClassifier:
        """Sample the posterior of the network and check its convergence.

        Parameters
        ----------
        X
            Points (point, input).
        y
            Labels (point,).
        unknown
            Other arguments, such as `sample_weight`, are refused.

        Raises
        ------
        InputError
            If a parameter or a row cannot be used, or there is only one class. It is a ValueError.
        """
        refuse_unknown(unknown)
        if y is not None:
            check_labels(y)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=FEWEST_ROWS)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError("estimators.one_class", label=str(self.classes_[0]))
        train, validation, test = sizes_of(len(codes), self.validation, self.test)
        order = _each_class_first(codes, seed_of(self.random_state))
        if train < len(self.classes_):
            raise InputError("estimators.few_rows", rows=train, classes=len(self.classes_))
        columns = dict(zip(self._columns(), X[order].T, strict=True))
        target = unused(CLASS, columns)
        columns[target] = codes[order].astype(np.float64)
        settings = {"column": target, "unit": "", "scale": "classes"}
        split = {"train": train, "validation": validation, "test": test, "shuffle": False}
        self._run(Table(columns, {}, {}), settings, split, train)
        self.surrogate_ = self._loaded(Classifier)
        return self

    def _beside(self) -> Collection[str]:
        probabilities = (f"probability_{number}" for number in range(len(self.classes_)))
        return {"entropy", "mutual_information", *probabilities}

    def predict_proba(self, X: Points) -> np.ndarray:
        """Return the means of the class probabilities over the draws (point, class)."""
        points = self._warned(X)
        probability: np.ndarray = self.surrogate_.predict(points).probability
        return probability / probability.sum(axis=1, keepdims=True)

    def predict(self, X: Points) -> np.ndarray:
        """Return the most probable label of each point."""
        probable = self.predict_proba(X).argmax(axis=1)
        labels: np.ndarray = self.classes_[probable]
        return labels

    def sample(self, X: Points) -> np.ndarray:
        """Return the class probabilities of each draw of the posterior (draw, point, class)."""
        points = self._warned(X)
        return self.surrogate_.sample(points)


def _each_class_first(codes: np.ndarray, seed: int) -> np.ndarray:
    """Shuffle rows with one row of each class first, so that train rows contain every class."""
    order = np.random.default_rng(seed).permutation(len(codes))
    _, first = np.unique(codes[order], return_index=True)
    return np.concatenate([order[first], np.delete(order, first)])
