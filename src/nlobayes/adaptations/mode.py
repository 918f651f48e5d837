"""The warm-up of independent proposals: a Student-t at the mode near the start of a chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from nlobayes.adaptations import WarmupSettings
from nlobayes.inference.adaptation import Adaptation, Untuned, independent
from nlobayes.inference.kernel import Info

if TYPE_CHECKING:
    import jax

    from nlobayes.inference.proposals import StudentT


class _Carry(NamedTuple):
    """State of a chain, and the proposals that were fitted at its start."""

    state: Any
    tuned: StudentT


class ModeWarmup(WarmupSettings):
    """Fit of the proposals at the mode, then burn-in with them.

    The mode is found from the start of the chain by Newton's method, so that chains that start in
    different modes have different proposals, and R-hat shows it.
    """

    kind: Literal["mode"] = "mode"

    @property
    def form_of_mass_matrix(self) -> str:
        """Form of the matrix that it learns."""
        return "dense"

    def matrix_numbers(self, weights: int, train: int) -> int:
        """Count the numbers of the axes."""
        del train
        return weights**2

    def build(self, untuned: Untuned) -> Adaptation:
        """Build the warm-up of the kernel `independence`."""
        from nlobayes.inference.proposals import fit_at_mode

        kernel = untuned.kernel

        def start(position: jax.Array) -> _Carry:
            tuned = fit_at_mode(lambda q: kernel.init(q).logdensity, position)
            return _Carry(kernel.init(tuned.mode), tuned)

        def step(key: jax.Array, carry: _Carry, index: jax.Array) -> tuple[_Carry, Info]:
            del index
            state, info = kernel.step(key, carry.state, carry.tuned)
            return carry._replace(state=state), info

        def finish(carry: _Carry) -> tuple[Any, StudentT]:
            return carry.state, carry.tuned

        return independent(start, step, finish)
