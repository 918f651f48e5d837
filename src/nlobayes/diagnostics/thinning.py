"""Thinning of chains: its loss of information and its saving in size."""

from collections.abc import Callable
from math import ceil

import numpy as np

from nlobayes.diagnostics.autocorrelation import autocorrelation, initial_monotone_sequence
from nlobayes.diagnostics.convergence import FEWEST_DRAWS, ess_bulk
from nlobayes.errors import InputError
from nlobayes.types import Columns

Score = Callable[[np.ndarray], dict[str, float]]
"""Scores draws (sample, point): gives at least `rmse`, `crps` and `lppd` of their predictive."""

SCORES = ("rmse", "crps", "lppd")
STORAGE_LOSS = 0.1
"""Share of the ESS that stored draws may lose."""
FEWEST_STORED = 100
"""Draws of a chain that are stored where their time is long."""


def kept_ess_share(sequence: np.ndarray, step: int, *, stored_every: int = 1) -> np.ndarray:
    """Compute the share of the ESS that remains when only every `step`-th draw is kept.

    With the integrated time of every s-th draw, tau_s = 1 + 2 Σ_{j>0} rho(s j), the share is
    tau_1 / (s tau_s).

    Raises InputError if the steps are not positive or not multiples.

    Parameters
    ----------
    sequence
        Autocorrelation of all draws without its noise, axes (lag, ...), as
        `initial_monotone_sequence` gives it.
    step
        Draws from one kept draw to the next, a multiple of `stored_every`.
    stored_every
        The ESS is compared with that of every `stored_every`-th draw.

    Returns
    -------
    Axes (...), at most 1: leaving out draws of a reversible chain cannot increase the ESS.
    """
    if not (stored_every >= 1 and step >= stored_every and step % stored_every == 0):
        raise InputError("diagnostics.step_no_multiple", stored_every=stored_every, step=step)
    share = stored_every * _time(sequence, stored_every) / (step * _time(sequence, step))
    return np.asarray(np.minimum(share, 1.0))


def choose_step(draws: np.ndarray, *, thin: int, loss: float) -> int:
    """Choose the largest thinning step that gives up no more than a share `loss` of the ESS.

    Measured by the median `kept_ess_share` over the quantities, relative to the stored draws. Steps
    grow from one stored draw to the next until one loses more, or fewer than 8 draws of a chain
    would remain.

    Raises InputError if the loss or the stride is outside its limits, or draws are too few or not
    finite.

    Parameters
    ----------
    draws
        Every draw, axes (chain, draw, quantity).
    thin
        Storage stride: every n-th draw was stored.
    loss
        Largest share of the ESS to give up, at least 0 and below 1.

    Returns
    -------
    Draws from one kept draw to the next: a multiple of `thin`, at least once.
    """
    if not (0 <= loss < 1 and 1 <= thin <= draws.shape[1]):
        raise InputError("diagnostics.loss_or_stride", draws=draws.shape[1], loss=loss, thin=thin)
    rho = initial_monotone_sequence(autocorrelation(draws))
    chosen, last = thin, draws.shape[1] // FEWEST_DRAWS
    for step in range(2 * thin, last + 1, thin):
        if np.median(kept_ess_share(rho, step, stored_every=thin)) < 1 - loss:
            break
        chosen = step
    return int(chosen)


def storage_stride(draws: np.ndarray, *, most: int) -> int:
    """Choose the distance of stored draws as `choose_step` does for a loss of 10 %, within limits.

    Raises InputError if draws are too few or not finite.

    Parameters
    ----------
    draws
        Every draw, axes (chain, draw, quantity).
    most
        Most stored draws of all chains, whatever the loss. A chain that has 100 draws stores at
        least 100 within this limit, because the time of one that does not mix is not known.

    Returns
    -------
    Draws from one stored draw to the next.
    """
    chains, drawn, _ = draws.shape
    independent = min(choose_step(draws, thin=1, loss=STORAGE_LOSS), drawn // FEWEST_STORED)
    return max(1, independent, ceil(chains * drawn / most))


def thinning_table(
    function: np.ndarray,
    score: Score,
    *,
    thin: int,
    chosen: int,
    bytes_per_draw: int,
    of_chains: bool = True,
) -> Columns:
    """Tabulate cost and saving of thinning by one, two, four … times the storage stride.

    Raises InputError if fewer than 8 draws of a chain are stored or chosen, or one is not finite.

    Parameters
    ----------
    function
        Predictions at every draw, axes (chain, draw, reference_point).
    score
        Scores of the predictive that draws (sample, reference_point) form.
    thin
        Storage stride; it gets a row, which is marked, after that of all draws.
    chosen
        Step in use; it gets a row of its own and is marked.
    bytes_per_draw
        Size of one stored draw.
    of_chains
        Whether draws follow each other in chains. Others have one row, without an ESS.

    Returns
    -------
    `step` in draws, the first 1; `draws` of all chains, `ess_f_median` as measured, `ess_share`
    expected from the autocorrelation relative to all draws, `rmse`, `crps`, `lppd`, `megabytes`,
    `stored`, `chosen`.
    """
    steps, ess, shares = [1], [np.nan], [np.nan]
    if of_chains:
        steps = _steps(function.shape[1], thin, chosen)
        rho = initial_monotone_sequence(autocorrelation(function))
        shares = [float(np.median(kept_ess_share(rho, step))) for step in steps]
    thinned = [function[:, step - 1 :: step] for step in steps]
    if of_chains:
        ess = [float(np.median(ess_bulk(kept))) for kept in thinned]
    draws = np.array([kept.shape[0] * kept.shape[1] for kept in thinned])
    scores = [score(kept.reshape(-1, kept.shape[2])) for kept in thinned]
    return {
        "step": np.array(steps),
        "draws": draws,
        "ess_f_median": np.array(ess),
        "ess_share": np.array(shares),
        **{name: np.array([found[name] for found in scores]) for name in SCORES},
        "megabytes": draws * bytes_per_draw / 1e6,
        "stored": np.array(steps) == thin,
        "chosen": np.array(steps) == chosen,
    }


def _steps(drawn: int, thin: int, chosen: int) -> list[int]:
    """Double the stride as long as enough draws remain, and add 1 and the chosen step."""
    if drawn // thin < FEWEST_DRAWS:
        raise InputError("diagnostics.few_stored_draws", fewest=FEWEST_DRAWS, stored=drawn // thin)
    if chosen < 1 or chosen % thin or drawn // chosen < FEWEST_DRAWS:
        raise InputError(
            "diagnostics.chosen_step", thin=thin, fewest=FEWEST_DRAWS, draws=drawn, step=chosen
        )
    doublings = int(np.log2(drawn // thin // FEWEST_DRAWS))
    return sorted({1, chosen, *(thin * 2**power for power in range(doublings + 1))})


def _time(sequence: np.ndarray, step: int) -> np.ndarray:
    """Integrated time of every `step`-th draw, kept positive as `integrated_time` does."""
    shortest = 1 / np.log10(max(10, len(sequence)))
    return np.maximum(2 * sequence[::step].sum(axis=0) - 1, shortest)
