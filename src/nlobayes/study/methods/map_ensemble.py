"""Settings of the ensemble of MAPs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nlobayes.study.method import MethodSettings


class MapEnsemble(MethodSettings):
    """The ensemble of MAPs as a posterior; an approximation with unknown error."""

    kind: Literal["map_ensemble"]
    members: Annotated[int, Field(ge=2, le=1000)] = 16
    """Number of MAPs, each from its own start; each is one draw."""

    @property
    def starts(self) -> list[int]:
        """Numbers of the MAPs that it needs."""
        return list(range(self.members))
