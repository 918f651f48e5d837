"""Autocorrelation of chains, and the integrated autocorrelation time."""

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from nlobayes.errors import InputError

_FEWEST_DRAWS = 4


def autocorrelation(draws: np.ndarray) -> np.ndarray:
    """Estimate the autocorrelation function within chains, averaged over chains.

    Every chain is centred on its own mean, so differences between chains do not increase the
    correlation: R-hat measures them. A quantity that never moves has correlation 1 at every lag.

    Raises InputError if there are too few draws or one is not finite.

    Parameters
    ----------
    draws
        Draws with axes (chain, draw, ...), at least 4 draws, all finite.

    Returns
    -------
    Axes (lag, ...), lags from 0 to draws - 1, in units of one step along the draw axis.
    """
    draws = np.asarray(draws, dtype=np.float64)
    if draws.ndim < 2 or draws.shape[1] < _FEWEST_DRAWS or not np.isfinite(draws).all():
        raise InputError(
            "diagnostics.autocorrelation_draws", fewest=_FEWEST_DRAWS, shape=draws.shape
        )
    covariance = np.zeros_like(draws[0])
    for chain in draws:
        covariance += _autocovariance(chain)
    moves = np.ptp(draws, axis=1).any(axis=0)
    return np.where(moves, covariance / np.where(moves, covariance[0], 1.0), 1.0)


def mean_autocorrelation(draws: np.ndarray) -> np.ndarray:
    """Estimate the autocorrelation function of predictions, averaged over the inputs.

    The function of each input is normalised to 1 at lag 0 before the average, so that all inputs
    have the same weight.

    Raises InputError if there are too few draws or one is not finite.

    Parameters
    ----------
    draws
        Predictions, axes (chain, draw, input).

    Returns
    -------
    Axis (lag).

    References
    ----------
    B. Kronheim, M. P. Kuchera and H. B. Prosper, TensorBNN, arXiv:2009.14393, equation 12.
    """
    return autocorrelation(draws).mean(axis=1)


def integrated_time(draws: np.ndarray) -> np.ndarray:
    """Estimate the integrated autocorrelation time 1 + 2 Σ_{t>0} rho(t), cut as Geyer does.

    The sum runs over the `initial_monotone_sequence`. The result is at least
    1 / log10(number of draws), which bounds the estimate for antithetic chains.

    Raises InputError if there are too few draws or one is not finite.

    Parameters
    ----------
    draws
        Draws with axes (chain, draw, ...).

    Returns
    -------
    Axes (...): draws per independent draw, in units of one step along the draw axis; 2 n - 1 for n
    draws of a quantity that never moves.

    References
    ----------
    C. J. Geyer, Practical Markov chain Monte Carlo, Statistical Science 7 (1992) 473, section 3.3.
    """
    time = -1.0 + 2.0 * initial_monotone_sequence(autocorrelation(draws)).sum(axis=0)
    return np.maximum(time, _shortest_time(draws))


def sokal_time(draws: np.ndarray, c: float = 5.0) -> np.ndarray:
    """Estimate the integrated autocorrelation time 1 + 2 Σ_{0<t≤M} rho(t), cut as Sokal does.

    The window M is the smallest that is at least `c` times the sum up to M. This assumes only
    enough draws: fewer than about 50 times the result are too few.

    Raises InputError if `c` is not positive, there are too few draws or one is not finite.

    Parameters
    ----------
    draws
        Draws with axes (chain, draw, ...).
    c
        Width of the window in integrated times, positive; larger is noisier and less biased.

    Returns
    -------
    As `integrated_time`.

    References
    ----------
    A. Sokal, Monte Carlo Methods in Statistical Mechanics: Foundations and New Algorithms,
    Lausanne lectures (1989).
    """
    if not c > 0:
        raise InputError("diagnostics.window_width", width=c)
    times = 2.0 * np.cumsum(autocorrelation(draws), axis=0) - 1.0
    lags = np.arange(len(times)).reshape(-1, *[1] * (times.ndim - 1))
    wide = lags >= c * times
    wide[-1] = True
    window = np.argmax(wide, axis=0)[np.newaxis]
    return np.maximum(np.take_along_axis(times, window, axis=0)[0], _shortest_time(draws))


def initial_monotone_sequence(rho: np.ndarray) -> np.ndarray:
    """Set the noisy tail of an estimated autocorrelation function (lag, ...) to zero.

    Sums of neighbouring lags rho(2m) + rho(2m+1) of a reversible chain are positive and decrease.
    So the sequence ends at the first pair that is not positive, and a pair that exceeds its
    predecessor is scaled down to it.

    References
    ----------
    C. J. Geyer, Practical Markov chain Monte Carlo, Statistical Science 7 (1992) 473, section 3.3.
    """
    lags = len(rho)
    padded = np.concatenate([rho, np.zeros_like(rho[: lags % 2])])
    pairs = padded[0::2] + padded[1::2]
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    monotone = np.minimum.accumulate(pairs, axis=0)
    scale = np.divide(monotone, pairs, out=np.zeros_like(pairs), where=positive)
    return rho * np.repeat(scale, 2, axis=0)[:lags]


def _shortest_time(draws: np.ndarray) -> float:
    return float(1.0 / np.log10(draws.shape[0] * draws.shape[1]))


def _autocovariance(chain: np.ndarray) -> np.ndarray:
    """Biased autocovariance along the first axis, zero-padded so that lags do not wrap."""
    draws = len(chain)
    length = next_fast_len(2 * draws, real=True)
    spectrum = rfft(chain - chain.mean(axis=0), length, axis=0)
    return irfft(np.abs(spectrum) ** 2, length, axis=0)[:draws] / draws
