"""How long a chain remembers: autocorrelation, its integrated time, the thinning step."""

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from nlobayes.errors import InputError

_FEWEST_DRAWS = 4


def autocorrelation(draws: np.ndarray) -> np.ndarray:
    """Estimate the autocorrelation function within chains, averaged over chains.

    Every chain is centred on its own mean, so chains that disagree do not lengthen the memory:
    disagreement is the business of R-hat. A quantity that never moves has correlation 1 at
    every lag.

    Parameters
    ----------
    draws
        Draws with axes (chain, draw, ...), at least 4 draws, all finite.

    Returns
    -------
    np.ndarray
        Axes (lag, ...), lags from 0 to draws - 1, in units of one step along the draw axis.

    Raises
    ------
    InputError
        If there are too few draws or one is not finite.
    """
    draws = np.asarray(draws, dtype=np.float64)
    if draws.ndim < 2 or draws.shape[1] < _FEWEST_DRAWS or not np.isfinite(draws).all():
        raise InputError(
            f"autocorrelation needs finite draws with axes (chain, draw, ...) and at least "
            f"{_FEWEST_DRAWS} draws, got shape {draws.shape}; draw more or drop the broken chain"
        )
    covariance = np.zeros_like(draws[0])
    for chain in draws:
        covariance += _autocovariance(chain)
    moves = np.ptp(draws, axis=1).any(axis=0)
    return np.where(moves, covariance / np.where(moves, covariance[0], 1.0), 1.0)


def integrated_time(draws: np.ndarray) -> np.ndarray:
    """Estimate the integrated autocorrelation time 1 + 2 Σ_{t>0} rho(t) of each quantity.

    The sum is cut by Geyer's initial monotone sequence: sums of neighbouring lags
    rho(2m) + rho(2m+1) of a reversible chain are positive and decrease, so it ends at the first
    pair that is not positive and no pair may exceed its predecessor. The result is at least
    1 / log10(number of draws), which bounds the estimate for antithetic chains.

    Parameters
    ----------
    draws
        Draws with axes (chain, draw, ...).

    Returns
    -------
    np.ndarray
        Axes (...): draws per independent draw, in units of one step along the draw axis;
        2 n - 1 for n draws of a quantity that never moves.

    Raises
    ------
    InputError
        If there are too few draws or one is not finite.

    References
    ----------
    C. J. Geyer, Practical Markov chain Monte Carlo, Statistical Science 7 (1992) 473, section 3.3.
    """
    rho = autocorrelation(draws)
    lags = len(rho)
    padded = np.concatenate([rho, np.zeros_like(rho[: lags % 2])])
    pairs = padded[0::2] + padded[1::2]
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    monotone = np.minimum.accumulate(pairs, axis=0)
    time = -1.0 + 2.0 * np.where(positive, monotone, 0.0).sum(axis=0)
    return np.maximum(time, 1.0 / np.log10(draws.shape[0] * draws.shape[1]))


def thinning_step(time: float, keep_every: int) -> int:
    """Choose how many draws apart two exported draws lie.

    The integrated time, rounded to the nearest multiple of the storage stride, and at least one
    stride: about as many draws remain as there are independent ones.

    Parameters
    ----------
    time
        Integrated autocorrelation time in draws, usually the median over reference points.
    keep_every
        Storage stride: every n-th draw was stored.

    Raises
    ------
    InputError
        If the time or the stride is not positive and finite.
    """
    if not (0 < time < np.inf and keep_every >= 1):
        raise InputError(
            f"thinning needs a positive finite time and a storage stride of at least 1, "
            f"got time {time} and stride {keep_every}"
        )
    return int(keep_every) * max(1, round(float(time) / keep_every))


def _autocovariance(chain: np.ndarray) -> np.ndarray:
    """Biased autocovariance along the first axis, zero-padded so that lags do not wrap."""
    draws = len(chain)
    length = next_fast_len(2 * draws, real=True)
    spectrum = rfft(chain - chain.mean(axis=0), length, axis=0)
    return irfft(np.abs(spectrum) ** 2, length, axis=0)[:draws] / draws
