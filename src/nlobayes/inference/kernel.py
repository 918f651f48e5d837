"""The protocol of kernels: two pure functions, and the types of their arguments and results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from nlobayes.untyped import Tree

if TYPE_CHECKING:
    import jax
    import numpy as np

    from nlobayes.inference.varying_part import Architecture


class LogDensity(Protocol):
    """A log density of a position (parameter,), with an inverse temperature.

    At inverse temperature b it is log prior + b log likelihood: the target at 1, the prior at 0.
    """

    def __call__(
        self, position: jax.Array, inverse_temperature: float | jax.Array = 1.0, /
    ) -> jax.Array:
        """Evaluate the log density, a scalar."""
        ...


class Conjugates(Protocol):
    """Entries of a position (parameter,) that can be drawn given all others.

    `refresh(key, position)` draws the `entries` anew, may change the others, and leaves the
    target invariant.
    """

    @property
    def refresh(self) -> Callable[[jax.Array, jax.Array], jax.Array]:
        """Function that draws the entries."""
        ...

    @property
    def entries(self) -> np.ndarray:
        """Places of the entries."""
        ...


class Posterior(NamedTuple):
    """The target of a kernel: a log density, and facts about its prior.

    The facts are its conjugates, if it has any; the places of the entries that are independent
    standard normals a priori, None if that is not known; and the architecture, if it varies.
    `with_by_product(position)` gives the log density and what its computation gives besides, with
    which a draw is observed in less time; None if there is no such thing.
    """

    logdensity_fn: LogDensity
    conjugates: Conjugates | None = None
    standard: np.ndarray | None = None
    architecture: Architecture | None = None
    with_by_product: Callable[[jax.Array], tuple[jax.Array, Tree]] | None = None

    def evaluate(self, position: jax.Array) -> tuple[jax.Array, Tree]:
        """Return the log density at a position, and its by-product: an empty tuple for none."""
        if self.with_by_product is None:
            return self.logdensity_fn(position), ()
        return self.with_by_product(position)


class State(NamedTuple):
    """State of a chain: position (parameter,), its log density and gradient.

    A kernel that needs more has a separate state type, with at least `position` and `logdensity`.
    Its `by_product`, if it has one, is that of the log density there.
    """

    position: jax.Array
    logdensity: jax.Array
    logdensity_grad: jax.Array


class PointState(NamedTuple):
    """Position (parameter,) and its log density, for kernels that need no gradient."""

    position: jax.Array
    logdensity: jax.Array


class Tuned(NamedTuple):
    """The tuned values of a kernel, frozen before the first draw.

    The inverse mass matrix is its diagonal (parameter,), dense (parameter, parameter), or
    BlackJAX's low-rank form. A kernel that learns more has a separate record, with at least
    `step_size`.
    """

    step_size: jax.Array
    inverse_mass_matrix: Tree


class Info(NamedTuple):
    """Facts of one step for the diagnostics, each a scalar.

    `energy` is the Hamiltonian of the new state, from which E-BFMI is computed; it is NaN for
    kernels without a Gaussian momentum. `num_integration_steps` counts the evaluations of the
    density or its gradient; `tree_depth` counts doublings and is 0 for kernels without a tree.
    `extra` holds values of single kernels, by name.
    """

    acceptance_rate: jax.Array
    energy: jax.Array
    is_divergent: jax.Array
    num_integration_steps: jax.Array
    tree_depth: jax.Array
    step_size: jax.Array
    extra: dict[str, jax.Array] = {}


class Kernel(NamedTuple):
    """A Markov kernel that leaves exp(log density) invariant.

    `init(position)` gives a state; `step(key, state, tuned)` gives the next state and its info.
    `exact` is true if the target is left invariant without approximation.
    """

    init: Callable[[jax.Array], Tree]
    step: Callable[[jax.Array, Tree, Tree], tuple[Tree, Info]]
    exact: bool


def init_with_gradient(logdensity_fn: LogDensity) -> Callable[[jax.Array], State]:
    """Build the `init` of a gradient-based kernel."""
    import jax

    def init(position: jax.Array) -> State:
        return State(position, *jax.value_and_grad(logdensity_fn)(position))

    return init
