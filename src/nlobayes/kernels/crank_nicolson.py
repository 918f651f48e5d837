"""Preconditioned Crank-Nicolson moves of standard normal entries, slice sampling of the others.

Targets pi(q) proportional to exp(logdensity_fn(q)) by two kernels in turn, each of which leaves pi
invariant, whatever the entries they move:

- The entries x that are N(0, I) a priori go to sqrt(1 - b^2) x + b n with n ~ N(0, I), a move that
  is reversible in N(0, I). The Metropolis ratio is pi(x') N(x) / (pi(x) N(x')): the prior cancels,
    and the acceptance does not fall with the number of entries that hardly change the likelihood
  (Cotter, Roberts, Stuart & White 2013, "MCMC methods for functions"). b = 1 draws from the prior.
- All others move along a random direction, in units of their sds, by slice sampling with stepping
    out and shrinkage (Neal 2003, "Slice sampling", section 4), which has no step size to tune.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from nlobayes.inference.kernel import Info, Kernel, PointState, Posterior, Tuned
from nlobayes.kernels import KernelSettings
from nlobayes.settings.values import PositiveInt

if TYPE_CHECKING:
    import jax

EVALUATIONS_PER_SLICE = 8
"""Typical number of densities for one slice, by which costs are estimated."""


class CrankNicolsonKernel(KernelSettings):
    """Crank-Nicolson moves of the weights, slice moves of all other entries; exact, no gradient.

    For wide layers whose output is marginalised. A good acceptance is about 0.3.
    """

    warmup: ClassVar[str] = "windows"

    kind: Literal["crank_nicolson"]
    moves: PositiveInt = 32
    """Proposals for the weights per draw."""
    slices: PositiveInt = 4
    """Slice moves of scales, noise and all other parameters per draw, each along a random
    direction."""

    @property
    def gradients_per_draw(self) -> int:
        """One density per proposal and about eight per slice, each counted as a gradient."""
        return self.moves + EVALUATIONS_PER_SLICE * self.slices

    def check_mass_matrix(self, form: str) -> None:
        """Refuse a mass matrix that is not diagonal."""
        if form not in {"diagonal", "identity"}:
            raise ValueError(
                f"warmup.mass_matrix: {form} is of no use to kernel "
                "'crank_nicolson', which knows the scale of the weights; use diagonal"
            )

    def build(self, posterior: Posterior) -> Kernel:
        """Build `moves` proposals for the standard normal entries, then `slices` of all others.

        If the standard normal entries are not known, both move every entry.
        """
        import jax
        import jax.numpy as jnp
        import numpy as np

        from nlobayes.inference.slices import refresh, slice_along

        logdensity_fn = posterior.logdensity_fn

        def init(position: jax.Array) -> PointState:
            return PointState(position, logdensity_fn(position))

        def step(key: jax.Array, state: PointState, tuned: Tuned) -> tuple[PointState, Info]:
            standard = others = np.ones(state.position.size, bool)
            if posterior.standard is not None:
                standard = np.isin(np.arange(state.position.size), posterior.standard)
                others = ~standard
            key_moves, key_slices = jax.random.split(key)
            angle = jnp.arctan(tuned.step_size)
            sds = jnp.sqrt(tuned.inverse_mass_matrix)

            def move(state: PointState, key: jax.Array) -> tuple[PointState, jax.Array]:
                return refresh(key, state, logdensity_fn, angle, standard)

            def slide(state: PointState, key: jax.Array) -> tuple[PointState, jax.Array]:
                key_along, key_slice = jax.random.split(key)
                noise = jax.random.normal(key_along, state.position.shape, state.position.dtype)
                along = jnp.where(others, noise * sds, 0)
                return slice_along(key_slice, state, logdensity_fn, along)

            state, accepted = jax.lax.scan(move, state, jax.random.split(key_moves, self.moves))
            evaluations = jnp.zeros((), int)
            if others.any():
                keys = jax.random.split(key_slices, self.slices)
                state, spent = jax.lax.scan(slide, state, keys)
                evaluations = jnp.sum(spent)
            return state, Info(
                acceptance_rate=jnp.mean(accepted),
                energy=jnp.full_like(state.logdensity, jnp.nan),
                is_divergent=jnp.zeros((), bool),
                num_integration_steps=jnp.asarray(self.moves + evaluations, int),
                tree_depth=jnp.zeros((), int),
                step_size=tuned.step_size,
            )

        return Kernel(init, step, exact=True)
