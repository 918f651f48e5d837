"""Reversible jumps between architectures, and HMC within each.

Targets pi(q) proportional to exp(logdensity_fn(q)) on positions with indicators of what is in use
(`architecture`), by kernels in turn, each of which leaves pi invariant:

- A jump chosen at random adds or removes a unit or a layer by a bijection of the position
  (`inference/jumps`). Green's ratio (1995, Biometrika 82, 711) accepts it.
- HMC or NUTS moves all entries but the indicators. Its step size depends on the size of the
  architecture, which it does not change.

An annealed jump moves along tempered densities between its proposal and its acceptance
(Karagiannis and Andrieu 2013, J. Comput. Graph. Stat. 22, 623, algorithm 1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.inference.kernel import Info, Kernel, LogDensity, Posterior, State, Tuned
from nlobayes.kernels import KernelSettings
from nlobayes.kernels.hmc import HMCKernel
from nlobayes.kernels.nuts import NUTSKernel
from nlobayes.settings.values import Jitter, Positive, PositiveInt
from nlobayes.untyped import Tree

if TYPE_CHECKING:
    import jax

    from nlobayes.inference.jumps.proposals import TemperedMove
    from nlobayes.inference.varying_part import Architecture

Move = Literal["prior", "conditional", "split", "identity"]
DENSITIES_PER_JUMP = 4
LEAST_THRESHOLD_OF_TREES = 100.0
"""Least `divergence_threshold` of NUTS: a smaller one would bias the draws."""


class SizedState(NamedTuple):
    """State of a chain between steps, and the jumps that the last step tried."""

    position: jax.Array
    logdensity: jax.Array
    logdensity_grad: jax.Array
    size: jax.Array
    """The size of the architecture (size,): 1 at its number, else 0."""
    tried: jax.Array
    """How often the step tried each jump, and the sum of its acceptance probabilities (jump, 2)."""


class TunedSizes(NamedTuple):
    """A step size for each size (size,), and a scale for each jump (jump,) that learns one."""

    step_size: jax.Array
    inverse_mass_matrix: jax.Array
    scales: jax.Array


class ReversibleJumpKernel(KernelSettings):
    """Jumps between numbers of units or layers, and HMC or NUTS within each; exact.

    For a network with a prior of `units` or of `layers`.
    """

    warmup: ClassVar[str] = "sizes"

    kind: Literal["reversible_jump"]
    moves: Annotated[tuple[Move, ...], Field(min_length=1)] = ("prior", "conditional", "split")
    """Moves of a jump. `prior`: a new unit or last layer is drawn from its prior. `conditional`:
    its output weights fit the residuals. `split`: a unit becomes two that compute nearly the
    same. `identity`: a new layer is near the identity."""
    jumps: PositiveInt = 1
    """Jumps per draw, each by one of the moves, chosen at random."""
    annealing_steps: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Tempered transitions between the proposal of a jump and its acceptance."""
    annealing_integration_steps: PositiveInt = 4
    """Leapfrog steps of each tempered transition."""
    annealed: tuple[Move, ...] | None = None
    """Moves that are annealed; all of them by default."""
    integration_steps: PositiveInt = 64
    """Leapfrog steps per draw, within an architecture."""
    max_depth: Annotated[int | None, Field(ge=1, le=20, exclude_if=lambda depth: depth is None)] = (
        None
    )
    """Largest number of doublings of NUTS, which then moves within an architecture in place of
    `integration_steps` leapfrog steps."""
    jitter: Jitter = 0.2
    """Relative half-width of the uniform distribution of the number of steps around its value."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    @model_validator(mode="after")
    def _anneals_its_moves(self) -> ReversibleJumpKernel:
        if others := set(self.annealed or ()) - set(self.moves):
            raise InputError("study.annealed_others", others=sorted(others), moves=self.moves)
        return self

    @model_validator(mode="after")
    def _does_not_bias_its_trees(self) -> ReversibleJumpKernel:
        least = LEAST_THRESHOLD_OF_TREES
        if self.max_depth is not None and self.divergence_threshold < least:
            given = self.divergence_threshold
            raise InputError("study.divergence_of_trees", given=given, least=least)
        return self

    @property
    def within(self) -> HMCKernel | NUTSKernel:
        """The kernel that moves within an architecture."""
        threshold = self.divergence_threshold
        if self.max_depth is not None:
            return NUTSKernel(kind="nuts", max_depth=self.max_depth, divergence_threshold=threshold)
        return self._hmc(self.integration_steps)

    def _hmc(self, integration_steps: int) -> HMCKernel:
        return HMCKernel(
            kind="hmc",
            integration_steps=integration_steps,
            jitter=self.jitter,
            divergence_threshold=self.divergence_threshold,
        )

    @property
    def max_tree_depth(self) -> int | None:
        """Largest number of doublings, with NUTS."""
        return self.max_depth

    @property
    def gradients_per_draw(self) -> int:
        """Those within the architecture, and some for the proposal and the density of a jump."""
        of_jumps = self.jumps * (DENSITIES_PER_JUMP + self._gradients_of_path)
        return self.within.gradients_per_draw + of_jumps

    @property
    def _gradients_of_path(self) -> int:
        """Gradients of an annealed jump, at both ends of its bridge of densities."""
        return 2 * self.annealing_steps * self.annealing_integration_steps

    def build(self, posterior: Posterior) -> Kernel:
        """Build `jumps` jumps, each by a move chosen at random, followed by one transition of HMC.

        The kernel is HMC alone where the architecture does not vary.
        """
        import jax
        import jax.numpy as jnp
        import numpy as np

        from nlobayes.inference.jumps.moves import jumps_of
        from nlobayes.inference.jumps.proposals import Jumps, statistics

        logdensity_fn, architecture = posterior.logdensity_fn, posterior.architecture
        within = SizedMoves(logdensity_fn, architecture)
        by_name = {} if architecture is None else jumps_of(architecture, self.moves, logdensity_fn)
        chosen = self.moves if self.annealed is None else self.annealed
        annealed = np.array([name.rpartition("_")[0] in chosen for name in by_name], bool)
        annealed &= self.annealing_steps > 0

        def init(position: jax.Array) -> SizedState:
            value, gradient = jax.value_and_grad(logdensity_fn)(position)
            tried = jnp.zeros((len(by_name), 2), position.dtype)
            return SizedState(position, value, gradient, within.size(position), tried)

        def jump_all(
            key: jax.Array, state: SizedState, tuned: TunedSizes
        ) -> tuple[SizedState, dict[str, jax.Array]]:
            assert architecture is not None
            # Built in every step: scales and step sizes are tuned values, known only here.
            move = within.tempered(tuned, self._hmc(self.annealing_integration_steps))
            jumps = Jumps(
                by_name, annealed, self.annealing_steps, logdensity_fn, architecture.numbers
            )
            begin, keys = (state.position, state.logdensity), jax.random.split(key, self.jumps)
            position, tried = jumps.make(keys, begin, tuned.scales, move)
            # HMC needs the gradient at the new position; without an accepted jump it is known.
            new = jax.lax.cond(jnp.any(tried.accepted), init, lambda _: state, position)
            new = new._replace(tried=tried.account(len(by_name)))
            return new, statistics([*by_name], tried, tuned.scales)

        def step(key: jax.Array, state: SizedState, tuned: TunedSizes) -> tuple[SizedState, Info]:
            # Jumps and transition each leave the target invariant, so one after the other does too.
            key_jumps, key_move = jax.random.split(key)
            statistics_of_jumps, spent = dict[str, jax.Array](), jnp.zeros((), int)
            if by_name:
                state, statistics_of_jumps = jump_all(key_jumps, state, tuned)
                # The tries of each jump are counted, because only annealed ones spend a path.
                of_paths = state.tried[:, 0] @ (self._gradients_of_path * annealed)
                spent = (1 + self.jumps + of_paths).astype(int)
            state, info = within.move(key_move, state, tuned, self.within)
            return state, info._replace(
                num_integration_steps=info.num_integration_steps + spent,
                extra=statistics_of_jumps | {"size": jnp.argmax(state.size)},
            )

        return Kernel(init, step, exact=True)


class SizedMoves(NamedTuple):
    """Moves of all entries but the indicators, with the step size of the architecture."""

    logdensity_fn: LogDensity
    architecture: Architecture | None

    def size(self, position: jax.Array) -> jax.Array:
        """Mark the size of the architecture of a position (parameter,)."""
        import jax
        import jax.numpy as jnp

        if self.architecture is None:
            return jnp.ones(1, position.dtype)
        number, sizes = self.architecture.size(position), self.architecture.sizes
        return jax.nn.one_hot(number, sizes, dtype=position.dtype)

    def move(
        self, key: jax.Array, state: SizedState, tuned: TunedSizes, kernel: KernelSettings
    ) -> tuple[SizedState, Info]:
        """Make one transition that leaves the target given the architecture invariant."""
        import jax.numpy as jnp

        step_size = jnp.sum(tuned.step_size * state.size)
        own = Tuned(step_size, self._metric(tuned.inverse_mass_matrix))
        new, info = kernel.build(Posterior(self.logdensity_fn)).step(key, State(*state[:3]), own)
        moved = {name: getattr(new, name) for name in State._fields}
        return state._replace(**moved), info

    def _metric(self, inverse_mass_matrix: jax.Array) -> Tree:
        """Give the indicators a mass that nothing moves."""
        import numpy as np
        from blackjax.mcmc.metrics import gaussian_euclidean

        fixed = np.zeros(0, int) if self.architecture is None else self.architecture.indicators
        moving = gaussian_euclidean(inverse_mass_matrix.at[fixed].set(0))
        draw = gaussian_euclidean(inverse_mass_matrix).sample_momentum
        return moving._replace(sample_momentum=draw)

    def tempered(self, tuned: TunedSizes, kernel: HMCKernel) -> TemperedMove:
        """Build one transition in any other density."""
        import jax
        import jax.numpy as jnp

        def move(key: jax.Array, position: jax.Array, density: LogDensity) -> jax.Array:
            value, gradient = jax.value_and_grad(density)(position)
            state = SizedState(position, value, gradient, self.size(position), jnp.zeros((0, 2)))
            at = self._replace(logdensity_fn=density)
            return at.move(key, state, tuned, kernel)[0].position

        return move
