"""Running and evolution against independent integration, and conservation laws."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nlobayes.physics.evolution import Loops, coupling, evolve, input_moments
from nlobayes.physics.mellin import CONTOUR, invert
from nlobayes.physics.pdf import MSTW2008_NLO, InputDistributions
from nlobayes.physics.splitting import leading_order, next_to_leading_order
from tests.les_houches import LES_HOUCHES_TOY
from tests.refusals import refused

INPUTS = pytest.mark.parametrize("inputs", [MSTW2008_NLO, LES_HOUCHES_TOY], ids=["mstw", "toy"])
LOOPS = pytest.mark.parametrize("loops", [1, 2])
SCALES = np.array([900.0, 1e4, 7e7])


def _slope(a: float, flavours: int, loops: int) -> float:
    return -(11 - 2 * flavours / 3) * a**2 - (loops - 1) * (102 - 38 * flavours / 3) * a**3


@LOOPS
def test_coupling_solves_the_running_through_both_thresholds(loops: Loops) -> None:
    inputs = MSTW2008_NLO
    path = [inputs.alpha_s_scale_gev2, inputs.bottom_scale_gev2, inputs.charm_scale_gev2, 1.0]
    a = np.array([inputs.alpha_s / (4 * np.pi)])
    for flavours, start, end in zip((5, 4, 3), path[:-1], path[1:], strict=True):
        span = (np.log(start), np.log(end))
        solution = solve_ivp(
            lambda _, y, nf=flavours: _slope(y, nf, loops), span, a, rtol=1e-11, atol=1e-14
        )
        a = solution.y[:, -1]
        np.testing.assert_allclose(coupling(inputs, np.array([end]), loops), a, rtol=1e-8)


@LOOPS
def test_coupling_at_its_reference_scale_is_the_input(loops: Loops) -> None:
    a = coupling(LES_HOUCHES_TOY, np.array([2.0]), loops)
    np.testing.assert_allclose(4 * np.pi * a, 0.35, rtol=1e-12)


@LOOPS
def test_evolution_solves_the_dglap_equations(loops: Loops) -> None:
    """Toy input (4, then 5 flavours) at one complex moment against an adaptive integrator."""
    n, inputs = np.array([2.3 + 1.7j]), LES_HOUCHES_TOY
    start = input_moments(inputs, n)
    state = np.array([start.plus.sum(), start.gluon.item(), start.minus[0].item()])
    a = inputs.alpha_s / (4 * np.pi)
    for flavours, end in ((4, inputs.bottom_scale_gev2), (5, 1e4)):
        a_end = coupling(inputs, np.array([end]), loops).item()
        state = _integrate(state, (a, a_end), n, (flavours, loops))
        a = a_end
    evolved = evolve(inputs, np.array([1e4]), n, loops)
    ours = [evolved.plus.sum(), evolved.gluon.item(), evolved.minus[0].item()]
    np.testing.assert_allclose(ours, state, rtol=2e-4 if loops == 2 else 1e-8)


def _integrate(
    state: np.ndarray, a: tuple[float, float], n: np.ndarray, order: tuple[int, int]
) -> np.ndarray:
    flavours, loops = order
    kernels = [leading_order(n, flavours), next_to_leading_order(n, flavours)][:loops]

    def derivative(coupling_value: float, y: np.ndarray) -> np.ndarray:
        powers = [coupling_value ** (k + 1) for k in range(loops)]
        singlet = sum(p * k.singlet[..., 0] for p, k in zip(powers, kernels, strict=True))
        minus = sum(p * k.minus[0] for p, k in zip(powers, kernels, strict=True))
        return np.append(singlet @ y[:2], minus * y[2]) / _slope(coupling_value, flavours, loops)

    return solve_ivp(derivative, a, state, rtol=1e-10, atol=1e-13).y[:, -1]


@INPUTS
@LOOPS
def test_evolution_conserves_momentum(inputs: InputDistributions, loops: Loops) -> None:
    evolved = evolve(inputs, SCALES, np.array([2.0 + 0j]), loops)
    np.testing.assert_allclose(evolved.plus.sum(axis=0) + evolved.gluon, 1, atol=1e-4)


@INPUTS
@LOOPS
def test_evolution_conserves_quark_numbers(inputs: InputDistributions, loops: Loops) -> None:
    """The first moments as means over a circle around N = 1, where the gluon has a pole."""
    circle = 1 + 0.15 * np.exp(2j * np.pi * np.arange(64) / 64)
    numbers = evolve(inputs, SCALES, circle, loops).minus.mean(axis=-1)
    np.testing.assert_allclose(numbers, np.outer([2, 1, 0], np.ones(3)), atol=1e-4)


def test_heavy_quarks_are_absent_at_the_input_and_grow_with_the_scale() -> None:
    start = input_moments(MSTW2008_NLO, np.array([2.0 + 0j]))
    evolved = evolve(MSTW2008_NLO, SCALES, np.array([2.0 + 0j]), 2)
    np.testing.assert_array_equal(start.plus[3:], 0)
    assert np.all(np.diff(evolved.plus[3:, :, 0].real, axis=-1) > 0)
    assert np.all(evolved.plus[3] > evolved.plus[4])


def test_scales_are_evolved_independently() -> None:
    together = evolve(MSTW2008_NLO, SCALES, CONTOUR, 2).gluon[1]
    alone = evolve(MSTW2008_NLO, SCALES[1:2], CONTOUR, 2).gluon[0]
    x = np.array(0.1)
    assert invert(together, x) == pytest.approx(invert(alone, x), rel=1e-13)


@pytest.mark.parametrize("scale", [20.0, np.nan])
def test_scales_below_the_bottom_threshold_are_refused(scale: float) -> None:
    with refused("physics.scale_below_bottom", least=MSTW2008_NLO.bottom_scale_gev2):
        evolve(MSTW2008_NLO, np.array([1e4, scale]), CONTOUR, 2)
