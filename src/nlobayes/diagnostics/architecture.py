"""Posterior of the sizes of a network, and the moves of chains between sizes.

Sizes are numbers of units or of layers in use, by their names in the model. Arrays have axes
(chain, draw); records of every jump of a draw have axes (chain, draw, jump).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nlobayes.diagnostics import convergence
from nlobayes.types import Columns
from nlobayes.untyped import Document

TRIED, ACCEPTANCE = "jumps_", "jump_acceptance_"
"""Prefixes of sample stats: the number of tries of each jump, and its acceptance."""
FROM, TO, PROBABILITY, ACCEPTED = "jump_from_", "jump_to_", "jump_probability", "jump_accepted"
"""Sample stats of every jump: numbers before and proposed, its probability, and its acceptance."""
BETWEEN_SIZES = "between_sizes"
WITHIN = "acceptance_rate"
RANGE = (0.05, 0.95)
NO_VISITS: Columns = {
    "quantity": np.empty(0, str),
    **{name: np.empty(0, int) for name in ("from", "to", "visits", "tried")},
    "acceptance": np.empty(0),
}

Stats = Mapping[str, np.ndarray]


def architecture(sizes: Stats, parameters: np.ndarray, stats: Stats) -> Document:
    """Summarise the draws of the size of a network, and the jumps between sizes.

    Parameters
    ----------
    sizes
        The number at stored draws, of units or of layers, by name.
    parameters
        The number of parameters in use at the same draws.
    stats
        Sample stats of every draw, by name.

    Returns
    -------
    For each number, by name: the keys of `summarise_sizes`; `acceptance_within`, the acceptance of
    moves that change no size at each value, None where no draw has it; and `visits`, the columns of
    the function `visits`. Under `parameters` the keys of `summarise_number`; under `jumps` those of
    `summarise_jumps`.
    """
    found, led = summarise_sizes(sizes), visits(stats)
    for name in numbers_that_jump(stats):
        accepted, own = acceptance_within(stats, name), led["quantity"] == name
        found[name]["acceptance_within"] = [accepted.get(k) for k in found[name]["number"]]
        found[name]["visits"] = {
            column: [_finite(value) for value in values[own].tolist()]
            for column, values in led.items()
            if column != "quantity"
        }
    return {**found, "parameters": summarise_number(parameters), "jumps": summarise_jumps(stats)}


def summarise_sizes(sizes: Stats) -> dict[str, Document]:
    """Return the posterior of each number, with its Monte-Carlo error.

    Parameters
    ----------
    sizes
        The number at stored draws, of units or of layers, by name.

    Returns
    -------
    By name, lists of equal length: every drawn `number`, its `probability`, and the Monte-Carlo
    standard error `mcse` of the probability, None where no chain entered and left it; and the keys
    of `summarise_number`.
    """
    found = {}
    for name, drawn in sizes.items():
        numbers = np.unique(drawn)
        indicators = (drawn[..., np.newaxis] == numbers).astype(float)
        enough = _is_testable(drawn)
        errors = convergence.mcse_mean(indicators) if enough else [np.inf] * len(numbers)
        found[name] = {
            "number": numbers.tolist(),
            "probability": indicators.mean(axis=(0, 1)).tolist(),
            "mcse": [_finite(error) for error in errors],
            **summarise_number(drawn),
        }
    return found


def summarise_number(drawn: np.ndarray) -> dict[str, float | None]:
    """Summarise an integer per stored draw, with the agreement of the chains.

    Returns `mode`, the most frequent number, the smallest if there are several; `low_90` and
    `high_90`, the 5 % and 95 % quantiles; `rhat` and `ess_bulk` as in `convergence`. R-hat is None
    if it is infinite, as for chains that never moved. Both are None if all draws are equal.
    """
    numbers, counts = np.unique(drawn, return_counts=True)
    low, high = np.quantile(drawn, RANGE, method="inverted_cdf")
    rhat = rhat_of_sizes({"": drawn})
    effective = None if rhat is None else float(convergence.ess_bulk(drawn[..., np.newaxis])[0])
    return {
        "mode": float(numbers[np.argmax(counts)]),
        "low_90": float(low),
        "high_90": float(high),
        "rhat": None if rhat is None else _finite(rhat),
        "ess_bulk": effective,
    }


def rhat_of_sizes(sizes: Stats) -> float | None:
    """Return the largest R-hat of numbers at stored draws; infinite if they differ and never move.

    A number that is equal in all draws is left out, and so are too few draws.
    """
    found = [_rhat(drawn) for drawn in sizes.values() if np.ptp(drawn) > 0 and _is_testable(drawn)]
    return max(found, default=None)


def summarise_jumps(stats: Stats) -> Document:
    """Return the acceptance of each jump, and how often draws are at another size.

    Parameters
    ----------
    stats
        Sample stats of every draw, by name.

    Returns
    -------
    For each jump how often it was `tried` and its mean `acceptance`; under `between_sizes` the
    share of draws at another size than the one before: with another number in any layer.
    """
    tried = {name.removeprefix(TRIED): stats[name] for name in stats if name.startswith(TRIED)}
    jumps: Document = {}
    for name, counts in tried.items():
        accepted = np.nansum(counts * stats[ACCEPTANCE + name])
        total = int(counts.sum())
        acceptance = float(accepted / total) if total else None
        jumps[name] = {"tried": total, "acceptance": acceptance}
    sizes = np.stack([_at_draws(stats, name) for name in numbers_that_jump(stats)])
    changed = np.any(np.diff(sizes, axis=-1) != 0, axis=0)
    return {**jumps, BETWEEN_SIZES: float(np.mean(changed))}


def visits(stats: Stats) -> Columns:
    """Count how jumps led from number to number, with their acceptance.

    Parameters
    ----------
    stats
        Sample stats of every draw, by name.

    Returns
    -------
    A row for each `quantity` and each pair of numbers before and after a jump of it, made or
    proposed: `from`, `to`; `visits`, the jumps from one to the other, where a rejected proposal
    leads to the same number; `tried`, the proposed jumps; `acceptance`, their mean probability of
    acceptance, NaN if there are none. Jumps of other quantities do not count.
    """
    parts = [_visits(name, stats) for name in numbers_that_jump(stats)]
    return {
        name: np.concatenate([nothing, *(part[name] for part in parts)])
        for name, nothing in NO_VISITS.items()
    }


def numbers_that_jump(stats: Stats) -> list[str]:
    """Name the numbers that jumps change."""
    return [name.removeprefix(FROM) for name in stats if name.startswith(FROM)]


def acceptance_within(stats: Stats, name: str) -> dict[float, float]:
    """Return the mean acceptance of moves that change no size, for each value of a number."""
    number = _at_draws(stats, name)
    return {float(k): float(stats[WITHIN][number == k].mean()) for k in np.unique(number)}


def _at_draws(stats: Stats, name: str) -> np.ndarray:
    """Return a number at every draw (chain, draw): the one after its last jump."""
    before, proposed, accepted = (stats[key][..., -1] for key in (FROM + name, TO + name, ACCEPTED))
    return np.where(accepted, proposed, before)


def _visits(name: str, stats: Stats) -> Columns:
    """Count the jumps of one number; each is tried to another number than the one before."""
    own = stats[FROM + name] != stats[TO + name]
    before, proposed = stats[FROM + name][own], stats[TO + name][own]
    after = np.where(stats[ACCEPTED][own], proposed, before)
    pairs = np.unique(
        np.concatenate([np.stack([before, end], axis=1) for end in (proposed, after)]), axis=0
    )
    led = [(before == start) & (after == end) for start, end in pairs]
    tried = [(before == start) & (proposed == end) for start, end in pairs]
    probability = stats[PROBABILITY][own].astype(np.float64)
    return {
        "quantity": np.repeat(name, len(pairs)),
        "from": pairs[:, 0].astype(int),
        "to": pairs[:, 1].astype(int),
        "visits": np.array([np.sum(jumps) for jumps in led], int),
        "tried": np.array([np.sum(jumps) for jumps in tried], int),
        "acceptance": np.array(
            [probability[jumps].mean() if jumps.any() else np.nan for jumps in tried], np.float64
        ),
    }


def _is_testable(drawn: np.ndarray) -> bool:
    return drawn.shape[0] > 1 and drawn.shape[1] >= convergence.FEWEST_DRAWS


def _rhat(drawn: np.ndarray) -> float:
    return float(convergence.rhat(drawn[..., np.newaxis])[0])


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
