"""Settings of a folder of SLHA files, and of the quantities to read from each."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from nlobayes.data.slha_blocks import is_slha
from nlobayes.errors import InputError
from nlobayes.settings.user_files import GivenPath, stays_inside
from nlobayes.settings.values import Positive
from nlobayes.study.sources import MadeBy, SourceSettings
from nlobayes.study.sources._processes import CROSS_SECTIONS, OfProcess, check_reads_both
from nlobayes.untyped import Document

TARGETS = ("msq", *CROSS_SECTIONS, "pdf_error_pb", "alpha_s_up", "alpha_s_down", "rel_error")


def _stays_below(pattern: str) -> str:
    path = PurePosixPath(stays_inside(pattern))
    if path.is_absolute() or any("**" in part and part != "**" for part in path.parts):
        raise InputError("study.pattern", pattern=pattern)
    return pattern


Pattern = Annotated[str, AfterValidator(_stays_below)]
Order = Annotated[int | None, Field(ge=0, strict=True, exclude_if=lambda order: order is None)]
DEFAULTS = {"cross_section": "nlo_ms", "layout": None}
"""Default of `Spectra` for PROSPINO_OUTPUT."""


class Spectra(OfProcess):
    """Quantities read from SLHA files: two particles, and their cross section by some program."""

    sqrt_s_tev: Positive = 13.0
    """Centre-of-mass energy in TeV; rows at other energies are skipped."""
    cross_section: Literal["nlo_ms", "nlo"] = "nlo_ms"
    """Meaning of `sigma_pb`: NLO with the squark masses of the point, or with their mean."""
    masses: Literal["signed", "absolute"] = "signed"
    """Masses with the sign of the eigenvalue, as SLHA has them, or without."""
    pattern: Pattern = "*"
    """Pattern of the files in the folder; `**/*` also those in subfolders. Files that are not
    SLHA are left out."""
    layout: tuple[str, ...] | None = None
    """Columns of PROSPINO_OUTPUT after the two particles and the energy, as `name` or `name:unit`;
    the usual ones by default."""
    order: Order = None
    """Read blocks XSECTION instead of PROSPINO_OUTPUT, at this QCD order: 0 is LO, 1 NLO,
    2 NLO+NLL, 3 NLO+NLL+NNLL; larger ones as their program defines them."""

    @model_validator(mode="after")
    def _reads_one_kind_of_block(self) -> Spectra:
        others = [key for key in ("cross_section", "layout") if key in self.model_fields_set]
        changed = [key for key in others if getattr(self, key) != DEFAULTS[key]]
        if self.order is not None and changed:
            raise InputError("study.order_and_prospino", where="order", keys=changed)
        return self

    def files(self, folder: Path) -> list[Path]:
        """List the SLHA files below a folder in the order of their names."""
        return sorted(p for p in folder.glob(self.pattern) if p.is_file() and is_slha(p))


class SlhaSource(SourceSettings, Spectra):
    """A folder of SLHA files of the user, with spectra and cross sections."""

    made_by: ClassVar[MadeBy] = "ingest"

    kind: Literal["slha"]
    folder: GivenPath
    """Folder of the files, relative to the working directory."""

    @property
    def circumstances(self) -> Document:
        """Pair and energy of the rows that are read."""
        return {**self.of_engine, "sqrt_s_tev": self.sqrt_s_tev}

    @property
    def known(self) -> tuple[str, ...]:
        """Names of all columns that the table may have."""
        return (*self.reaction.columns, *TARGETS)

    @property
    def in_words(self) -> str:
        """Name of the source in errors."""
        return f"{super().in_words} with {self.named}"

    @property
    def given(self) -> str:
        """Path of the folder."""
        return self.folder

    def rows(self, columns: int) -> int:
        """Return the number of files, each of which has at most one row."""
        del columns
        return len(self.files(Path(self.folder)))

    def digest(self) -> str:
        """Return a digest of the names and contents of the files."""
        digest, folder = hashlib.sha256(), Path(self.folder)
        for path in self.files(folder):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(folder)!s}\0{content}\0".encode(errors="replace"))
        return digest.hexdigest()

    def check_given(self) -> None:
        """Refuse a folder without files."""
        if not self.files(Path(self.folder)):
            raise InputError(
                "study.no_spectra", where="folder", folder=self.folder, pattern=self.pattern
            )

    def check_columns(self, requested: Mapping[str, tuple[str, ...]]) -> None:
        """Refuse columns that the table cannot have, and features of only one particle of two."""
        super().check_columns(requested)
        check_reads_both(self, requested["features.columns"])

    def job(self) -> Document:
        """Return the request to the files for `ingest`, without their folder."""
        return {"spectra": Spectra(**self.model_dump(include={*Spectra.model_fields}))}
