"""Reading the predictions of rivals for `evaluate`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nlobayes.artifacts.predicted import read_rival
from nlobayes.commands.shared.predictions import check_same_points
from nlobayes.commands.shared.rivals import check_target
from nlobayes.types import Dataset, RivalPrediction


def read_rivals(paths: Iterable[Path], data: Dataset, dataset: Path) -> dict[str, RivalPrediction]:
    """Read predictions of rivals by the names of their files; all must be of this dataset."""
    found: dict[str, RivalPrediction] = {}
    for path in paths:
        check_target(data)
        found[path.stem], points = read_rival(path)
        check_same_points(points, data, path, dataset)
    return found
