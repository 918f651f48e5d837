"""The ensemble of MAPs: each optimum of the posterior is one draw of it, all of equal weight.

Its spread is that of optima from separate starts. It is not a posterior: every draw is an
optimum (Lakshminarayanan et al. 2017, NeurIPS 30, section 2.4, with one prior for all members).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from nlobayes.errors import InputError
from nlobayes.inference.method import MethodDraws, MethodInput
from nlobayes.methods import ApproximationSettings

if TYPE_CHECKING:
    import jax


class MapEnsemble(ApproximationSettings):
    """The ensemble of MAPs as a posterior; an approximation with unknown error."""

    kind: Literal["map_ensemble"]
    members: Annotated[int, Field(ge=2, le=1000)] = 16
    """Number of MAPs, each from its own start; each is one draw."""

    @property
    def starts(self) -> list[int]:
        """Numbers of the MAPs that it needs."""
        return list(range(self.members))

    def sample(self, key: jax.Array, posterior: MethodInput) -> MethodDraws:
        """Return the MAPs themselves; the key is not used.

        Raises InputError if there are more or fewer of them than members.
        """
        del key
        if len(posterior.maps) != self.members:
            raise InputError(
                "inference.maps_for_members", maps=len(posterior.maps), members=self.members
            )
        return MethodDraws(posterior.maps)
