"""Next steps for each check that can fail. All advice to users is defined here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from nlobayes.checks import AGREEMENT, OF_TARGET, CalibrationName, ChainCheck, WeightCheck
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.diagnostics.tightness import TIGHT

MANY_FULL_TREES = 0.1
"""Share of draws at the largest tree depth above which a larger one is advised."""


class Step(NamedTuple):
    """A step to take, and its condition on the diagnostics; `{key}` in the text is a value of them.

    `alone` is the text for runs whose logs, figures and chains are not kept, where it differs.
    """

    text: str
    applies: Callable[[Diagnostics], bool] = lambda _: True
    alone: str | None = None


def _is_tight(found: Diagnostics) -> bool:
    return not found.get("converged") and (found.get("tightness") or 0.0) > TIGHT


def _are_short(found: Diagnostics) -> bool:
    more: float | None = found.get("more_draws")
    return more is not None


def _fills_its_trees(found: Diagnostics) -> bool:
    return (found.get("max_depth_share") or 0.0) > MANY_FULL_TREES


MOVE = Step(
    "Chains {still_chains_at} stand still: lengthen their warm-up (warmup.steps) or lower its "
    "initial_step_size; logs/warmup has step size and acceptance.",
    alone="Chains {still_chains_at} stand still: lengthen their warm-up (warmup.steps of the "
    "method) or lower its initial_step_size.",
)
LOOSEN = Step(
    "Take a larger tolerance (likelihood) or fewer train rows: tau is {tightness:.2g}, and above "
    f"{TIGHT:.0e} chains often stay in different modes. At most 4e5 is known to converge for a "
    "target itself, and 8e5 for a ratio.",
    _is_tight,
    alone="Take recipe plain, a larger tolerance (likelihood) or fewer train rows: tau is "
    f"{{tightness:.2g}}, and above {TIGHT:.0e} chains often stay in different modes.",
)
DEEPEN = Step(
    "Raise max_depth of the kernel: {max_depth_share:.0%} of its trees end there.", _fills_its_trees
)
DRAW_TIMES = Step(
    "Draw {more_draws:.2g} times as many: the chains are too short to show that they agree, and "
    "converged chains of so few effective draws have such an R-hat.",
    _are_short,
)
DRAW_MORE = Step(
    "Draw more: raise segments of the method, or give it until; what is drawn is kept.",
    alone="Draw more: raise segments of the method, or give it until; all chains are drawn again.",
)
JUMP_MORE = Step(
    "Raise jumps of the kernel: the chains disagree about the size of the network; figure visits "
    "shows which jumps are accepted.",
    alone="Raise jumps of the kernel: the chains disagree about the size of the network.",
)
FOLLOW_CURVATURE = Step(
    "Take method hmc_gauss_newton: its mass matrix follows the stiff directions."
)
SMALLER_STEPS = Step("Take smaller steps: raise target_acceptance of the warm-up, to 0.9 or above.")
FREE_ENERGY = Step(
    "Lengthen the warm-up (warmup.steps); where a prior learns its scales, take method gibbs_hmc."
)
SMALLER_ERROR = Step("Lower energy_variance of the warm-up, or take an exact kernel, such as hmc.")
SAMPLE = Step("Sample that prior or likelihood itself: the weights of these draws cannot reach it.")
MORE_VALIDATION = Step(
    "Give the split more validation rows: error bars are fitted to them (datasets.*.split).",
    alone="Give more rows, or a larger share of them to the validation split: error bars are "
    "fitted to it.",
)
OTHER_NOISE = Step(
    "Try another family of noise (evaluation.default.noise); figures levels, pit and conditional "
    "show where error bars are off.",
    alone="Try another family of noise (noise of the estimator, or of the evaluation of a study).",
)
OTHER_CLASSES = Step(
    "Give more train rows or another prior; figure reliability shows which probabilities are off.",
    alone="Give more train rows or another prior.",
)

ADVICE: dict[ChainCheck | WeightCheck | CalibrationName, tuple[Step, ...]] = {
    "still_chains": (MOVE,),
    "divergences": (SMALLER_STEPS, FOLLOW_CURVATURE),
    **dict.fromkeys(AGREEMENT, (DRAW_TIMES, LOOSEN, DEEPEN, DRAW_MORE, FOLLOW_CURVATURE)),
    "rhat_size": (JUMP_MORE, DRAW_MORE),
    "ebfmi_min": (FREE_ENERGY,),
    "energy_variance": (SMALLER_ERROR,),
    "pareto_k": (SAMPLE,),
    "weights_ess": (SAMPLE,),
    "chi2_per_point": (MORE_VALIDATION, OTHER_NOISE),
    "coverage_68": (MORE_VALIDATION, OTHER_NOISE),
    "coverage_95": (MORE_VALIDATION, OTHER_NOISE),
    "pit_ecdf": (MORE_VALIDATION, OTHER_NOISE),
    "ece": (OTHER_CLASSES,),
}
"""Steps for each check that can fail, the most urgent check and the most likely step first."""


def next_steps(failed: Iterable[str], found: Diagnostics, *, kept_files: bool = True) -> list[str]:
    """Return the next steps, each once.

    Parameters
    ----------
    failed
        Names of the checks that failed, of convergence and of calibration; for one of several
        targets, `{check} of {target}`.
    found
        Diagnostics of the run.
    kept_files
        Whether its logs, figures and chains are kept, as the workflow keeps them.
    """
    names = {name.partition(OF_TARGET)[0] for name in failed}
    steps = (step for name, steps in ADVICE.items() if name in names for step in steps)
    texts = (
        step.text if kept_files or step.alone is None else step.alone
        for step in steps
        if step.applies(found)
    )
    return list(dict.fromkeys(text.format_map(_shown(found)) for text in texts))


def _shown(found: Diagnostics) -> dict[str, object]:
    still = found.get("still_chains_at") or []
    return {**found, "still_chains_at": ", ".join(map(str, still)) or "of this run"}
