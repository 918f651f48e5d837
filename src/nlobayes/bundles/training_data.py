"""The validation rows that surrogates share, from the datasets on which they were trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nlobayes.artifacts.places import RESULTS
from nlobayes.artifacts.seals import digest
from nlobayes.bundles.shared_rows import FEWEST_ROWS, MOST_ROWS, SharedRows
from nlobayes.surrogate.cross_section import errors_at
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Dataset
from nlobayes.untyped import Document

VALIDATION = 1
"""Value of `Dataset.split` for validation rows."""
DATA = f"{RESULTS}/data/"


class TrainedSurrogate(NamedTuple):
    """A surrogate with its dataset, and the metadata of the table behind the dataset."""

    file: str
    surrogate: Surrogate
    dataset: Dataset
    stated: Mapping[str, str]


def trained(file: str, path: Path, surrogate: Surrogate) -> TrainedSurrogate | None:
    """Read the dataset on which a surrogate was trained.

    The result is None if the dataset is missing or has changed, or without the extra `train`.

    Parameters
    ----------
    file
        Name of the surrogate in its bundle.
    path
        Path of the surrogate below a folder `results/`, which has the dataset too.
    """
    inputs: Document = surrogate.facts.get("inputs", {})
    named = [(name, sha256) for name, sha256 in inputs.items() if name.startswith(DATA)]
    root = next((up.parent for up in path.absolute().parents if up.name == RESULTS), None)
    if root is None or len(named) != 1 or find_spec("xarray") is None:
        return None
    from nlobayes.artifacts.contents import dataset_of, statement_of
    from nlobayes.artifacts.netcdf import open_artifact

    ((name, sha256),) = named
    if not (root / name).is_file() or digest(root / name) != sha256:
        return None
    source = open_artifact(root / name, "dataset")
    return TrainedSurrogate(
        file, surrogate, dataset_of(source), statement_of(source.attrs)["table_metadata"]
    )


def share(trained: Sequence[TrainedSurrogate]) -> SharedRows | None:
    """Compare surrogates with their datasets at the validation rows, which must be shared.

    The result is None if two datasets have different spectra, if no column or metadata show that
    the spectra are the same, if a surrogate has learned its validation rows, or if all surrogates
    have a cross section at fewer than 40 rows.
    """
    if any(map(_has_learned_all, trained)):
        return None
    if not all(_joins(each, trained[:place]) for place, each in enumerate(trained) if place):
        return None
    compared = np.array([_compare(each) for each in trained])
    usable = np.isfinite(compared).all(axis=(0, 1)) & (compared[:, 1] > 0).all(axis=0)
    errors, half_widths = np.moveaxis(compared[..., usable][..., :MOST_ROWS], 1, 0)
    if errors.shape[1] < FEWEST_ROWS:
        return None
    return SharedRows(tuple(each.file for each in trained), errors, half_widths)


def _has_learned_all(one: TrainedSurrogate) -> bool:
    """Return whether a surrogate is conditioned on more rows than those of the train split."""
    rows = one.surrogate.facts.get("kept", {}).get("rows", 0)
    return bool(rows > np.count_nonzero(one.dataset.split < VALIDATION))


def _joins(one: TrainedSurrogate, others: Sequence[TrainedSurrogate]) -> bool:
    """Return whether a dataset shares its rows with one of the others and contradicts none."""
    return any(_are_same(one, each) for each in others) and not any(
        _differ(one, each) for each in others
    )


def _differ(one: TrainedSurrogate, other: TrainedSurrogate) -> bool:
    """Return whether the splits of two datasets differ, or the values of a shared column."""
    if not np.array_equal(one.dataset.split, other.dataset.split):
        return True
    return any(not np.array_equal(*both) for both in _shared_columns(one.dataset, other.dataset))


def _are_same(one: TrainedSurrogate, other: TrainedSurrogate) -> bool:
    """Return whether two datasets share a column, or come from one scan with one seed."""
    scans = [(each.stated.get("scan"), each.stated.get("seed")) for each in (one, other)]
    same_scan = scans[0] == scans[1] and None not in scans[0]
    return same_scan or bool(_shared_columns(one.dataset, other.dataset))


def _compare(trained: TrainedSurrogate) -> tuple[np.ndarray, np.ndarray]:
    dataset, surrogate = trained.dataset, trained.surrogate
    rows, names = dataset.split == VALIDATION, dataset.input_names
    points = dataset.inputs[rows][:, [names.index(name) for name in surrogate.inputs]]
    observed = dataset.observed[rows]
    central = observed if observed.ndim == 1 else observed[:, 0]
    return errors_at(surrogate, points, central)


def _shared_columns(one: Dataset, other: Dataset) -> list[tuple[np.ndarray, np.ndarray]]:
    names = [name for name in one.input_names if name in other.input_names]
    return [
        (one.inputs[:, one.input_names.index(name)], other.inputs[:, other.input_names.index(name)])
        for name in names
    ]
