"""Settings of the embedded engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from nlobayes.errors import InputError
from nlobayes.settings.values import Frozen, Seed
from nlobayes.study.sources import ComputedSource
from nlobayes.study.sources._processes import CROSS_SECTIONS, OfProcess, check_reads_both
from nlobayes.untyped import Document

ONE_SCALE_VARIED = ("mu_r_half", "mu_r_twice", "mu_f_half", "mu_f_twice")
SquarkMass = Annotated[float, Field(ge=2000, le=100_000)]


class SquarkRange(Frozen):
    """Squark masses that vary by row, uniform in the logarithm, in column `msq`."""

    low: SquarkMass
    """Smallest mass in GeV."""
    high: SquarkMass
    """Largest mass in GeV."""

    @model_validator(mode="after")
    def _increases(self) -> SquarkRange:
        if self.low >= self.high:
            raise InputError("study.squark_range", low=self.low, high=self.high)
        return self


def _kind_of(masses: object) -> str:
    return "range" if isinstance(masses, dict | SquarkRange) else "number"


SquarkMasses = Annotated[
    Annotated[SquarkMass, Tag("number")] | Annotated[SquarkRange, Tag("range")],
    Discriminator(_kind_of),
]


class SimulatedSource(ComputedSource, OfProcess):
    """NLO cross sections of two particles from the embedded engine (docs/physics.md)."""

    computes: ClassVar[tuple[str, ...]] = ("nlo",)

    kind: Literal["simulate"]
    points: Annotated[int, Field(ge=1, le=10_000_000)] = 4000
    """Number of parameter points."""
    seed: Seed = 20240101
    """Seed of the parameter sampling."""
    scan: Literal["flat", "log", "fine_tuned"] = "flat"
    """`flat`: soft masses and tan beta uniform; `log`: their sizes uniform in the logarithm;
    `fine_tuned`: every fourth row a nearly pure higgsino whose coupling to the Z cancels."""
    sqrt_s_tev: Annotated[float, Field(ge=7, le=14)] = 13.0
    """Centre-of-mass energy in TeV."""
    squark_mass_gev: SquarkMasses = 3000.0
    """Common squark mass in GeV, or `{low, high}` to draw one for each row, in column `msq`."""
    central_scale: Annotated[
        Literal["invariant_mass", "average_mass"],
        Field(exclude_if=lambda scale: scale == "invariant_mass"),
    ] = "invariant_mass"
    """Central scale mu: Q, the invariant mass of the pair, or the average mass of its two
    particles, as in Prospino and Resummino."""
    scale_points: Annotated[Literal[3, 7], Field(exclude_if=lambda points: points == 3)] = 3
    """3: mu_R = mu_F at half and twice the central scale (`scale_up`, `scale_down`). 7: also one
    scale alone (`mu_r_half`, `mu_r_twice`, `mu_f_half`, `mu_f_twice`)."""
    electroweak_scheme: Annotated[
        Literal["alpha_mz", "g_mu"], Field(exclude_if=lambda scheme: scheme == "alpha_mz")
    ] = "alpha_mz"
    """Couplings of the production: alpha(m_Z) and the effective weak angle, or G_F, m_W and m_Z."""

    @property
    def circumstances(self) -> Document:
        """Pair, energy and squark mass of the simulation; a range of masses is in its column."""
        masses = self.squark_mass_gev
        squarks = "msq" if isinstance(masses, SquarkRange) else masses
        return {**self.of_engine, "sqrt_s_tev": self.sqrt_s_tev, "squark_mass_gev": squarks}

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that cross sections depend on, in their order."""
        squark = ("msq",) if isinstance(self.squark_mass_gev, SquarkRange) else ()
        return (*self.reaction.columns, *squark)

    @property
    def known(self) -> tuple[str, ...]:
        """Names of all columns of the table."""
        further = ONE_SCALE_VARIED if self.scale_points == 7 else ()
        return (*self.columns, *CROSS_SECTIONS, *further)

    @property
    def in_words(self) -> str:
        """Name of the source in errors."""
        return f"{super().in_words} with {self.named}"

    def rows(self, columns: int) -> int:
        """Return the number of points."""
        del columns
        return self.points

    def check_columns(self, requested: Mapping[str, tuple[str, ...]]) -> None:
        """Refuse columns that the table does not have, and features of only one particle of two."""
        super().check_columns(requested)
        check_reads_both(self, requested["features.columns"])

    def arguments(self) -> Document:
        """Return the settings of the simulator, with a range of masses as its two ends."""
        masses = self.squark_mass_gev
        ends = (masses.low, masses.high) if isinstance(masses, SquarkRange) else masses
        return {**super().arguments(), "squark_mass_gev": ends}

    @model_validator(mode="after")
    def _can_be_tuned(self) -> SimulatedSource:
        if self.scan == "fine_tuned" and len({*self.reaction}) > 1:
            raise InputError("study.fine_tuned_pair", process=self.named)
        if self.reaction.of_sleptons and isinstance(self.squark_mass_gev, SquarkRange):
            raise InputError("study.squarks_of_sleptons", where="squark_mass_gev")
        return self
