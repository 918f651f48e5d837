"""Where the table of a dataset comes from: every source, its keys, defaults and limits."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from nlobayes.study.values import Frozen, Positive, PositiveInt, Seed


def _stays_inside(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts:
        raise ValueError(f"must name a file or folder without climbing out by '..', got {path!r}")
    if not path.isprintable():
        raise ValueError(f"must be made of printable characters, got {path!r}")
    return path


def _stays_below(pattern: str) -> str:
    path = PurePosixPath(_stays_inside(pattern))
    if path.is_absolute() or any("**" in part and part != "**" for part in path.parts):
        raise ValueError(
            f"must be relative to the folder, with ** alone as a part, got {pattern!r}"
        )
    return pattern


GivenPath = Annotated[str, AfterValidator(_stays_inside)]
Pattern = Annotated[str, AfterValidator(_stays_below)]
Neutralino = Annotated[int, Field(ge=1, le=4, strict=True)]


class SimulatedSource(Frozen):
    """NLO cross sections of p p -> chi0_1 chi0_1 from the embedded engine."""

    kind: Literal["simulate"]
    points: PositiveInt = 4000
    """Number of parameter points."""
    seed: Seed = 20240101
    """Seed of the parameter sampling."""
    sqrt_s_tev: Annotated[float, Field(ge=7, le=14)] = 13.0
    """Centre-of-mass energy in TeV."""
    squark_mass_gev: Annotated[float, Field(ge=2000, allow_inf_nan=False)] = 3000.0
    """Common squark mass in GeV."""


class ToySource(Frozen):
    """A published problem with one input x: train rows, then validation rows, then test rows.

    `tensorbnn_sparse`: 11, 50 and 122 rows of x sin(2 pi x) - cos(pi x), train points even on
    [-2, 2]; `tensorbnn_variable`: 2055, 50 and 122 rows, nearly all outside [-1, 1]; tests reach
    to |x| = 3. `marek`: 31, 30 and 100 rows of x/2 + x^2 - x^4/4 with noise of sd 0.1, trained
    outside a gap, tested on [-2, 2].
    """

    kind: Literal["toy"]
    name: Literal["tensorbnn_sparse", "tensorbnn_variable", "marek"]
    seed: Seed = 0
    """Seed of the noise and of the random points."""


class TableSource(Frozen):
    """A CSV or parquet table of the user."""

    kind: Literal["table"]
    path: GivenPath
    """Path of the table, relative to the working directory."""
    units: dict[str, str] = {}
    """Unit of each column that does not name its own (`m1: GeV`)."""
    duplicates: Literal["reject", "keep"] = "reject"
    """Refuse rows that repeat an earlier one, which splits would share, or keep them."""
    most_mb: PositiveInt = 100
    """Refuse a table that is larger than this when unpacked; reading takes up to 30 times it."""


class Scan(Frozen):
    """What is taken from SLHA files: neutralinos i and j, and their cross section by Prospino."""

    pair: tuple[Neutralino, Neutralino] = (1, 1)
    """Numbers of the two neutralinos, 1 to 4, in either order."""
    sqrt_s_tev: Positive = 13.0
    """Centre-of-mass energy in TeV; rows at other energies are left."""
    cross_section: Literal["nlo_ms", "nlo"] = "nlo_ms"
    """What `sigma_pb` is: NLO with the squark masses of the point, or with their mean."""
    masses: Literal["signed", "absolute"] = "signed"
    """Masses with the sign of the eigenvalue, as SLHA has them, or without."""
    pattern: Pattern = "*.slha"
    """Which files of the folder; `**/*.slha` looks into folders below, too."""
    layout: tuple[str, ...] | None = None
    """Columns of PROSPINO_OUTPUT after the two particles and the energy, as `name` or `name:unit`;
    the usual ones where not given."""

    @field_validator("pair", mode="after")
    @classmethod
    def _in_order(cls, pair: tuple[int, int]) -> tuple[int, int]:
        return min(pair), max(pair)

    def files(self, folder: Path) -> list[Path]:
        """List the files below a folder in the order of their names."""
        return sorted(path for path in folder.glob(self.pattern) if path.is_file())


class SlhaSource(Scan):
    """A folder of SLHA files of the user, each with blocks MASS, NMIX and PROSPINO_OUTPUT."""

    kind: Literal["slha"]
    folder: GivenPath
    """Folder of the files, relative to the working directory."""

    @property
    def scan(self) -> Scan:
        """What is taken from the files, wherever they lie."""
        return Scan(**self.model_dump(include={*Scan.model_fields}))


Source = Annotated[
    SimulatedSource | ToySource | TableSource | SlhaSource, Field(discriminator="kind")
]
