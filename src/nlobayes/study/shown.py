"""Early check whether a run has the contents that its figures show."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nlobayes.errors import InputError
from nlobayes.study.run import RunSpec

WEIGHT = re.compile(r"(weights|biases|slopes)_(\d+)\[(.*)\]")
"""Name of a weight in a posterior file: its layer, from 1, and its indices."""


def check_shown(run: RunSpec) -> None:
    """Refuse cases of classes, and weights of layers or units that the network does not have.

    Names of features, of the noise and of hyperparameters are checked later, with the posterior.

    Raises
    ------
    InputError
        If the run cannot have one of them.
    """
    shown, where = run.evaluation.figures, f"evaluation.{run.names['evaluation']}.figures"
    if shown.cases and run.dataset.target.scale == "classes":
        dataset = run.names["dataset"]
        raise InputError("study.cases_of_classes", where=f"{where}.cases", dataset=dataset)
    planes = (name for pair in shown.weight_planes for name in pair)
    for key, names in {"weight_planes": planes, "marginals": shown.marginals}.items():
        for name in names:
            if not _may_exist(name, run):
                raise InputError(
                    "study.no_such_weight",
                    where=f"{where}.{key}",
                    name=name,
                    network=run.names["network"],
                    hidden=run.network.hidden,
                    layers=len(run.network.hidden) + 1,
                )


def _may_exist(name: str, run: RunSpec) -> bool:
    found = WEIGHT.fullmatch(name.replace(" ", ""))
    if found is None:
        return "[" not in name
    kind, layer = found[1], int(found[2])
    given = list(_axes(kind, layer, run))
    places = found[3].rsplit(",", maxsplit=len(given) - 1)
    if not 1 <= layer <= len(run.network.hidden) + 1 or len(places) != len(given):
        return False
    return all(
        size is None or (place.isdecimal() and int(place) < size)
        for place, size in zip(places, given, strict=True)
    )


def _axes(kind: str, layer: int, run: RunSpec) -> Iterator[int | None]:
    """Yield the units along each axis of an array of a layer; None for features and outputs."""
    hidden = run.network.hidden
    if kind == "weights":
        yield hidden[layer - 2] if 1 < layer <= len(hidden) + 1 else None
    yield hidden[layer - 1] if 0 < layer <= len(hidden) else None
