"""Settings of a program of the user that is called at the points of a design."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from nlobayes.data.units import in_unit
from nlobayes.designs import Design
from nlobayes.errors import InputError
from nlobayes.settings.user_files import GivenPath
from nlobayes.settings.values import Frozen, Positive, PositiveInt
from nlobayes.stages.definitions import FAILURE
from nlobayes.study.program import Program
from nlobayes.study.rounds import SPLIT, Rounds
from nlobayes.study.sources import MadeBy, SourceSettings
from nlobayes.untyped import Document

MOST_CHUNKS = 2000
"""Most jobs of one dataset, which one job gathers."""


class Demands(Frozen):
    """What the jobs of a program ask for. Every further attempt of a job asks for it again."""

    memory_mb: PositiveInt = 1000
    """Memory of the running program in MB."""
    seconds: Positive = 60.0
    """Time of a point, on average over a chunk. The next attempt goes on after the points that
    are stored."""
    at_once: PositiveInt = 1
    """Points of a chunk that are computed at a time, each on one core with its own memory."""


class ProgramSource(SourceSettings):
    """A program of yours at the points of a design, in jobs of `chunk` points.

    Every point is computed once in all studies of one `store`. Failed points are listed in
    `results/points/{dataset}/failures.csv`.
    """

    made_by: ClassVar[MadeBy] = "gather"
    states_process: ClassVar[bool] = False

    kind: Literal["program"]
    program: Program
    """How the program is called, and where its result is."""
    design: Design
    """Points at which it is called: kind `sobol`, `latin_hypercube`, `pool` or `list`."""
    chunk: PositiveInt = 100
    """Points of one job."""
    demands: Demands = Demands()
    """Memory, time and cores of a job."""
    store: GivenPath = "points"
    """Folder that holds what the program answered, a file for each point."""
    rounds: Annotated[Rounds | None, Field(exclude_if=lambda rounds: rounds is None)] = None
    """Rounds of further points, which a posterior chooses; the dataset of round k is `NAME_k`,
    with `split: {column: split}`."""
    _round: int = PrivateAttr(0)

    @property
    def round(self) -> int:
        """Number of the round; 0 is that of the design."""
        return self._round

    def in_round(self, number: int) -> Self:
        """Return this source in a further round."""
        source = self.model_copy()
        source._round = number
        return source

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of its table: those of the design, the split, then the result."""
        split = (SPLIT,) if self.rounds else ()
        return (*self.design.columns, *split, self.program.output.column)

    @property
    def known(self) -> tuple[str, ...]:
        """Names of all columns of the table."""
        return self.columns

    @property
    def given(self) -> str | None:
        """Path of the user's table of points; None if the design has none."""
        return self.design.given

    @property
    def chunks(self) -> int:
        """Number of jobs of its round."""
        return math.ceil(self._points(self.round) / self.chunk)

    def rows(self, columns: int) -> int:
        """Return the number of points of all rounds so far, some of which may fail."""
        del columns
        return sum(map(self._points, range(self.round + 1)))

    def _points(self, number: int) -> int:
        """Return the number of points of a round."""
        if self.rounds and number:
            return self.rounds.points
        return self.design.rows + (self.rounds.held_out if self.rounds else 0)

    def digest(self) -> str:
        """Return a digest of the user's table of points."""
        return self.design.digest()

    def check_columns(self, requested: Mapping[str, tuple[str, ...]]) -> None:
        """Refuse columns that the table does not have, and features that the program is not told.

        A point of the table would not determine its result.
        """
        super().check_columns(requested)
        if self.rounds and {*requested["features.columns"]} != {*self.design.columns}:
            columns = [*self.design.columns]
            raise InputError("study.rounds_of_columns", where="features.columns", columns=columns)
        if self.rounds and requested.get("split.column") != (SPLIT,):
            raise InputError("study.rounds_split", where="split", column=SPLIT)
        told = self.program.fields(self.design.columns)
        for name in requested["features.columns"]:
            if name not in (*told, self.program.output.column):
                raise InputError(
                    "programs.not_told", where="features.columns", name=name, told=[*told]
                )

    def check_units(self, requested: Mapping[str, str]) -> None:
        """Refuse units that those of the design and of the result cannot be converted to."""
        units = self.design.units | {self.program.output.column: self.program.output.unit}
        for name, unit in requested.items():
            in_unit(1.0, name, (units.get(name, ""), unit), self.in_words)

    @model_validator(mode="after")
    def _fits_its_program(self) -> ProgramSource:
        self.program.check_columns(tuple(self.design.columns))
        if self.rounds and self.design.kind == "list":
            raise InputError("study.rounds_of_list", where="rounds")
        for name in (self.program.output.column, FAILURE, *([SPLIT] if self.rounds else [])):
            if name in self.design.columns or self.columns[-1] in (FAILURE, SPLIT):
                raise InputError("programs.column_taken", where="program.output", name=name)
        if self.chunks > MOST_CHUNKS:
            raise InputError(
                "programs.many_chunks",
                where="chunk",
                chunks=self.chunks,
                most=MOST_CHUNKS,
                least=math.ceil(self._points(0) / MOST_CHUNKS),
            )
        return self

    def job(self) -> Document:
        """Return the settings of `run_program`."""
        return {"program": self.program, "store": self.store, "rows": self.chunk}
