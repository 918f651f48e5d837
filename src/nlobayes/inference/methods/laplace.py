"""The Laplace approximation: a Gaussian about each MAP, of the Gauss-Newton curvature there.

Ritter, Botev and Barber (2018, ICLR) and Immer, Korzepa and Bauer (2021, AISTATS) use it for
networks; Daxberger et al. (2021, NeurIPS) compare its forms. Draws of several MAPs are a mixture.
They are draws of the weights. With `linearised` they predict with the network linearised at their
MAP, for which the Gaussian is exact (Immer et al.); with `sampled`, with the network itself.
With hyperparameters of the highest evidence, the Gaussian is about these and the MAP given them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import jax

from nlobayes.errors import InputError
from nlobayes.inference.method import Approached, Drawn
from nlobayes.inference.methods._evidence import at_highest_evidence
from nlobayes.inference.methods._gaussian import Covariance, about
from nlobayes.inference.methods._mixture import Mixture, Weights, check_starts, deal


class Laplace(NamedTuple):
    """Draws of Gaussians about several MAPs, or about the MAPs given the best hyperparameters."""

    modes: int
    draws: int
    covariance: Covariance
    rank: int
    weights: Weights
    predictive: Literal["sampled", "linearised"]
    hyperparameters: Literal["map", "evidence"] = "map"

    def sample(self, key: jax.Array, posterior: Approached) -> Drawn:
        """Draw positions, those of the first MAP first; the log evidence of each MAP is kept.

        Raises
        ------
        InputError
            If the numbers of MAPs and modes differ, or the covariance is full and there are too
            many parameters, or the rank is not below their number, or the network is linearised
            and its output layer integrated out, or there are no hyperparameters to move.
        """
        check_starts(posterior.starts, self.modes)
        linearised = self.predictive == "linearised"
        if linearised and posterior.starts.shape != posterior.maps.shape:
            raise InputError("inference.linearised_integrated")
        centres, slopes = self._centres(posterior)
        curvature, forms = posterior.gauss_newton, (self.covariance, self.rank)
        parts = [about(curvature, centre, *forms) for centre in centres]
        density = jax.jit(posterior.logdensity_fn)
        evidence = [float(one.log_evidence(density(one.mean))) for one in parts]
        mixture = Mixture(parts, deal(self.draws, evidence, self.weights))
        drawn = mixture.drawn(key, posterior, {"log_evidence": evidence, **slopes})
        return drawn._replace(centres=mixture.centres()) if linearised else drawn

    def _centres(self, posterior: Approached) -> tuple[Sequence[jax.Array], dict[str, list[float]]]:
        """Return the MAPs, or those of the highest evidence of hyperparameters, and its slopes."""
        starts = list(posterior.starts)
        if self.hyperparameters == "map":
            return starts, {}
        found = [at_highest_evidence(posterior, start) for start in starts]
        return [one.position for one in found], {"evidence_slope": [one.slope for one in found]}


build = Laplace
