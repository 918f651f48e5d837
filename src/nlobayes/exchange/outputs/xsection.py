"""A result in a block XSECTION of SLHA text (Les Houches 2013)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nlobayes.errors import InputError
from nlobayes.exchange.outputs import OutputSettings
from nlobayes.physics.processes import Process
from nlobayes.settings.values import Positive

Particle = Annotated[int, Field(strict=True)]


class XsectionOutput(OutputSettings):
    """The cross section of two particles at an energy and an order, at the central scale."""

    kind: Literal["xsection"]
    process: tuple[Particle, Particle]
    """Particle numbers of the pair in either order, as `[1000022, 1000023]`."""
    sqrt_s_tev: Positive = 13.0
    """Centre-of-mass energy in TeV."""
    order: Annotated[int, Field(ge=0, strict=True)]
    """Order of QCD as blocks number it: 0 is LO, 1 NLO, 2 NLO + NLL."""
    unit: Literal["pb"] = "pb"
    """Blocks XSECTION are in pb."""

    def found(self, text: str) -> float:
        """Read the cross section in pb."""
        from nlobayes.data.slha_blocks import read_sections
        from nlobayes.data.xsections import read_cross_section

        where = self.file or "standard output"
        sections = read_sections(text, where)
        process = Process(*self.process)
        read = read_cross_section(sections, process, 1000 * self.sqrt_s_tev, self.order, where)
        if read is None:
            raise InputError("programs.no_xsection", process=self.process)
        return read.value
