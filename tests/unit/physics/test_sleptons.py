"""Sleptons and sneutrinos: processes, amplitudes by explicit spinors, limits and refusals."""

from typing import Any

import numpy as np
import pytest

from nlobayes.physics.couplings import DOWN_TYPE, SCHEMES, UP_TYPE, Quark
from nlobayes.physics.hadronic import of_process
from nlobayes.physics.partonic import born_cross_sections, pair_at
from nlobayes.physics.processes import (
    SLEPTONS,
    Process,
    charge_of,
    make_process,
    name_of,
    processes,
)
from tests.born import born_cross_section
from tests.refusals import refused

ALPHA, SIN2 = SCHEMES["alpha_mz"]
E = np.sqrt(4 * np.pi * ALPHA)
G = E / np.sqrt(SIN2)
Z_MASS, Z_WIDTH, W_MASS, W_WIDTH = 91.1876, 2.4952, 80.379, 2.085
OF_SLEPTONS = [process for process in processes() if process.of_sleptons]
COSINES, WEIGHTS = np.polynomial.legendre.leggauss(4)
SIGMA = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])


def named_columns(angle: float = 0.7) -> dict[str, float]:
    """Different masses for all sleptons, and staus that mix by an angle."""
    cos, sin = np.cos(angle), np.sin(angle)
    masses = {f"mass_{slepton}": 90.0 + 37 * k for k, slepton in enumerate(SLEPTONS)}
    return masses | {"left_1000015": float(cos**2), "left_2000015": float(sin**2)}


def row_of(particle: int, named: dict[str, float]) -> np.ndarray:
    """Left and right components."""
    if abs(particle) in (1000015, 2000015):
        left = np.sqrt(named[f"left_{abs(particle)}"])
        right = np.sqrt(1 - left**2)
        return np.array([left, right if abs(particle) == 1000015 else -right])
    return np.array([0.0, 1.0]) if abs(particle) > 2000000 else np.array([1.0, 0.0])


def current(momentum: np.ndarray, energy: float) -> dict[str, complex]:
    """Contract vbar gamma^mu u of massless quarks along +z and -z with a momentum, by chirality.

    With two-component spinors: a left quark has helicity -1/2 and its antiquark +1/2.
    """
    found = {}
    for chirality, sign in (("left", -1), ("right", 1)):
        quark = np.array([0, 1]) if chirality == "left" else np.array([1, 0])
        antiquark = np.array([1, 0]) if chirality == "left" else np.array([0, 1])
        slashed = momentum[0] * SIGMA[0] - sign * sum(momentum[k] * SIGMA[k] for k in (1, 2, 3))
        found[chirality] = energy * (antiquark @ slashed @ quark)
    return found


def by_amplitude(
    process: Process, quark: Quark, energy: float, named: dict[str, float]
) -> np.ndarray:
    """Mean over 4 spins and 9 colours (3 annihilate), flux 2 S, phase space k / (4 pi E).

    Vertices of a scalar with charge Q and isospin T3 of its left component, in the basis of left
    and right: e Q of the photon, g / cos (T3 - Q sin^2, -Q sin^2) of the Z, g / sqrt 2 of the W.
    """
    one, other = (row_of(particle, named) for particle in process)
    m_i, m_j = (named[f"mass_{abs(particle)}"] for particle in process)
    cos = np.sqrt(1 - SIN2)
    if process.charge:
        near = (G / np.sqrt(2)) * (one[0] * other[0]) * (G / np.sqrt(2))
        w = 1 / (energy**2 - W_MASS**2 + 1j * W_MASS * W_WIDTH)
        coupling = {"left": near * w, "right": 0}
    else:
        lepton_charge = charge_of(abs(process.first))
        isospin = 0.5 if lepton_charge == 0 else -0.5
        weak = G / cos * np.diag([isospin - lepton_charge * SIN2, -lepton_charge * SIN2])
        of_z, of_photon = one @ weak @ other, E * lepton_charge * (one @ other)
        z = of_z / (energy**2 - Z_MASS**2 + 1j * Z_MASS * Z_WIDTH)
        photon = E * quark.charge * of_photon / energy**2
        t3 = {"left": quark.isospin, "right": 0.0}
        coupling = {side: photon + G / cos * (t3[side] - quark.charge * SIN2) * z for side in t3}
    e_i = (energy**2 + m_i**2 - m_j**2) / (2 * energy)
    k = np.sqrt(e_i**2 - m_i**2)
    squared = 0.0
    for cosine, weight in zip(COSINES, WEIGHTS, strict=True):
        direction = np.array([np.sqrt(1 - cosine**2) * 0.6, np.sqrt(1 - cosine**2) * 0.8, cosine])
        difference = np.array([2 * e_i - energy, *(2 * k * direction)])
        found = current(difference, energy)
        squared += weight / 2 * sum(abs(coupling[side] * found[side]) ** 2 for side in found)
    return squared / 12 * k / (4 * np.pi * energy) / (2 * energy**2)


def test_there_are_nineteen_processes() -> None:
    """Of each unmixed generation L L, R R, sneutrinos and both charges of L with a sneutrino; of
    staus four pairs, sneutrinos, and both staus with a sneutrino in both charges."""
    assert len(OF_SLEPTONS) == 5 + 5 + 9
    assert sum(abs(process.charge) for process in OF_SLEPTONS) == 2 + 2 + 4
    assert {make_process(*process[::-1]) for process in OF_SLEPTONS} == {*OF_SLEPTONS}


def test_names_and_columns() -> None:
    process = make_process(-2000015, 1000015)
    assert [*map(name_of, process)] == ["~tau-_1", "~tau+_2"]
    assert process.columns == ("mass_1000015", "left_1000015", "mass_2000015", "left_2000015")
    assert make_process(2000013, -2000013).columns == ("mass_2000013",)
    assert make_process(-1000011, 1000012).columns == ("mass_1000011", "mass_1000012")
    names = [name_of(particle) for particle in (-1000011, 2000013, 1000014, -1000016)]
    assert names == ["~e+_L", "~mu-_R", "~nu_mu", "~nubar_tau"]


@pytest.mark.parametrize(
    ("pair", "code"),
    [
        ((1000011, 1000011), "physics.doubly_charged"),
        ((1000011, -2000011), "physics.uncoupled"),
        ((1000011, -1000013), "physics.uncoupled"),
        ((1000012, 1000012), "physics.uncoupled"),
        ((2000013, -1000014), "physics.uncoupled"),
        ((1000015, 1000016), "physics.uncoupled"),
        ((1000022, 1000012), "physics.uncoupled"),
        ((2000012, -2000012), "physics.unknown_particle"),
    ],
)
def test_pairs_without_a_boson_are_refused(pair: tuple[int, int], code: str) -> None:
    with refused(code):
        make_process(*pair)


@pytest.mark.parametrize("quark", [UP_TYPE, DOWN_TYPE], ids=["up", "down"])
@pytest.mark.parametrize("process", OF_SLEPTONS, ids=str)
def test_rates_are_squares_of_amplitudes(process: Process, quark: Quark) -> None:
    named = named_columns()
    pair = pair_at(process, {name: np.array([value]) for name, value in named.items()})
    if quark not in pair.quarks:
        quark = UP_TYPE
    for factor in (1.0001, 1.3, 6.0):
        energy = factor * pair.threshold_gev
        ours = born_cross_section(pair, quark, energy[:, None], 2000.0)[0, 0]
        expected = by_amplitude(process, quark, float(energy[0]), named)
        assert ours == pytest.approx(expected, rel=1e-11)


def test_rates_rise_as_the_cube_of_the_velocity_and_need_no_squarks() -> None:
    pair = pair_at(make_process(1000011, -1000011), {"mass_1000011": np.array([200.0])})
    velocity = np.array([[1e-4, 3e-4]])
    rates = born_cross_sections(pair, 400 / np.sqrt(1 - velocity**2), 2000.0)
    slow, fast = rates.sum(axis=1)[0, 0]
    assert fast / slow == pytest.approx(27, rel=1e-6)
    assert not rates[:, 1:].any()


def test_mixing_moves_rates_among_staus_but_keeps_their_sum() -> None:
    """For equal masses the sum over all pairs of staus is a trace, that of L L and R R."""
    sums = []
    for angle in (0.0, 0.4, 0.8):
        named = named_columns(angle) | {"mass_1000015": 210.0, "mass_2000015": 210.0}
        pairs = [
            *((1000015, -1000015), (2000015, -2000015)),
            *((1000015, -2000015), (-1000015, 2000015)),
        ]
        rates = [of_process(make_process(*pair), named, 13.0).nlo_pb[0] for pair in pairs]
        assert (rates[2] > 0) == (angle > 0)
        assert rates[2] == pytest.approx(rates[3], rel=1e-12)
        sums.append(sum(rates))
    unmixed = {"mass_1000011": 210.0, "mass_2000011": 210.0}
    selectrons = [
        of_process(make_process(number, -number), unmixed, 13.0).nlo_pb[0]
        for number in (1000011, 2000011)
    ]
    np.testing.assert_allclose(sums, sum(selectrons), rtol=1e-12)


def test_far_above_the_z_the_charged_current_is_that_of_isospin() -> None:
    """For equal masses, u dbar makes twice the rate of the part of u ubar of isospin 1."""
    mass, energy = np.array([100.0]), np.array([[50_000.0]])
    named = {"mass_1000011": mass, "mass_1000012": mass}
    plus, charged, neutral = (
        born_cross_section(pair_at(make_process(*pair), named), UP_TYPE, energy, np.inf)
        for pair in ((-1000011, 1000012), (1000011, -1000011), (1000012, -1000012))
    )
    # Amplitudes of left quarks: +-g^2/4 + g'^2/12 of isospin and hypercharge; of right ones
    # -g'^2/3. In units of e^2 these are 1/(4 sin^2) and 1/cos^2.
    isospin, hypercharge = 1 / (4 * SIN2), 1 / (1 - SIN2)
    left = [(sign * isospin - hypercharge / 12) ** 2 for sign in (1, -1)]
    right = (hypercharge / 3) ** 2
    expected = (2 * isospin) ** 2 / (np.array(left) + right)
    ratios = [float((plus / other).squeeze()) for other in (neutral, charged)]
    np.testing.assert_allclose(ratios, expected, rtol=1e-4)


def test_a_process_is_computed_at_numbers_or_arrays_by_name() -> None:
    """Of sleptons and electroweakinos; other columns are ignored."""
    process, masses = make_process(1000011, -1000012), np.array([150.0, 400.0])
    named: dict[str, Any] = {"mass_1000011": masses, "mass_1000012": 160.0, "other": 1.0}
    both = of_process(process, named, 13.6)
    for k, mass in enumerate(masses):
        alone = of_process(process, named | {"mass_1000011": float(mass)}, 13.6)
        np.testing.assert_allclose(np.ravel(alone), np.array(both)[:, k], rtol=1e-14)
    np.testing.assert_array_equal(both, of_process(process, named, 13.6, 500.0))  # of squarks
    lo, nlo, up, down = both
    assert np.all((lo < down) & (down < nlo) & (nlo < up) & (up < 1.03 * nlo))


def test_points_that_cannot_be_computed_are_refused() -> None:
    process = make_process(1000015, -1000016)
    named = {"mass_1000015": 200.0, "mass_1000016": 200.0, "left_1000015": 1.0}
    with refused("physics.missing_columns", missing=["left_1000015"]):
        of_process(process, {name: named[name] for name in [*named][:2]}, 13.0)
    with refused("physics.mass", smallest=-200.0, most=4000):
        of_process(process, named | {"mass_1000016": -200.0}, 13.0)
    with refused("physics.mixings_not_finite"):
        of_process(process, named | {"left_1000015": np.nan}, 13.0)
    with refused("physics.left_part", largest=1.1):
        of_process(process, named | {"left_1000015": 1.1}, 13.0)
    with refused("physics.energy"):
        of_process(process, named, 100.0)
