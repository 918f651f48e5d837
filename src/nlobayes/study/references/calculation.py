"""A calculation of the embedded engine as reference."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat, model_validator

from nlobayes.errors import InputError
from nlobayes.study.references import ReferenceSettings
from nlobayes.study.sources import SourceSettings
from nlobayes.study.sources._processes import NamesProcess
from nlobayes.study.sources.simulate import SquarkMass
from nlobayes.untyped import Document

SQUARK_COLUMN = "msq"


class CalculatedReference(NamesProcess, ReferenceSettings):
    """The embedded engine at the masses and mixings of each point (docs/physics.md).

    Settings that are left out are those of the source. The columns of the process must be among
    `features.columns`.
    """

    calculation: Literal["born", "nlo"]
    """`born`: the leading order; `nlo`: with the QCD correction. A simulated target can only be
    learned relative to `born`."""
    sqrt_s_tev: Annotated[float, Field(ge=7, le=14)] | None = None
    """Centre-of-mass energy in TeV; null: that of the source, else 13."""
    squark_mass_gev: SquarkMass | Literal["msq"] | None = None
    """Common squark mass in GeV, or `msq` for the column of that name; null: that of the
    features or the source, else 3000."""
    columns: Annotated[
        dict[str, FiniteFloat | str] | None, Field(exclude_if=lambda columns: columns is None)
    ] = None
    """What stands for columns of the process, for tables of equal masses or pure states: another
    feature, its negative (`{m1: -m2}`), or a number (`{n22: 1}`)."""
    mu_over_q: float = 1.0
    """Scale over the mass of the pair: 1, and for `nlo` also 0.5 or 2."""

    @model_validator(mode="after")
    def _scale_is_computed(self) -> CalculatedReference:
        allowed = (1.0,) if self.calculation == "born" else (0.5, 1.0, 2.0)
        if self.mu_over_q not in allowed:
            raise InputError(
                "references.scale",
                received=self.mu_over_q,
                allowed=allowed,
                calculation=self.calculation,
            )
        return self

    def completed(self, source: SourceSettings, columns: tuple[str, ...]) -> CalculatedReference:
        """Complete the settings from the source; refuse a calculation whose columns are missing."""
        if self.calculation in source.computes:
            raise InputError("references.circular", calculation=self.calculation)
        known = {"pair": (1, 1), "sqrt_s_tev": 13.0, "squark_mass_gev": 3000.0}
        known |= source.circumstances
        if SQUARK_COLUMN in columns:
            known["squark_mass_gev"] = SQUARK_COLUMN
        given = self.model_dump(exclude_none=True)
        given |= self.of_engine if self.pair or self.process else {}
        whole = CalculatedReference.model_validate(known | given)
        if whole.reaction.of_sleptons:
            if self.squark_mass_gev is not None:
                raise InputError("references.squarks_of_sleptons")
            whole = whole.model_copy(update={"squark_mass_gev": None})
        self._check_columns(whole, columns)
        return whole

    def arguments(self) -> Document:
        """Return the settings as plain values; sleptons have no squark mass."""
        given = super().arguments()
        return {k: v for k, v in given.items() if k != "squark_mass_gev" or v is not None}

    def _check_columns(self, whole: CalculatedReference, columns: tuple[str, ...]) -> None:
        """Refuse columns that the process does not have, and a calculation without its columns."""
        own, given = whole.reaction.columns, whole.columns or {}
        if unknown := [name for name in given if name not in own]:
            raise InputError("references.not_of_process", unknown=unknown, known=own)
        stated = [given.get(name, name) for name in own]
        named = [name.removeprefix("-") for name in stated if isinstance(name, str)]
        if not named:
            raise InputError("references.no_column", needed=own)
        squark = [SQUARK_COLUMN] if whole.squark_mass_gev == SQUARK_COLUMN else []
        needed = [*dict.fromkeys(named), *squark]
        if missing := [name for name in needed if name not in columns]:
            raise InputError("references.inputs", missing=missing, needed=needed, columns=columns)
