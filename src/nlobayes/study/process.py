"""Statements of a user about the cross sections of their own table."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from nlobayes.data.fixed_parameters import unit_of_parameter
from nlobayes.errors import InputError
from nlobayes.settings.values import Frozen, Positive
from nlobayes.untyped import Document

MOST = 200
"""Most characters of a text."""


def _prints(text: str) -> str:
    if not text.isprintable():
        raise InputError("study.text_not_printable", text=text)
    return text


Text = Annotated[str, Field(min_length=1, max_length=MOST), AfterValidator(_prints)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$")]
Word = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,79}$")]
Particle = Annotated[int, Field(ge=-(10**9), le=10**9, strict=True)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class FixedParameter(Frozen):
    """A fixed parameter, and the range in which it counts as fixed."""

    value: Finite
    """Value of the parameter."""
    low: Finite | None = None
    """Smallest value of a point that may be predicted; by default 1 % below `value`."""
    high: Finite | None = None
    """Largest value of a point that may be predicted; by default 1 % above `value`."""
    unit: Annotated[str, Field(pattern=r"^[^\s;()]{1,20}$")] = "GeV"
    """Unit of the value; `1` for none."""

    @model_validator(mode="after")
    def _lies_in_its_span(self) -> FixedParameter:
        low, high = (self.value if end is None else end for end in (self.low, self.high))
        if not low <= self.value <= high:
            raise InputError("study.fixed_outside", value=self.value, low=low, high=high)
        return self


class Process(Frozen):
    """Process and calculation of the cross sections of a table, which must not contradict it."""

    incoming: tuple[Particle, Particle] = (2212, 2212)
    """PDG numbers of the colliding particles."""
    outgoing: Annotated[tuple[Particle, ...], Field(min_length=1, max_length=8)]
    """PDG numbers of the produced particles, as `[1000022, 1000023]`."""
    sqrt_s_tev: Positive
    """Centre-of-mass energy in TeV."""
    order: Text | None = None
    """Order of the calculation: first `LO`, `NLO`, `NLO+NLL` or `NLO+NLL+NNLL`, then any text, as
    `NLO QCD`."""
    parton_distributions: Text | None = None
    """Parton distributions, as `MSTW2008 NLO`."""
    alpha_s: Text | None = None
    """Strong coupling, as `0.1180 at 91.1876 GeV`."""
    scales: Text | None = None
    """Central scale and its variations; first `mu = Q` or `mu = mean mass` if it is one of
    these."""
    name: Name | None = None
    """Name of the table, as `13000_wino_1000024_-1000024_NNLL`: in a bundle the name of the
    surrogate's file."""
    source: Text | None = None
    """Where the table comes from: what to cite, as `arXiv:2306.06030`."""
    inclusive: Text | None = None
    """What is added up in the cross section, if it is not of `outgoing` alone, as `8 light
    squarks`."""
    doubt: Text | None = None
    """Why the numbers are doubtful; in a bundle other entries come first, and predictions tell."""
    engine: Text | None = None
    """Program that computed the cross sections, with its version, as `Resummino 3.1.2`."""
    fixed: Annotated[dict[Word, FixedParameter], Field(max_length=20)] | None = None
    """Parameters that were constant and are not inputs, by name; a point with another value is
    `outside`. SLHA files have `msq` (mean mass of the eight light squarks), `mass_1000021`,
    `mass_1000022_1000023` (a mean), `mu` in GeV, and in unit `1` `tan_beta`,
    `msq_over_mass_1000024`, `bino_1000022`, `left_1000015`. `{}` declares that there are none."""

    @model_validator(mode="after")
    def _fixed_in_units_of_slha(self) -> Process:
        for name, one in (self.fixed or {}).items():
            needed = unit_of_parameter(name)
            if needed not in ("", one.unit):
                raise InputError(
                    "study.fixed_unit", where=f"fixed.{name}", received=one.unit, needed=needed
                )
        return self

    def statements(self) -> Document:
        """Return the entries that are stated."""
        return self.model_dump(exclude_none=True)
