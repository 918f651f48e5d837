"""The mean mass of the light squarks is that of their flavours, numbered as in SLHA1 or SLHA2."""

import numpy as np
import pytest

from nlobayes.data.slha import LIGHT, ROWS, spectrum_of
from tests.refusals import refused
from tests.spectra import spectrum_text

FLAVOURS = {
    name: 1000.0 + 100 * np.arange(6) + shift for name, shift in zip(ROWS, (0, 7), strict=True)
}
"""Masses of the six flavours of each charge in GeV; the third and the sixth are heavy ones."""
MEAN = np.mean([masses[np.array(LIGHT) - 1] for masses in FLAVOURS.values()])


def text_of(
    masses: dict[str, np.ndarray], mixings: dict[str, np.ndarray] | None = None, more: str = ""
) -> str:
    """Write a spectrum with squarks of these masses, and blocks without the entries that vanish."""
    lines = ["BLOCK MASS"]
    for name, values in masses.items():
        lines += [f" {p} {float(mass)!r}" for p, mass in zip(ROWS[name], values, strict=True)]
    blocks = []
    for name, matrix in (mixings or {}).items():
        entries = (f" {i + 1} {j + 1} {float(x)!r}" for (i, j), x in np.ndenumerate(matrix) if x)
        blocks += [f"Block {name}", *entries]
    text = spectrum_text(1).replace("BLOCK MASS", "\n".join(lines))
    return "\n".join([text, *blocks, more, ""])


def by_mass(seed: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Squarks in a random order, as numbered by mass, with the flavour of each."""
    rng = np.random.default_rng(seed)
    orders = {name: rng.permutation(6) for name in ROWS}
    masses = {name: FLAVOURS[name][order] for name, order in orders.items()}
    return masses, {name: np.eye(6)[order] for name, order in orders.items()}


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_masses_does_not_matter(seed: int) -> None:
    masses, mixings = by_mass(seed)
    assert spectrum_of(text_of(masses, mixings), "a", ["msq"])["msq"] == pytest.approx(
        MEAN, rel=1e-12
    )


def test_mixed_flavours_weigh_by_their_share_and_imaginary_parts_count() -> None:
    """The second mass is of a light flavour by 0.36, the third by 0.64."""
    turned = np.eye(6)
    turned[np.ix_([1, 2], [1, 2])] = [[0.6, 0.8], [-0.8, 0.6]]
    up = FLAVOURS["USQMIX"]
    expected = MEAN + 0.64 * (up[2] - up[1]) / 8
    mixings = {"USQMIX": turned, "DSQMIX": np.eye(6)}
    assert spectrum_of(text_of(FLAVOURS, mixings), "a", ["msq"])["msq"] == pytest.approx(expected)
    split = {"USQMIX": turned * (np.arange(6) < 3), "IMUSQMIX": turned * (np.arange(6) > 2)}
    found = spectrum_of(text_of(FLAVOURS, mixings | split), "a", ["msq"])
    assert found["msq"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("mixings", "more", "code"),
    [
        ({"USQMIX": np.eye(6)}, "", "slha.no_block"),
        ({}, "Block MODSEL\n 6 1 # flavour violation", "slha.no_block"),
        ({}, "Block MODSEL\n 1 1\n 6 3", "slha.no_block"),
        ({"USQMIX": np.eye(6)[:4], "DSQMIX": np.eye(6)}, "", "slha.squark_mixings"),
        ({"USQMIX": np.eye(6), "DSQMIX": np.eye(7)[1:]}, "", "slha.squark_mixings"),
    ],
)
def test_where_it_is_not_known_which_are_light_there_is_no_mean(
    mixings: dict[str, np.ndarray], more: str, code: str
) -> None:
    text = text_of(FLAVOURS, mixings, more)
    with refused(code, where="a"):
        spectrum_of(text, "a", ["m1", "msq"])
    assert "msq" not in spectrum_of(text, "a", ["m1"])
