"""A program that computes what a surrogate does not predict well enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nlobayes.data.units import convert
from nlobayes.errors import InputError
from nlobayes.programs.compute import compute
from nlobayes.study.program import INPUT, Program, read_program


class Computed(NamedTuple):
    """Values of a program (point,) in the unit of the surrogate, NaN where it failed.

    `reasons` say why it failed, and `stored` marks points (point,) that were computed before.
    """

    values: np.ndarray
    reasons: list[str]
    stored: np.ndarray


class Otherwise:
    """A program of the user whose results are in a unit that the target of a surrogate has."""

    def __init__(
        self, program: Program, store: Path, unit: str, workers: int = 1, name: str = "program"
    ) -> None:
        """Take the folder of the store, the unit of the target and the points at a time.

        Raises InputError, at the place `name`, if the unit of the program is of another kind.
        """
        self._program, self._store, self._workers = program, store, workers
        self._name, given = name, program.output.unit
        same = given.removeprefix("1") == unit.removeprefix("1")
        try:
            self._factor = 1.0 if same else float(convert(np.ones(1), given, unit)[0])
        except InputError as error:
            raise error.within(f"{name}: output: unit") from None

    @classmethod
    def read(cls, path: Path, store: Path, unit: str, workers: int = 1) -> Otherwise:
        """Read the settings of a program; errors as for `read_program` and `Otherwise`."""
        return cls(read_program(path), store, unit, workers, str(path))

    def further(self, inputs: Sequence[str]) -> list[str]:
        """List the columns beside these inputs of which the program is told."""
        told = self._program.fields(tuple(inputs))
        return [name for name in told if name not in (*inputs, INPUT)]

    def check(self, columns: Sequence[str]) -> None:
        """Refuse a program with a field that is none of these columns of a point."""
        try:
            self._program.check_columns(tuple(columns))
        except InputError as error:
            raise error.within(self._name) from None

    def compute(self, points: Mapping[str, np.ndarray]) -> Computed:
        """Compute points, given as columns (point,); errors as for `compute`."""
        before = {*(self._store / self._program.digest).rglob("*.json")}
        try:
            found = compute(self._program, points, self._store, self._workers)
        except InputError as error:
            raise error.within(self._name) from None
        stored = np.array([file in before for file in found.files], bool)
        return Computed(found.value * self._factor, found.reasons, stored)
