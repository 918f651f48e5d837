"""Where the table of a dataset comes from: every source, its keys, defaults and limits."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import Field, field_validator

from nlobayes.study.values import Frozen, PositiveInt, Seed


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
    path: str
    """Path of the table, relative to the working directory."""
    units: dict[str, str] = {}
    """Unit of each column that does not name its own (`m1: GeV`)."""
    duplicates: Literal["reject", "keep"] = "reject"
    """Refuse rows that repeat an earlier one, which splits would share, or keep them."""
    most_mb: PositiveInt = 100
    """Refuse a table that is larger than this when unpacked; reading takes up to 30 times it."""

    @field_validator("path")
    @classmethod
    def _stays_inside(cls, path: str) -> str:
        parts = PurePosixPath(path).parts
        if not parts or ".." in parts:
            raise ValueError(f"must name a file without climbing out by '..', got {path!r}")
        if not path.isprintable():
            raise ValueError(f"must be made of printable characters, got {path!r}")
        return path


Source = Annotated[SimulatedSource | ToySource | TableSource, Field(discriminator="kind")]
