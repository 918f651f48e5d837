"""A network of classes in a file: probabilities, their uncertainty and the domain."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import entropy

from nlobayes import Classifier, Surrogate
from nlobayes.artifacts.contents import write_surrogate
from nlobayes.artifacts.surrogate_file import CLASSES
from nlobayes.data.transforms import apply_features, feature_transform
from nlobayes.model.networks import network_of
from nlobayes.surrogate.answers import load
from nlobayes.surrogate.in_numpy import evaluate
from nlobayes.types import SurrogateContent
from tests.refusals import refused
from tests.unit.surrogate.conftest import HIDDEN, dataset, make_exported, points

LABELS = (1, 2, 5)
X = points(50, seed=9)


def of_classes() -> SurrogateContent:
    """Make a network with one output for each of three classes, and no noise."""
    numbers, last = make_exported(), len(HIDDEN) + 1
    rng = np.random.default_rng(4)
    drawn = {
        name: np.concatenate([rng.normal(size=values.shape).astype("f4") for _ in LABELS], axis=-1)
        if name.endswith(f"_{last}")
        else values
        for name, values in numbers.variables.items()
    }
    target = {"scale": "classes", "mean": 0.0, "sd": 1.0, "labels": [*map(float, LABELS)]}
    facts = {name: value for name, value in numbers.facts.items() if name != "noise"}
    facts["transforms"] = facts["transforms"] | {"target": target}
    facts |= {"target": "kind", "form": CLASSES}
    return numbers._replace(variables=drawn, facts=facts, noises=())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path, of_classes())


def written(folder: Path, exported_one: SurrogateContent) -> Path:
    path = folder / "classes.nc"
    write_surrogate(path, exported_one, dataset(), {"verb": "export"})
    return path


@pytest.fixture
def classifier(path: Path) -> Classifier:
    return Classifier.load(path)


def probabilities(whole: SurrogateContent) -> np.ndarray:
    """Compute the probabilities of every draw (draw, point, class) with SciPy."""
    features = apply_features(feature_transform(whole.facts["transforms"]["features"]), X)
    logits = evaluate(network_of(whole.variables, "tanh"), whole.variables, features)
    return softmax(logits.astype(np.float64), axis=-1)


def test_probabilities_are_means_over_draws(classifier: Classifier) -> None:
    each = probabilities(of_classes())
    found = classifier.predict(X)
    np.testing.assert_allclose(classifier.sample(X), each, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.probability, each.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(found.confidence, each.mean(axis=0).max(axis=1), rtol=1e-6)
    np.testing.assert_array_equal(found.label, np.take(LABELS, each.mean(axis=0).argmax(axis=1)))
    total = entropy(each.mean(axis=0), axis=1)
    np.testing.assert_allclose(found.entropy, total, rtol=1e-6)
    expected = total - entropy(each, axis=2).mean(axis=0)
    np.testing.assert_allclose(found.mutual_information, expected, rtol=1e-5, atol=1e-9)


def test_engines_agree(path: Path, classifier: Classifier) -> None:
    compiled = Classifier.load(path, "jax").predict(X)
    np.testing.assert_allclose(compiled.probability, classifier.predict(X).probability, rtol=1e-4)


def test_a_file_is_loaded_as_what_it_is(path: Path, surrogate_file: Path) -> None:
    assert isinstance(load(path), Classifier)
    assert isinstance(load(surrogate_file), Surrogate)
    with refused("surrogate.of_classes", where=path):
        Surrogate.load(path)
    with refused("surrogate.of_numbers", where=surrogate_file):
        Classifier.load(surrogate_file)
    assert repr(load(path)).startswith("<Classifier of classes 1, 2, 5 of kind: 60 draws, all")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"labels": [1.0, 2.0]}, "surrogate.not_whole"),
        ({"labels": [1.0, 1.0, 2.0]}, "surrogate.other_fact"),
        ({"labels": [1.0, 1.5, 2.0]}, "surrogate.other_fact"),
        ({"labels": []}, "surrogate.other_fact"),
        ({"scale": "log10"}, "surrogate.other_fact"),
        ({"relative_to": {"column": "a", "unit": "pb"}}, "surrogate.unknown_fact"),
    ],
)
def test_files_that_do_not_fit_are_refused(
    tmp_path: Path, change: dict[str, Any], code: str
) -> None:
    whole = of_classes()
    transforms = whole.facts["transforms"]
    target = transforms["target"] | change
    facts = whole.facts | {"transforms": transforms | {"target": target}}
    with refused(code):
        load(written(tmp_path, whole._replace(facts=facts)))


def test_an_unknown_form_is_refused(tmp_path: Path) -> None:
    numbers = make_exported()
    path = tmp_path / "s.nc"
    with refused("artifacts.no_form"):
        facts = numbers.facts | {"form": "dreams"}
        write_surrogate(path, numbers._replace(facts=facts), dataset(), {"verb": "export"})
