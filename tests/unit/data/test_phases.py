"""Complex mixings are read in the phase that makes them real; those that violate CP are refused."""

from collections.abc import Mapping

import numpy as np
import pytest

from nlobayes.data.slha import OF_CHARGINOS, OF_NEUTRALINOS, spectrum_of
from nlobayes.physics.processes import CHARGINOS, NEUTRALINOS, columns_of
from tests.refusals import refused

Matrix = np.ndarray
ATOL = 1e-12
"""The matrices are written with all digits."""


def neutralinos(m1: float, m2: float, mu: float, tan_beta: float) -> Matrix:
    """Mass matrix in GeV of bino, wino and both higgsinos at tree level."""
    beta, sw, mz = np.arctan(tan_beta), np.sqrt(0.23), 91.19
    cw, cb, sb = np.sqrt(1 - sw**2), np.cos(beta), np.sin(beta)
    mixed = mz * np.array([[-sw * cb, sw * sb], [cw * cb, -cw * sb]])
    return np.block([[np.diag([m1, m2]), mixed], [mixed.T, -mu * (1 - np.eye(2))]])


def charginos(m2: float, mu: float, tan_beta: float) -> Matrix:
    """Mass matrix in GeV of wino and higgsino at tree level."""
    beta, mw = np.arctan(tan_beta), 80.4
    off = np.sqrt(2) * mw
    return np.array([[m2, off * np.sin(beta)], [off * np.cos(beta), mu]])


def takagi(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """Return masses above 0, and N with N* M N^dagger diagonal: eigenvectors of M M^dagger."""
    squares, vectors = np.linalg.eigh(matrix @ matrix.conj().T)
    rows = vectors.conj().T
    phases = np.exp(0.5j * np.angle(np.diag(rows.conj() @ matrix @ rows.conj().T)))
    rows = phases[:, None] * rows
    np.testing.assert_allclose(
        rows.conj() @ matrix @ rows.conj().T, np.diag(np.sqrt(squares)), atol=1e-9
    )
    return np.sqrt(squares), rows


def text_of(masses: Mapping[int, float], mixings: Mapping[str, Matrix]) -> str:
    """Write masses and complex mixings as SARAH does: real and imaginary parts of every entry."""
    lines = ["Block MASS", *(f" {particle} {float(mass)!r}" for particle, mass in masses.items())]
    for name, matrix in mixings.items():
        for block, part in ((name, matrix.real), (f"IM{name}", matrix.imag)):
            entries = (f" {i + 1} {j + 1} {float(x)!r}" for (i, j), x in np.ndenumerate(part))
            lines += [f"Block {block} Q= 1.0E+03", *entries]
    return "\n".join([*lines, ""])


def rows_of(found: Mapping[str, float], particles: tuple[int, ...]) -> Matrix:
    """Masses and mixings, a row for each particle."""
    return np.array([[found[name] for name in columns_of(particle)] for particle in particles])


@pytest.mark.parametrize("mu", [-400.0, 350.0])
@pytest.mark.parametrize("m1", [-150.0, 500.0])
def test_positive_masses_with_imaginary_rows_are_signed_masses_with_real_ones(
    m1: float, mu: float
) -> None:
    """Takagi's factors and real eigenvectors of one matrix are read as the same particles."""
    matrix = neutralinos(m1, 300.0, mu, 8.0)
    masses, mixings = takagi(matrix)
    text = text_of(dict(zip(NEUTRALINOS, masses, strict=True)), {"NMIX": mixings})
    found = rows_of(spectrum_of(text, "a", OF_NEUTRALINOS), NEUTRALINOS)
    signed, vectors = np.linalg.eigh(matrix)
    order = np.argsort(abs(signed))
    np.testing.assert_allclose(found[:, 0], signed[order], rtol=1e-10)
    overlaps = found[:, 1:] @ vectors[:, order]
    np.testing.assert_allclose(abs(overlaps), np.eye(4), atol=1e-9)
    assert (found[:, 0] < 0).any()


@pytest.mark.parametrize("angle", [0.0, 0.5, np.pi / 2, 2.0, np.pi])
def test_opposite_phases_of_a_chargino_cancel(angle: float) -> None:
    matrix = charginos(300.0, -350.0, 8.0)
    u, masses, v = np.linalg.svd(matrix)
    u = u.T
    phase = np.exp(1j * np.array([angle, -2 * angle]))[:, None]
    turned = {"UMIX": phase * u, "VMIX": v / phase}
    np.testing.assert_allclose(
        turned["UMIX"].conj() @ matrix @ turned["VMIX"].conj().T, np.diag(masses), atol=1e-9
    )
    text = text_of(dict(zip(CHARGINOS, masses, strict=True)), turned)
    found = rows_of(spectrum_of(text, "a", OF_CHARGINOS), CHARGINOS)
    np.testing.assert_allclose(found[:, 0], masses, rtol=1e-12)
    expected = np.hstack([u, v])
    signs = np.sign((found[:, 1:] * expected).sum(axis=1))
    np.testing.assert_allclose(found[:, 1:], signs[:, None] * expected, atol=ATOL)


def test_two_imaginary_rows_of_a_chargino_turn_the_sign_of_one() -> None:
    """U and V with a factor i each: X has the opposite mass in real rows."""
    u, v = np.eye(2), np.array([[0.8, 0.6], [-0.6, 0.8]])
    text = text_of({1000024: 100.0, 1000037: 300.0}, {"UMIX": 1j * u, "VMIX": 1j * v})
    found = rows_of(spectrum_of(text, "a", OF_CHARGINOS), CHARGINOS)
    matrix = (1j * u).T @ np.diag([100.0, 300.0]) @ (1j * v)
    real_u, real_v = found[:, 1:3], found[:, 3:]
    np.testing.assert_allclose(real_u @ matrix @ real_v.T, np.diag(found[:, 0]), atol=ATOL)


def test_rounding_is_no_phase_and_rows_that_are_not_requested_may_have_one() -> None:
    mixings = np.eye(4, dtype=complex)
    mixings[0] = [0.6, 0.8 + 1e-9j, 0, 0]
    mixings[1] = [0.6, 0.8j, 0, 0]
    mixings[2] = [1e-9, 0, -1j, 0]
    text = text_of(
        dict(zip(NEUTRALINOS, (100.0, 200.0, 300.0, 400.0), strict=True)), {"NMIX": mixings}
    )
    found = spectrum_of(text, "a", ["m1", "n33"])
    assert (found["m1"], found["n11"], found["n12"]) == (100.0, 0.6, 0.8)
    assert (found["m3"], found["n31"], found["n33"]) == (-300.0, 0.0, -1.0)
    assert "m2" not in found
    with refused("slha.complex_mixings", where="a", particle="chi0_2"):
        spectrum_of(text, "a", ["m2"])


def test_one_imaginary_row_of_a_chargino_violates_cp() -> None:
    text = text_of({1000024: 100.0, 1000037: 300.0}, {"UMIX": 1j * np.eye(2), "VMIX": np.eye(2)})
    assert "mc1" in spectrum_of(text.replace("IMUMIX", "OTHER"), "a", ["mc1"])
    with refused("slha.complex_mixings", particle="chi+_1"):
        spectrum_of(text, "a", ["mc1"])
