"""Search for the datasets of surrogates in the project that made them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nlobayes.artifacts.places import RESULTS
from nlobayes.artifacts.seals import digest
from nlobayes.bundles.shared_rows import Trained
from nlobayes.surrogate.surrogate import Surrogate

DATA = f"{RESULTS}/data/"


def trained(file: str, path: Path, surrogate: Surrogate) -> Trained | None:
    """Read the dataset on which a surrogate was trained.

    The result is None if the dataset is missing or has changed, or without the extra `train`.

    Parameters
    ----------
    file
        Name of the surrogate in its bundle.
    path
        Path of the surrogate below a folder `results/`, which has the dataset too.
    """
    inputs: dict[str, Any] = surrogate.facts.get("inputs", {})
    named = [(name, sha256) for name, sha256 in inputs.items() if name.startswith(DATA)]
    root = next((up.parent for up in path.absolute().parents if up.name == RESULTS), None)
    if root is None or len(named) != 1 or find_spec("xarray") is None:
        return None
    ((name, sha256),) = named
    dataset = root / name
    if not dataset.is_file() or digest(dataset) != sha256:
        return None
    from nlobayes.artifacts.contents import read_dataset, read_statement

    stated = read_statement(dataset)["table_metadata"]
    return Trained(file, surrogate, read_dataset(dataset), stated)
