"""Choice of the known cross section that the target of a table is learned relative to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from pydantic import ValidationError

from nlobayes.data.fixed_parameters import SQUARKS
from nlobayes.data.references import columns_behind, completed, make_reference
from nlobayes.errors import InputError
from nlobayes.fitting.cross_sections import is_cross_section, is_leading_order
from nlobayes.fitting.inspection import NOTHING
from nlobayes.fitting.unusable_rows import are_trained
from nlobayes.physics.processes import KNOWN, Process, columns_of, processes
from nlobayes.study.datasets import DatasetPreset
from nlobayes.types import Table
from nlobayes.untyped import Document, Facts

AUTO, NONE = "auto", "none"
CALCULATIONS: dict[str, Document] = {
    "born": {"calculation": "born"},
    "nlo": {"calculation": "nlo"},
    "nlo_half": {"calculation": "nlo", "mu_over_q": 0.5},
    "nlo_twice": {"calculation": "nlo", "mu_over_q": 2.0},
}
"""References to the embedded engine by name; the last two at half and at twice the scale."""
PROCESSES = processes()
MASSES = frozenset(columns_of(particle)[0] for particle in KNOWN) | {SQUARKS}
"""Columns of the engine that are masses, in GeV."""
MOST_LEFT = 0.5
"""Largest share of the sd of log10 of the target that a reference may leave to be chosen."""

Dataset = Facts


class Choice(NamedTuple):
    """A dataset relative to a reference, and how well the reference explains its target.

    `left` is the share of the sd of log10 of the target that the reference leaves in the train
    rows, infinite if it does not apply. `lacking` (row,) are the rows without a reference, train
    rows or not, which `left` leaves out.
    """

    left: float
    dataset: Document
    lacking: np.ndarray

    @property
    def is_useful(self) -> bool:
        """Whether the reference explains the target, and is not the target itself."""
        return NOTHING < self.left <= MOST_LEFT


class Chosen(NamedTuple):
    """The dataset as it is learned, and the choice that rows without a reference prevented."""

    dataset: Document
    prevented: Choice | None = None


def with_reference(dataset: Dataset, table: Table, asked: str) -> Chosen:
    """Choose the settings of a dataset whose target is relative to a reference, or unchanged.

    A calculation is that of a process whose columns are among the features. Of several processes or
    calculations, the one that leaves the least of the target is taken. Beside a calculation no
    leading order is a feature, and a column that is the reference is none. What is left is computed
    in the train rows. Whether there are logarithms and references concerns every row, because
    without them the dataset is refused.

    Parameters
    ----------
    dataset
        Settings of a dataset of this table.
    asked
        Name of a calculation, or of a column; `none`; or `auto`, which takes a calculation, or else
        a feature that is a leading order by its name, if it leaves at most half of the sd of log10
        of the target and every row has it.
    """
    if asked == NONE:
        return Chosen({**dataset})
    if asked == AUTO:
        calculated = [*_choices(dataset, CALCULATIONS, table)]
        of_columns = [*_leading_orders(dataset, table)]
        taken = _best(calculated) or _best(of_columns)
        prevented = [one for one in (*calculated, *of_columns) if one.lacking.any()]
        return Chosen(
            taken.dataset if taken else {**dataset},
            _best(prevented, whole=False) or next(iter(prevented), None),
        )
    if asked in CALCULATIONS:
        found = [*_choices(dataset, [asked], table)]
        least = min(found, key=itemgetter(0), default=None)
        return Chosen(least.dataset if least else _relative_to(dataset, CALCULATIONS[asked]), least)
    return Chosen(_relative_to_column(dataset, asked))


def _best(choices: Iterable[Choice], *, whole: bool = True) -> Choice | None:
    """Return the useful choice that leaves the least, if `whole` of those that all rows have."""
    useful = (one for one in choices if one.is_useful and not (whole and one.lacking.any()))
    return min(useful, key=itemgetter(0), default=None)


def columns_of_points(dataset: Dataset) -> list[str]:
    """Name the columns of points to predict: the features, and a column that is the reference."""
    behind = columns_behind(dataset["target"].get("relative_to"))
    return [*dataset["features"]["columns"], *behind]


def why_prevented(choice: Choice, table: Table) -> str:
    """Say which rows have no reference, and what it leaves of the others."""
    reference = make_reference(choice.dataset["target"]["relative_to"])
    count, row = int(choice.lacking.sum()), int(np.argmax(choice.lacking))
    columns = reference.behind or MASSES & {*choice.dataset["features"]["columns"]}
    first = ", ".join(f"{name} = {table.columns[name][row]:g}" for name in sorted(columns))
    of_others = (
        f"; it leaves {choice.left:.2g} of the sd of the others" if choice.left < inf else ""
    )
    return (
        f"{reference.in_words}: {count} of {len(choice.lacking)} rows have none, the first at "
        f"{first} (allowed: {reference.needs('log10')}){of_others}"
    )


def without_units(dataset: Dataset, units: Mapping[str, str]) -> list[str]:
    """List the masses and the target whose units a calculation needs and the table does not state.

    The list is empty if the columns are those of no process, or the target has a reference.
    """
    target = dataset["target"]
    if "relative_to" in target or target["scale"] != "log10" or not _processes(dataset):
        return []
    masses = [name for name in dataset["features"]["columns"] if name in MASSES]
    return [name for name in (*masses, target["column"]) if not units.get(name)]


def _relative_to(dataset: Dataset, reference: Facts) -> Document:
    return {**dataset, "target": {**dataset["target"], "relative_to": dict(reference)}}


def _relative_to_column(dataset: Dataset, name: str) -> Document:
    """Take a column as the reference, and leave it and other leading orders out of the features."""
    others = filter(is_leading_order, dataset["features"]["columns"])
    without = _without(dataset, [name, *others])
    process = next(iter(_processes(without)), None)
    mapped = _mapped(without["features"], process) if process else without["features"]
    return _relative_to({**without, "features": mapped}, {"column": name})


def _without(dataset: Dataset, names: Sequence[str]) -> Document:
    """Leave columns out of the features."""
    features = dataset["features"]
    columns = [column for column in features["columns"] if column not in names]
    units = {column: unit for column, unit in features["units"].items() if column not in names}
    return {**dataset, "features": {**features, "columns": columns, "units": units}}


def _processes(dataset: Dataset) -> list[Process]:
    """List the processes whose columns are among the features."""
    columns = {*dataset["features"]["columns"]}
    return [process for process in PROCESSES if {*process.columns} <= columns]


def _choices(dataset: Dataset, names: Iterable[str], table: Table) -> Iterator[Choice]:
    """Yield the dataset relative to each calculation of each process, and the share it leaves."""
    dataset = _without(dataset, [*filter(is_leading_order, dataset["features"]["columns"])])
    for process in _processes(dataset):
        of = {"pair": [*process.numbers]} if process.of_neutralinos else {"process": [*process]}
        mapped = {**dataset, "features": _mapped(dataset["features"], process)}
        for name in names:
            choice = _relative_to(mapped, CALCULATIONS[name] | of)
            yield _choice(choice, table)


def _leading_orders(dataset: Dataset, table: Table) -> Iterator[Choice]:
    """Yield the dataset relative to each feature that is a leading order, and the share it leaves.

    Both have a unit of cross sections, or both have none.
    """
    columns, target = dataset["features"]["columns"], dataset["target"]["unit"]
    for name in filter(is_leading_order, columns if len(columns) > 1 else ()):
        units = (table.units.get(name, ""), target)
        if not any(units) or all(unit and is_cross_section(name, unit) for unit in units):
            choice = _relative_to_column(dataset, name)
            yield _choice(choice, table)


def _mapped(features: Facts, process: Process) -> Document:
    """Put the columns of a process, and a squark mass, in order; with others they remain raw.

    Those of sleptons always do.
    """
    others = [name for name in features["columns"] if name not in process.columns]
    if others not in ([], [SQUARKS]) or process.of_sleptons:
        return {**features}
    return {**features, "columns": [*process.columns, *others], "map": _map_of(process)}


def _map_of(process: Process) -> str:
    """Name the features that describe the ratio to a calculation of a process."""
    is_alike = len(process.columns) == len(columns_of(process.first))
    if process.of_charginos:
        return "chargino_invariants" if is_alike else "chargino_pair_invariants"
    if not process.of_neutralinos:
        return "chargino_neutralino_invariants"
    return "channels" if is_alike else "pair_invariants"


def _choice(dataset: Document, table: Table) -> Choice:
    """Compute how well a reference explains the target in the train rows that have it."""
    target = table.columns[dataset["target"]["column"]]
    of_none = Choice(inf, dataset, np.zeros(len(target), bool))
    if dataset["target"]["scale"] != "log10" or not (target > 0).all():
        return of_none
    try:
        known = _values(dataset, table)
    except (InputError, ValidationError):
        return of_none
    has = np.isfinite(known)
    seen = has & are_trained(dataset["split"], target)
    observed = np.log10(target[seen])
    if not seen.any() or not np.ptp(observed):
        return of_none._replace(lacking=~has)
    left = float(np.std(observed - np.log10(known[seen])) / np.std(observed))
    return Choice(left, dataset, ~has)


def _values(dataset: Dataset, table: Table) -> np.ndarray:
    """Compute the reference of a dataset in every row (row,); NaN outside its domain."""
    preset = DatasetPreset.model_validate(dataset)
    given = preset.whole_target.relative_to
    assert given is not None, dataset
    reference = make_reference(completed(given.arguments(), preset.target.unit))
    reference.check_units(table.units)
    columns = (*preset.features.columns, *preset.target.reference_columns)
    points = np.column_stack([table.columns[name] for name in columns])
    return reference.values(points, columns, preset.target.scale)
