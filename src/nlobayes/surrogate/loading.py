"""Loading of exported files, of numbers or of classes."""

from __future__ import annotations

from pathlib import Path

from nlobayes.surrogate.classifier import Classifier
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.trained import Engine, is_of_classes, read_exported


def load(path: str | Path, engine: Engine = "numpy") -> Surrogate | Classifier:
    """Read an exported file; errors as `Surrogate.load`."""
    exported = read_exported(path)
    kind = Classifier if is_of_classes(exported) else Surrogate
    return kind(exported, engine)
