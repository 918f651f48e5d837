"""Settings of the ensemble of MAPs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nlobayes.study.method import MethodSettings


class MapEnsemble(MethodSettings):
    """The ensemble of MAPs as a posterior of its own; an approximation, whose error is unknown."""

    kind: Literal["map_ensemble"]
    members: Annotated[int, Field(ge=2, le=1000)] = 16
    """MAPs, each from a start of its own; each is one draw."""

    @property
    def starts(self) -> list[int]:
        """Numbers of the MAPs that it needs."""
        return list(range(self.members))
