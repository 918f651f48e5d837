"""The Laplace approximation: a Gaussian about each MAP, of the Gauss-Newton curvature there.

Ritter, Botev and Barber (2018, ICLR) and Immer, Korzepa and Bauer (2021, AISTATS) use it for
networks; Daxberger et al. (2021, NeurIPS) compare its forms. Draws of several MAPs are a mixture.
They are draws of the weights. With `linearised` they predict with the network linearised at their
MAP, for which the Gaussian is exact (Immer et al.); with `sampled`, with the network itself.
With hyperparameters of the highest evidence, the Gaussian is about these and the MAP given them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from nlobayes.errors import InputError
from nlobayes.inference.method import MethodDraws, MethodInput
from nlobayes.methods._modes import FromModes, dense_numbers
from nlobayes.settings.values import PositiveInt

if TYPE_CHECKING:
    import jax

EVIDENCES, STEPS = 50, 40
"""Approximate numbers of evaluations of the evidence of one mode, and of steps to the MAP in
each."""


class Laplace(FromModes):
    """A Gaussian about each MAP with the Gauss-Newton curvature there; an approximation."""

    kind: Literal["laplace"]
    covariance: Literal["full", "diagonal", "low_rank"] = "full"
    """`full` is for up to 4000 parameters. `diagonal` uses the variance of each given all
    others, `low_rank` the directions that the data constrain best."""
    rank: PositiveInt = 50
    """Directions of `low_rank`; at least as many as the data constrain."""
    weights: Literal["equal", "evidence"] = "equal"
    """Share of each MAP in the draws: the same, or by the evidence of its Gaussian."""
    predictive: Literal["sampled", "linearised"] = "sampled"
    """Predictions by the network itself (`sampled`), or linearised in its weights at the draw's
    MAP (`linearised`, Immer et al. 2021: mostly far better, without a surrogate)."""

    hyperparameters: Literal["map", "evidence"] = "map"
    """Centre of the learned hyperparameters: their `map` together with the weights, or the
    values of the highest `evidence` (MacKay 1992), which holds the dense curvature;
    `evidence_slope` is then near 0."""

    @property
    def draws_networks(self) -> bool:
        """Whether the network is not linearised."""
        return self.predictive == "sampled"

    @property
    def has_dense_curvature(self) -> bool:
        """Whether its covariance is full, or hyperparameters are found by the evidence."""
        return self.covariance == "full" or self.hyperparameters == "evidence"

    @property
    def moves_hyperparameters(self) -> bool:
        """Whether it needs a prior or a likelihood that learns hyperparameters."""
        return self.hyperparameters == "evidence"

    @property
    def gradients(self) -> int:
        """Count two per product with the curvature; a rank needs several products.

        Each evaluation of the evidence takes steps to the MAP, of a curvature and a gradient each.
        """
        sought = EVIDENCES * 2 * STEPS if self.hyperparameters == "evidence" else 0
        return self.modes * (sought + (10 * self.rank if self.covariance == "low_rank" else 1))

    def matrix_numbers(self, parameters: int, train: int) -> int:
        """Count the numbers of the dense matrix and its derivatives, or of its eigenvectors."""
        if self.has_dense_curvature:
            of_evidence = 2 if self.hyperparameters == "evidence" else 1
            return of_evidence * dense_numbers(parameters, train)
        return 3 * self.rank * parameters if self.covariance == "low_rank" else 0

    def sample(self, key: jax.Array, posterior: MethodInput) -> MethodDraws:
        """Draw positions, those of the first MAP first; the log evidence of each MAP is kept.

        Raises InputError if the numbers of MAPs and modes differ, or the covariance is full and
        there are too many parameters, or the rank is not below their number, or the network is
        linearised and its output layer integrated out, or there are no hyperparameters to move.
        """
        import jax

        from nlobayes.inference.gaussians import gaussian_about
        from nlobayes.inference.mode_mixture import Mixture, check_starts, deal

        check_starts(posterior.starts, self.modes)
        linearised = self.predictive == "linearised"
        if linearised and posterior.starts.shape != posterior.maps.shape:
            raise InputError("inference.linearised_integrated")
        centres, slopes = self._centres(posterior)
        curvature, forms = posterior.gauss_newton, (self.covariance, self.rank)
        parts = [gaussian_about(curvature, centre, *forms) for centre in centres]
        density = jax.jit(posterior.logdensity_fn)
        evidence = [float(one.log_evidence(density(one.mean))) for one in parts]
        mixture = Mixture(parts, deal(self.draws, evidence, self.weights))
        drawn = mixture.drawn(key, posterior, {"log_evidence": evidence, **slopes})
        return drawn._replace(centres=mixture.centres()) if linearised else drawn

    def _centres(
        self, posterior: MethodInput
    ) -> tuple[Sequence[jax.Array], dict[str, list[float]]]:
        """Return the MAPs, or those of the highest evidence of hyperparameters, and its slopes."""
        from nlobayes.inference.evidence import maximise_evidence

        starts = list(posterior.starts)
        if self.hyperparameters == "map":
            return starts, {}
        found = [maximise_evidence(posterior, start) for start in starts]
        return [one.position for one in found], {"evidence_slope": [one.slope for one in found]}
