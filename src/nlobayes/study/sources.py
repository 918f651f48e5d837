"""Where the table of a dataset comes from: every source, its keys, defaults and limits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

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


def _in_order(pair: tuple[int, int]) -> tuple[int, int]:
    return min(pair), max(pair)


def _columns_of(neutralino: int) -> tuple[str, ...]:
    return (f"m{neutralino}", *(f"n{neutralino}{component}" for component in range(1, 5)))


def _check_reads_both(pair: tuple[int, int], columns: tuple[str, ...]) -> None:
    """Refuse to read one neutralino of two, on both of which cross sections depend."""
    for number in pair:
        if not {*columns} & {*_columns_of(number)}:
            raise ValueError(
                f"features.columns: nothing of neutralino {number} of pair {[*pair]} is read; "
                f"it has {', '.join(_columns_of(number))}"
            )


GivenPath = Annotated[str, AfterValidator(_stays_inside)]
Pattern = Annotated[str, AfterValidator(_stays_below)]
Neutralino = Annotated[int, Field(ge=1, le=4, strict=True)]
Pair = Annotated[tuple[Neutralino, Neutralino], AfterValidator(_in_order)]
SquarkMass = Annotated[float, Field(ge=2000, le=100_000)]
SIMULATED_TARGETS = ("sigma_pb", "lo_pb", "scale_up", "scale_down")
INGESTED_TARGETS = (
    *("msq", *SIMULATED_TARGETS),
    *("pdf_error_pb", "alpha_s_up", "alpha_s_down", "rel_error"),
)


class SquarkRange(Frozen):
    """Squark masses that differ from row to row, uniform in the logarithm, in column `msq`."""

    low: SquarkMass
    """Smallest mass in GeV."""
    high: SquarkMass
    """Largest mass in GeV."""

    @model_validator(mode="after")
    def _increases(self) -> SquarkRange:
        if self.low >= self.high:
            raise ValueError(
                f"low ({self.low:g}) must be below high ({self.high:g}); for one mass give a number"
            )
        return self


def _kind_of(masses: object) -> str:
    return "range" if isinstance(masses, dict | SquarkRange) else "number"


SquarkMasses = Annotated[
    Annotated[SquarkMass, Tag("number")] | Annotated[SquarkRange, Tag("range")],
    Discriminator(_kind_of),
]


class SimulatedSource(Frozen):
    """NLO cross sections of p p -> chi0_i chi0_j from the embedded engine (docs/physics.md)."""

    kind: Literal["simulate"]
    points: Annotated[int, Field(ge=1, le=10_000_000)] = 4000
    """Number of parameter points."""
    seed: Seed = 20240101
    """Seed of the parameter sampling."""
    pair: Pair = (1, 1)
    """Numbers of the two neutralinos, 1 (the lightest) to 4, in either order. Columns m1, n11 to
    n14 for the first, and for an unlike one likewise m2, n21 to n24."""
    scan: Literal["flat", "log", "fine_tuned"] = "flat"
    """`flat`: soft masses and tan beta uniform; `log`: their sizes uniform in the logarithm, from
    50 GeV up; `fine_tuned`: every fourth row a nearly pure higgsino whose coupling to the Z
    cancels, for two equal neutralinos."""
    sqrt_s_tev: Annotated[float, Field(ge=7, le=14)] = 13.0
    """Centre-of-mass energy in TeV."""
    squark_mass_gev: SquarkMasses = 3000.0
    """Common squark mass in GeV, or `{low, high}` to draw one for each row, in column `msq`."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that cross sections depend on, in their order."""
        squark = ("msq",) if isinstance(self.squark_mass_gev, SquarkRange) else ()
        return (*chain.from_iterable(map(_columns_of, dict.fromkeys(self.pair))), *squark)

    @property
    def known(self) -> tuple[str, ...]:
        """Names of all columns of the table."""
        return (*self.columns, *SIMULATED_TARGETS)

    @model_validator(mode="after")
    def _can_be_tuned(self) -> SimulatedSource:
        if self.scan == "fine_tuned" and self.pair[0] != self.pair[1]:
            raise ValueError(
                f"scan 'fine_tuned' is for equal neutralinos, got pair {[*self.pair]}: the "
                "coupling of unlike ones to the Z does not cancel; choose 'flat' or 'log'"
            )
        return self


class ToySource(Frozen):
    """A published problem: train rows, then validation rows, then test rows, of x and y.

    `tensorbnn_sparse`: 11, 50 and 122 rows of x sin(2 pi x) - cos(pi x), train points even on
    [-2, 2]; `tensorbnn_variable`: 2055, 50 and 122 rows, nearly all outside [-1, 1]; tests reach
    to |x| = 3. `marek`: 31, 30 and 100 rows of x/2 + x^2 - x^4/4 with noise of sd 0.1, trained
    outside a gap, tested on [-2, 2]. `xor` and `xor_noisy`: 200, 100 and 200 rows of x1, x2 and
    label, 0 or 1, of Gaussian clouds around (+-0.5, +-0.5), of variance 0.015 or 0.08.
    """

    kind: Literal["toy"]
    name: Literal["tensorbnn_sparse", "tensorbnn_variable", "marek", "xor", "xor_noisy"]
    seed: Seed = 0
    """Seed of the noise and of the random points."""

    @property
    def known(self) -> tuple[str, ...]:
        """Names of all columns of the table."""
        return ("x1", "x2", "label") if self.name.startswith("xor") else ("x", "y")


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

    def digest(self) -> str:
        """Digest the table, for a date does not show that its content is another."""
        with Path(self.path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


class Spectra(Frozen):
    """What is taken from SLHA files: neutralinos i and j, and their cross section by Prospino."""

    pair: Pair = (1, 1)
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

    def files(self, folder: Path) -> list[Path]:
        """List the files below a folder in the order of their names."""
        return sorted(path for path in folder.glob(self.pattern) if path.is_file())


class SlhaSource(Spectra):
    """A folder of SLHA files of the user, each with blocks MASS, NMIX and PROSPINO_OUTPUT."""

    kind: Literal["slha"]
    folder: GivenPath
    """Folder of the files, relative to the working directory."""

    @property
    def known(self) -> tuple[str, ...]:
        """Names of all columns that the table may have."""
        return (*chain.from_iterable(map(_columns_of, dict.fromkeys(self.pair))), *INGESTED_TARGETS)

    def digest(self) -> str:
        """Digest the names and contents of the files."""
        digest, folder = hashlib.sha256(), Path(self.folder)
        for path in self.files(folder):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(folder)!s}\0{content}\0".encode(errors="replace"))
        return digest.hexdigest()

    @property
    def spectra(self) -> Spectra:
        """What is taken from the files, wherever they lie."""
        return Spectra(**self.model_dump(include={*Spectra.model_fields}))


Source = Annotated[
    SimulatedSource | ToySource | TableSource | SlhaSource, Field(discriminator="kind")
]


def check_columns(source: Source, asked: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse columns, by the key that asks for them, that a table made here does not have.

    Of two neutralinos, to read one is refused as well. A table of the user is not looked at.
    """
    if isinstance(source, TableSource):
        return
    for key, names in asked.items():
        for name in names:
            if name not in source.known:
                raise ValueError(
                    f"{key}: {name!r} is no column of source {source.kind!r}{_of_pair(source)}; "
                    f"columns: {', '.join(source.known)}"
                )
    if not isinstance(source, ToySource):
        _check_reads_both(source.pair, asked["features.columns"])


def _of_pair(source: SimulatedSource | ToySource | SlhaSource) -> str:
    return "" if isinstance(source, ToySource) else f" with pair {[*source.pair]}"
