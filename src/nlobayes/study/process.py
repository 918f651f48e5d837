"""What a user states of the cross sections of a table of their own."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from nlobayes.data.parameters import unit_of_parameter
from nlobayes.errors import InputError
from nlobayes.study.values import Frozen, Positive

MOST = 200
"""Characters of a text."""


def _prints(text: str) -> str:
    if not text.isprintable():
        raise InputError("study.text_not_printable", text=text)
    return text


Text = Annotated[str, Field(min_length=1, max_length=MOST), AfterValidator(_prints)]
Word = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,49}$")]
Particle = Annotated[int, Field(ge=-(10**9), le=10**9, strict=True)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class FixedParameter(Frozen):
    """A parameter that was held fixed, and the span of values for which that holds."""

    value: Finite
    """What it was."""
    low: Finite | None = None
    """Smallest value of a point that may be predicted; where not given, 1 % below `value`."""
    high: Finite | None = None
    """Largest value of a point that may be predicted; where not given, 1 % above `value`."""
    unit: Annotated[str, Field(pattern=r"^[^\s;()]{1,20}$")] = "GeV"
    """Its unit; `1` for none."""

    @model_validator(mode="after")
    def _lies_in_its_span(self) -> FixedParameter:
        low, high = (self.value if end is None else end for end in (self.low, self.high))
        if not low <= self.value <= high:
            raise InputError("study.fixed_outside", value=self.value, low=low, high=high)
        return self


class Process(Frozen):
    """Of which process the cross sections of a table are, and how they were computed.

    Entries that the table states itself must agree; entries that are not stated are `unknown`.
    """

    incoming: tuple[Particle, Particle] = (2212, 2212)
    """PDG numbers of what collides."""
    outgoing: Annotated[tuple[Particle, ...], Field(min_length=1, max_length=8)]
    """PDG numbers of what is produced, as `[1000022, 1000023]`."""
    sqrt_s_tev: Positive
    """Centre-of-mass energy in TeV."""
    order: Text | None = None
    """Order of the calculation, first `LO`, `NLO`, `NLO+NLL` or `NLO+NLL+NNLL`, then anything, as
    `NLO QCD`."""
    parton_distributions: Text | None = None
    """Parton distributions, as `MSTW2008 NLO`."""
    alpha_s: Text | None = None
    """Strong coupling, as `0.1180 at 91.1876 GeV`."""
    scales: Text | None = None
    """Central scale and its variations, first `mu = Q` or `mu = mean mass` where it is one."""
    engine: Text | None = None
    """What computed them, with its version, as `Resummino 3.1.2`."""
    fixed: Annotated[dict[Word, FixedParameter], Field(max_length=20)] | None = None
    """Parameters of the model that were constant and are no inputs, by name; a point with another
    value is `outside`. SLHA files have `msq`, the mean mass of the eight light squarks,
    `mass_1000021` and likewise the size of any other mass by the number of the particle, `mu`, all
    in GeV, and `tan_beta` in unit `1`. `{}` declares that there are none."""

    @model_validator(mode="after")
    def _fixed_in_units_of_slha(self) -> Process:
        for name, one in (self.fixed or {}).items():
            needed = unit_of_parameter(name)
            if needed not in ("", one.unit):
                raise InputError(
                    "study.fixed_unit", where=f"fixed.{name}", received=one.unit, needed=needed
                )
        return self

    def statements(self) -> dict[str, Any]:
        """Give what is stated, without what is not."""
        return self.model_dump(exclude_none=True)
