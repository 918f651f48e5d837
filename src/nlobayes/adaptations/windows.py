"""Window warm-up: tunes step size by dual averaging, mass matrix by windows; freezes both."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from nlobayes.adaptations import WarmupSettings
from nlobayes.errors import InputError
from nlobayes.inference.adaptation import Adaptation, Untuned, independent
from nlobayes.inference.kernel import Info, Tuned
from nlobayes.settings.values import Fraction, Frozen, Positive, PositiveInt

if TYPE_CHECKING:
    import jax

    from nlobayes.inference.windows import Carry

FEWEST_ADAPTING_STEPS = 20
"""Fewest adapting steps that learn a mass matrix."""


class DualAveraging(Frozen):
    """Constants of dual averaging, as Hoffman and Gelman (2014), section 3.2, name them.

    If the step size varies too much after a short window, `{gamma: 0.3, mu_over_start: 1}` varies
    less.
    """

    gamma: Positive = 0.05
    """Damping: a larger value makes the step size follow the errors of the acceptance less."""
    t0: Annotated[int, Field(ge=0, le=1_000_000)] = 10
    """Offset that reduces the weight of the first steps."""
    kappa: Annotated[float, Field(gt=0.5, le=1)] = 0.75
    """Exponent of the average: a smaller value forgets the first step sizes faster."""
    mu_over_start: Positive = 10.0
    """Step size towards which it shrinks (mu is its logarithm), over the initial step size."""


class WindowWarmup(WarmupSettings):
    """Step size by dual averaging, mass matrix in Stan's windows."""

    kind: Literal["windows"] = "windows"
    mass_matrix: Literal["diagonal", "dense", "low_rank", "gauss_newton", "identity"] = "diagonal"
    """Learn the diagonal or the full matrix from draws, a diagonal with a low-rank correction,
    or the full matrix from the curvature along the chain; or keep the identity. `gauss_newton`, for
    up to 4000 parameters, is several times better per second at small tolerances, with a target
    acceptance of 0.98."""
    target_acceptance: Fraction = 0.7
    """Target of dual averaging for the mean acceptance; the result is above it."""
    last_window: PositiveInt = 50
    """Steps at the end of the adaptation that learn the step size alone."""

    dual_averaging: DualAveraging = DualAveraging()
    """Constants of dual averaging."""

    @model_validator(mode="after")
    def _has_room_for_windows(self) -> WindowWarmup:
        if self.mass_matrix != "identity" and self.adapting < FEWEST_ADAPTING_STEPS:
            raise InputError(
                "study.no_window",
                steps=self.adapting,
                mass_matrix=self.mass_matrix,
                fewest=FEWEST_ADAPTING_STEPS,
            )
        return self

    @property
    def form_of_mass_matrix(self) -> str:
        """Form of the mass matrix that it learns or keeps."""
        return self.mass_matrix

    def matrix_numbers(self, weights: int, train: int) -> int:
        """Count the numbers of the mass matrix, and of the Jacobian if it is learned from one."""
        jacobian = weights * train if self.mass_matrix == "gauss_newton" else 0
        dense = self.mass_matrix in {"dense", "low_rank", "gauss_newton"}
        return jacobian + (weights**2 if dense else weights)

    def build(self, untuned: Untuned) -> Adaptation:
        """Build the warm-up of a kernel whose tuned record is `Tuned`.

        Raises InputError if the mass matrix is `gauss_newton` and the model has no curvature.
        """
        import jax
        import jax.numpy as jnp
        from blackjax.adaptation.step_size import dual_averaging_adaptation

        from nlobayes.inference import windows
        from nlobayes.inference.windows import FROZEN, Carry

        kernel, constants = untuned.kernel, self.dual_averaging
        schedule = windows.plan(
            self.steps,
            adaptation_share=self.adaptation_share,
            mass_matrix=self.mass_matrix,
            last_window=self.last_window,
        )
        core = windows.mass_matrix_core(self.mass_matrix, schedule, untuned.curvature)
        search = partial(windows.search_from, mu_over_start=constants.mu_over_start)
        averaging = dual_averaging_adaptation(
            self.target_acceptance, **constants.model_dump(exclude={"mu_over_start"})
        )
        update = windows.updates_of(core, averaging, search)
        stages, window_ends = jnp.asarray(schedule.stage), jnp.asarray(schedule.window_ends)

        def start(position: jax.Array) -> Carry:
            mass = core.init(position.size)
            step_size = jnp.asarray(self.initial_step_size, position.dtype)
            tuned = Tuned(step_size, mass.inverse_mass_matrix)
            return Carry(kernel.init(position), tuned, search(step_size), mass)

        def step(key: jax.Array, carry: Carry, index: jax.Array) -> tuple[Carry, Info]:
            # The first frozen step already has the averaged step size. Freezing again changes
            # nothing, so every frozen step does it, and no step needs to know whether it is first.
            stage = stages[index]
            carry = jax.lax.cond(stage == FROZEN, windows.freeze, lambda same: same, carry)
            state, info = kernel.step(key, carry.state, carry.tuned)
            carry = carry._replace(state=state)
            return update(carry, info.acceptance_rate, stage, window_ends[index]), info

        return independent(start, step, lambda carry: (carry.state, windows.freeze(carry).tuned))
