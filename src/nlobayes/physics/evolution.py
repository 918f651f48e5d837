"""Scale evolution of the coupling and of parton distributions with 3, 4 and 5 flavours.

LO or NLO DGLAP equations in moment space, with a_s = alpha_s / 4 pi. Coupling and distributions are
continuous at the thresholds of charm and bottom. Symbols: P_k are splitting moments; the beta_k are
defined by d a_s / d ln mu^2 = -beta_0 a_s^2 - beta_1 a_s^3.
"""

from typing import Literal, NamedTuple

import numpy as np
from scipy.special import lambertw

from nlobayes.errors import InputError
from nlobayes.physics.pdf import InputDistributions, shape_moments
from nlobayes.physics.splitting import leading_order, next_to_leading_order

Loops = Literal[1, 2]

_STEPS_PER_REGION = 6


class Distributions(NamedTuple):
    """Moments of parton distributions at several scales.

    `minus` is q - qbar of (u, d, s), shape (3, scale, node); `plus` is q + qbar of
    (u, d, s, c, b), shape (5, scale, node); `gluon` has shape (scale, node).
    """

    minus: np.ndarray
    plus: np.ndarray
    gluon: np.ndarray


def coupling(inputs: InputDistributions, scale_gev2: np.ndarray, loops: Loops) -> np.ndarray:
    """Return a_s at each scale in GeV^2, run exactly at 1 or 2 loops from the input value."""
    thresholds = (0.0, inputs.charm_scale_gev2, inputs.bottom_scale_gev2, np.inf)
    regions = [(3 + k, thresholds[k], thresholds[k + 1]) for k in range(3)]
    a = np.full(np.shape(scale_gev2), inputs.alpha_s / (4 * np.pi))
    for upwards, ordered in ((True, regions), (False, regions[::-1])):
        for flavours, low, high in ordered:
            start = np.clip(inputs.alpha_s_scale_gev2, low, high)
            log_ratio = np.log(np.clip(scale_gev2, low, high) / start)
            log_ratio = np.maximum(log_ratio, 0) if upwards else np.minimum(log_ratio, 0)
            a = _run(a, log_ratio, *_beta_coefficients(flavours, loops))
    return a


def evolve(
    inputs: InputDistributions, scale_gev2: np.ndarray, n: np.ndarray, loops: Loops
) -> Distributions:
    """Evolve the input distributions to every scale.

    Raises InputError if a scale lies below the bottom threshold.

    Parameters
    ----------
    scale_gev2
        Squared scales, shape (scale,), none below the bottom threshold.
    n
        Complex moments, shape (node,).
    loops
        1 for LO, 2 for NLO evolution and coupling.
    """
    if not np.min(scale_gev2) >= inputs.bottom_scale_gev2:
        raise InputError(
            "physics.scale_below_bottom",
            least=inputs.bottom_scale_gev2,
            received=np.min(scale_gev2),
        )
    state = input_moments(inputs, n)
    starts = (inputs.input_scale_gev2, inputs.charm_scale_gev2, inputs.bottom_scale_gev2)
    a = [coupling(inputs, np.array([start]), loops) for start in starts]
    a.append(coupling(inputs, scale_gev2, loops))
    for k, flavours in enumerate((3, 4, 5)):
        state = _evolve_region(state, (a[k], a[k + 1]), n, flavours=flavours, loops=loops)
    return state


def input_moments(inputs: InputDistributions, n: np.ndarray) -> Distributions:
    """Return the moments at the input scale, with one scale and no heavy quarks."""
    absent = ((), ())
    return Distributions(
        np.stack([shape_moments(shape, n)[None] for shape in inputs.minus]),
        np.stack([shape_moments(shape, n)[None] for shape in inputs.plus + absent]),
        shape_moments(inputs.gluon, n)[None],
    )


def _beta_coefficients(flavours: int, loops: Loops) -> tuple[float, float]:
    return 11 - 2 / 3 * flavours, (102 - 38 / 3 * flavours) * (loops - 1)


def _run(a: np.ndarray, log_ratio: np.ndarray, beta_0: float, beta_1: float) -> np.ndarray:
    """Solve the running over ln(mu^2 / mu_0^2) in closed form.

    At two loops y = 1 + beta_0 / (beta_1 a) obeys y - ln y = linear in ln mu^2, which the lower
    branch of Lambert's W inverts.
    """
    if beta_1 == 0:
        return a / (1 + beta_0 * a * log_ratio)
    y = 1 + beta_0 / (beta_1 * a)
    target = y - np.log(y) + beta_0**2 / beta_1 * log_ratio
    y = -lambertw(-np.exp(-target), k=-1).real
    return beta_0 / (beta_1 * (y - 1))


def _evolve_region(
    state: Distributions,
    a: tuple[np.ndarray, np.ndarray],
    n: np.ndarray,
    *,
    flavours: int,
    loops: Loops,
) -> Distributions:
    """Evolve from a[0] to a[1] at fixed flavour number, stepping evenly in ln a_s."""
    orders = [leading_order(n, flavours), next_to_leading_order(n, flavours)][:loops]
    weights = _step_weights(a, *_beta_coefficients(flavours, loops))
    total = weights.sum(axis=0)
    quarks = state.plus[:flavours].sum(axis=0)
    differences = state.plus[:flavours] - quarks / flavours
    differences = differences * np.exp(_exponent(total, [order.plus for order in orders]))
    gluon = state.gluon
    for weight in weights:
        generator = _exponent(weight, [order.singlet for order in orders])
        quarks, gluon = _apply_exponential(generator, quarks, gluon)
    heavier = np.zeros((5 - flavours, *quarks.shape))
    minus = state.minus * np.exp(_exponent(total, [order.minus for order in orders]))
    return Distributions(minus, np.concatenate([differences + quarks / flavours, heavier]), gluon)


def _step_weights(a: tuple[np.ndarray, np.ndarray], beta_0: float, beta_1: float) -> np.ndarray:
    """Return weights of (P0, P1) at the geometric-mean coupling per step, (step, 2, scale, 1)."""
    log_step = np.log(a[0] / a[1])[:, None] / _STEPS_PER_REGION
    step = np.arange(_STEPS_PER_REGION)[:, None, None]
    middle = a[0][:, None] * np.exp(-(step + 0.5) * log_step)
    weight = log_step / (beta_0 + beta_1 * middle)
    return np.stack([weight, weight * middle], axis=1)


def _exponent(weight: np.ndarray, orders: list[np.ndarray]) -> np.ndarray:
    """Return Σ_k weight_k P_k, with the scale axis before the node axis."""
    return sum(w * order[..., None, :] for w, order in zip(weight, orders, strict=False))


def _apply_exponential(
    matrix: np.ndarray, quarks: np.ndarray, gluon: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Multiply (quarks, gluon) by exp(matrix), for 2 x 2 matrices (2, 2, scale, node)."""
    (qq, qg), (gq, gg) = matrix
    half = (qq - gg) / 2
    root = np.sqrt(half**2 + qg * gq)
    scale, even, odd = np.exp((qq + gg) / 2), np.cosh(root), np.sinc(1j * root / np.pi)
    return (
        scale * (even * quarks + odd * (half * quarks + qg * gluon)),
        scale * (even * gluon + odd * (gq * quarks - half * gluon)),
    )
