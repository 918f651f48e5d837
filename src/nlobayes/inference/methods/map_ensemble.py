"""The ensemble of MAPs: each optimum of the posterior is one draw of it, all of equal weight.

Its spread is that of optima from separate starts. It is not a posterior: every draw is an
optimum (Lakshminarayanan et al. 2017, NeurIPS 30, section 2.4, with one prior for all members).
"""

from __future__ import annotations

from typing import NamedTuple

import jax

from nlobayes.errors import InputError
from nlobayes.inference.method import Approached, Drawn


class MapEnsemble(NamedTuple):
    """An ensemble of MAPs."""

    members: int

    def sample(self, key: jax.Array, posterior: Approached) -> Drawn:
        """Return the MAPs themselves; the key is not used.

        Raises
        ------
        InputError
            If there are more or fewer of them than members.
        """
        del key
        if len(posterior.maps) != self.members:
            raise InputError(
                "inference.maps_for_members", maps=len(posterior.maps), members=self.members
            )
        return Drawn(posterior.maps)


def build(*, members: int) -> MapEnsemble:
    """Build an ensemble with this number of members."""
    return MapEnsemble(members)
