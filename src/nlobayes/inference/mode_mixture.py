"""A mixture of Gaussians about several MAPs: the number of draws of each, and its log density."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.errors import InputError
from nlobayes.inference.gaussians import Gaussian
from nlobayes.inference.method import MethodDraws, MethodInput

Weights = Literal["equal", "evidence"]


class Mixture(NamedTuple):
    """Gaussians, and the number of draws of each."""

    parts: Sequence[Gaussian]
    dealt: Sequence[int]

    def draw(self, key: jax.Array) -> jax.Array:
        """Draw positions (draw, entry), those of the first part first."""
        keys = [jax.random.fold_in(key, place) for place in range(len(self.parts))]
        each = zip(self.parts, keys, self.dealt, strict=True)
        return jnp.concatenate([part.draw(own, draws) for part, own, draws in each])

    def log_density(self, positions: jax.Array) -> jax.Array:
        """Return the log density (draw,) at positions (draw, entry), with shares of the draws."""
        share = np.asarray(self.dealt) / sum(self.dealt)
        held = [(part, np.log(one)) for part, one in zip(self.parts, share, strict=True) if one]
        each = [logarithm + part.log_density(positions) for part, logarithm in held]
        return jax.scipy.special.logsumexp(jnp.stack(each), axis=0)

    def centres(self) -> jax.Array:
        """Return the mean that each draw is about (draw, entry)."""
        means = jnp.stack([part.mean for part in self.parts])
        return jnp.repeat(means, np.asarray(self.dealt), axis=0)

    def drawn(
        self, key: jax.Array, posterior: MethodInput, of_starts: dict[str, list[float]]
    ) -> MethodDraws:
        """Draw full positions with their log densities; keep the numbers of each start."""
        last = jax.random.fold_in(key, len(self.parts))
        drawn = self.draw(key)
        return MethodDraws(posterior.complete(last, drawn), of_starts, self.log_density(drawn))


def deal(draws: int, log_evidence: Sequence[float], weights: Weights) -> list[int]:
    """Distribute draws over the parts, evenly or by evidence; the largest remainders get one more.

    Shares by evidence are proportional to exp(log evidence): each Gaussian represents a separate
    part of the posterior.
    """
    logs = np.asarray(log_evidence)
    share = np.exp(logs - logs.max()) if weights == "evidence" else np.ones(len(logs))
    exact = draws * share / share.sum()
    dealt = np.floor(exact).astype(int)
    behind = np.argsort(dealt - exact, kind="stable")
    dealt[behind[: draws - dealt.sum()]] += 1
    return [int(count) for count in dealt]


def check_starts(starts: jax.Array, modes: int) -> None:
    """Refuse a number of starts that differs from the number of modes.

    Raises InputError if they differ.
    """
    if len(starts) != modes:
        raise InputError("inference.maps_for_modes", maps=len(starts), modes=modes)
