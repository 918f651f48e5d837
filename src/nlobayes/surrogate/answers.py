"""Any surrogate of a file, and its predictions as columns with a value for every point."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nlobayes.data.transforms import CLASSES
from nlobayes.errors import InputError
from nlobayes.surrogate.classifier import Classifier
from nlobayes.surrogate.consistency import read_exported
from nlobayes.surrogate.in_numpy import Engine
from nlobayes.surrogate.network_outputs import Scale
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.trained import StoredNetwork
from nlobayes.untyped import Facts

SUMMARIES = ("mean", "median", "posterior_sd", "total_sd")
DOMAIN = "domain"
REASON = "reason"


def load(path: str | Path, engine: Engine = "numpy") -> Surrogate | Classifier:
    """Read a file of numbers or of classes; errors as `Surrogate.load`."""
    exported = read_exported(path)
    kind = Classifier if exported.facts.get("form") == CLASSES else Surrogate
    return kind(exported, engine)


def quantile_names(probabilities: Sequence[float]) -> list[str]:
    """Name quantiles by their percentages: q16, q97.5.

    Raises InputError if a probability is not between 0 and 1, or occurs twice.
    """
    names = [f"q{100 * probability:.9g}" for probability in probabilities]
    for name, probability in zip(names, probabilities, strict=True):
        if not 0 < probability < 1:
            raise InputError("surrogate.no_probability", percent=100 * probability)
        if names.count(name) > 1:
            raise InputError("surrogate.quantile_twice", probability=probability)
    return names


def answer(
    surrogate: Surrogate,
    points: np.ndarray,
    quantiles: Sequence[float] = (),
    *,
    on: Scale = "target",
    given: Facts | None = None,
) -> dict[str, np.ndarray]:
    """Predict points (point, input) with their domain and its reason; columns have axis (point,).

    `given` has the values of fixed parameters, as in `Surrogate.domain`. Numbers are NaN without a
    prediction; far outside the domain they may be infinite.

    Errors as for `Surrogate.predict`.
    """
    names = quantile_names(quantiles)
    with np.errstate(all="ignore"):
        predicted = surrogate.predict(points, quantiles=quantiles, on=on)
        where = located(surrogate, points, given)
    summaries = {name: getattr(predicted, name) for name in SUMMARIES}
    return summaries | dict(zip(names, predicted.quantiles, strict=True)) | where


def answer_classes(
    classifier: Classifier, points: np.ndarray, given: Facts | None = None
) -> dict[str, np.ndarray]:
    """Predict the most probable class of points (point, input), all probabilities, and the domain.

    Columns (point,) are the label under the name of the target, masked without a prediction,
    `probability_{label}`, `entropy` and `mutual_information` in nats, and the domain with its
    reason. Errors as `Classifier.predict`.
    """
    with np.errstate(all="ignore"):
        predicted = classifier.predict(points)
        where = located(classifier, points, given)
    label = np.ma.masked_array(np.nan_to_num(predicted.label), np.isnan(predicted.confidence))
    columns = zip(classifier.labels, predicted.probability.T, strict=True)
    return {
        classifier.target: label.astype(int),
        **{f"probability_{label}": column for label, column in columns},
        "entropy": predicted.entropy,
        "mutual_information": predicted.mutual_information,
        **where,
    }


def located(
    surrogate: StoredNetwork, points: np.ndarray, given: Facts | None
) -> dict[str, np.ndarray]:
    """Return the domain of points (point,), and the reason where they are not inside."""
    return {DOMAIN: surrogate.domain(points, given), REASON: surrogate.reasons(points, given)}


def answer_beside(
    surrogate: Surrogate, points: np.ndarray, *, on: Scale = "target"
) -> dict[str, tuple[str, np.ndarray]]:
    """Return further columns of points (point, input), each by name with its unit.

    For a surrogate with theory errors these are all relative errors, named `{error}_rel`. For a
    surrogate with several targets these are the summaries of the further targets.
    """
    with np.errstate(all="ignore"):
        if surrogate.theory:
            return {f"{name}_rel": ("", error) for name, error in surrogate.errors(points).items()}
        further = surrogate.outputs[1:]
        predicted = surrogate.predict_outputs(points, on=on) if further else {}
    prefix = "log10_" if on == "model" and surrogate.scale == "log10" else ""
    return {
        f"{prefix}{name}_{summary}": (
            "" if prefix else surrogate.units.get(name, ""),
            getattr(predicted[name], summary),
        )
        for name in further
        for summary in SUMMARIES
    }
