"""Settings of a Gaussian process."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.study.rival import SCIKIT_LEARN, RivalSettings


class GaussianProcessRival(RivalSettings):
    """A Gaussian process, fitted by type-II maximum: length scale of each feature, and noise."""

    library: ClassVar[str | None] = SCIKIT_LEARN

    kind: Literal["gaussian_process"]
    kernel: Literal["matern_5_2", "rbf"] = "matern_5_2"
    """Form of its covariance; functions of `rbf` are infinitely smooth."""
    most_rows: Annotated[int, Field(ge=10, le=5000)] = 2000
    """Most train rows that it is conditioned on, chosen at random if there are more."""
    most_rows_of_search: Annotated[int, Field(ge=10, le=2000)] = 1000
    """Most of these rows for the fit of length scales, amplitude and noise."""
