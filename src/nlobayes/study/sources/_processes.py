"""Settings of pairs of electroweakinos or sleptons, and the columns of a table about them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from nlobayes.errors import InputError
from nlobayes.physics.processes import Process, columns_of, make_process, neutralino_pair
from nlobayes.settings.values import Frozen
from nlobayes.untyped import Document

CROSS_SECTIONS = ("sigma_pb", "lo_pb", "scale_up", "scale_down")


def _in_order(pair: tuple[int, int]) -> tuple[int, int]:
    return min(pair), max(pair)


def _as_process(particles: tuple[int, int]) -> tuple[int, int]:
    return make_process(*particles)


Neutralino = Annotated[int, Field(ge=1, le=4, strict=True)]
Pair = Annotated[tuple[Neutralino, Neutralino], AfterValidator(_in_order)]
Particle = Annotated[int, Field(strict=True)]
Particles = Annotated[tuple[Particle, Particle], AfterValidator(_as_process)]


class NamesProcess(Frozen):
    """Settings that may name two particles: a pair of neutralinos, or a process."""

    pair: Annotated[Pair | None, Field(exclude_if=lambda pair: pair is None)] = None
    """Numbers of the two neutralinos, 1 (the lightest) to 4, in either order."""
    process: Annotated[Particles | None, Field(exclude_if=lambda found: found is None)] = None
    """Instead of `pair`: particle numbers of any two electroweakinos or sleptons
    (docs/physics.md), as `[1000023, 1000024]`, whose charges sum to 0, 1 or -1."""

    @model_validator(mode="before")
    @classmethod
    def _one_of_both(cls, given: Any) -> Any:
        """Remove the default pair if a process is given; refuse both."""
        if not isinstance(given, dict) or given.get("process") is None:
            return given
        if given.get("pair") is not None:
            raise InputError("study.pair_and_process", where="process")
        return {**given, "pair": None}

    @property
    def reaction(self) -> Process:
        """Process of the pair or of the particle numbers, one of which must be given."""
        return neutralino_pair(self.pair) if self.pair else Process(*self.process or ())

    @property
    def of_engine(self) -> Document:
        """Settings of a reference: `pair` for two neutralinos, else `process`."""
        process = self.reaction
        if process.of_neutralinos:
            return {"pair": process.numbers, "process": None}
        return {"pair": None, "process": (*process,)}


class OfProcess(NamesProcess):
    """Settings that name two particles."""

    pair: Annotated[Pair | None, Field(exclude_if=lambda pair: pair is None)] = (1, 1)
    """Numbers of the two neutralinos, 1 (the lightest) to 4, in either order."""

    @model_validator(mode="after")
    def _has_one(self) -> OfProcess:
        if self.pair is None and self.process is None:
            raise InputError("study.no_pair", where="pair")
        return self

    @property
    def named(self) -> str:
        """Name of the process in errors."""
        if self.pair is None:
            return f"process {[*self.reaction]}"
        return f"pair {[*self.pair]}"


def check_reads_both(source: OfProcess, columns: tuple[str, ...]) -> None:
    """Refuse features of only one of two particles, since cross sections depend on both."""
    for particle in source.reaction:
        if not {*columns} & {*columns_of(particle)}:
            raise InputError(
                "study.particle_not_read",
                where="features.columns",
                particle=particle,
                process=source.named,
                columns=columns_of(particle),
            )
