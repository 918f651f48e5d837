"""The embedded engine against reference tables.

`data/nlo_engine_*.csv` come from an independent earlier implementation of the same formulas;
`nlo_engine_les_houches.csv` holds the published benchmark (hep-ph/0204316, tables 2 and 4, VFNS,
mu^2 = 10^4 GeV^2; x L_- = x (dbar - ubar), x L_+ = 2 x (ubar + dbar)).
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nlobayes.physics import evolution
from nlobayes.physics.hadronic import cross_sections
from nlobayes.physics.luminosity import Luminosities, drell_yan_gluon, drell_yan_quark, luminosities
from nlobayes.physics.mellin import CONTOUR, invert
from nlobayes.physics.mssm import Parameters, neutralinos
from nlobayes.physics.partonic import Pair, identical_pair, select_pair
from nlobayes.physics.pdf import MSTW2008_NLO, InputDistributions
from nlobayes.physics.splitting import leading_order, next_to_leading_order
from tests.les_houches import LES_HOUCHES_TOY
from tests.prospino_points import PROSPINO

DATA = Path(__file__).parent / "data"

INPUTS = {"toy": LES_HOUCHES_TOY, "mstw_nlo": MSTW2008_NLO}
ROOT_HALF = np.sqrt(0.5)


def _table(name: str) -> pd.DataFrame:
    return pd.read_csv(DATA / f"nlo_engine_{name}.csv")


@pytest.fixture(scope="module")
def beams() -> Luminosities:
    return luminosities(MSTW2008_NLO, 13_000.0)


@pytest.mark.parametrize("order", ["P0", "P1"])
@pytest.mark.parametrize("flavours", [3, 4, 5])
def test_splitting_moments(order: str, flavours: int) -> None:
    moments = {"P0": leading_order, "P1": next_to_leading_order}[order]
    rows = _table("splitting_moments").query("nf == @flavours and order == @order")
    for entry, group in rows.groupby("entry"):
        n = (group.N_re + 1j * group.N_im).to_numpy()
        plus, minus, ((qq, qg), (gq, gg)) = moments(n, flavours)
        named = {"ns_plus": plus, "ns_minus": minus, "qq": qq, "qg": qg, "gq": gq, "gg": gg}
        expected = group.value_re + 1j * group.value_im
        np.testing.assert_allclose(named[str(entry)], expected, rtol=1e-7)


def test_drell_yan_moments() -> None:
    table = _table("drell_yan_moments")
    n = (table.N_re + 1j * table.N_im).to_numpy()
    quark, gluon = table.Dq_re + 1j * table.Dq_im, table.Dg_re + 1j * table.Dg_im
    np.testing.assert_allclose(drell_yan_quark(n), quark, rtol=1e-7)
    np.testing.assert_allclose(drell_yan_gluon(n), gluon, rtol=1e-7)


def _evolved(
    inputs: InputDistributions, loops: evolution.Loops, scale: float, x: np.ndarray
) -> dict[str, np.ndarray]:
    pdfs = evolution.evolve(inputs, np.array([scale]), CONTOUR, loops)
    minus = [x * invert(moments, x) for moments in pdfs.minus]
    plus = [x * invert(moments, x) for moments in pdfs.plus]
    up_sea, down_sea = plus[0] - minus[0], plus[1] - minus[1]
    return {
        "xuv": minus[0],
        "xdv": minus[1],
        "xg": x * invert(pdfs.gluon, x),
        "xL_minus": (down_sea - up_sea) / 2,
        "xL_plus": up_sea + down_sea,
    } | {f"x{name}_plus": values for name, values in zip("udscb", plus, strict=True)}


@pytest.mark.parametrize("name", list(INPUTS))
@pytest.mark.parametrize("loops", [1, 2])
@pytest.mark.parametrize("scale", [1e4, 1e6])
def test_evolved_distributions(name: str, loops: evolution.Loops, scale: float) -> None:
    rows = _table("pdfs").query("input == @name and loops == @loops and Q2 == @scale")
    ours = _evolved(INPUTS[name], loops, scale, rows.x.to_numpy())
    for column in rows.columns[5:]:
        np.testing.assert_allclose(ours[column], rows[column], rtol=1e-6, err_msg=column)
    alpha_s = 4 * np.pi * evolution.coupling(INPUTS[name], np.array([scale]), loops)
    np.testing.assert_allclose(alpha_s, rows.alpha_s.iloc[0], rtol=1e-7)


@pytest.mark.parametrize(
    ("loops", "steps", "tolerance"),
    [(1, 6, 5e-5), (2, 6, 3e-4), (2, 48, 5e-5)],
    ids=["LO", "NLO", "NLO in fine steps"],
)
def test_published_les_houches_tables(
    loops: evolution.Loops, steps: int, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Printed to five digits: LO and finely stepped NLO reproduce them to rounding."""
    monkeypatch.setattr(evolution, "_STEPS_PER_REGION", steps)
    rows = _table("les_houches").query("loops == @loops")
    ours = _evolved(LES_HOUCHES_TOY, loops, 1e4, rows.x.to_numpy())
    for column in rows.columns[2:]:
        np.testing.assert_allclose(ours[column], rows[column], rtol=tolerance, err_msg=column)


@pytest.mark.parametrize("pair", [(1, 1), (1, 2), (2, 3), (4, 4)])
@pytest.mark.parametrize("squark_mass", [2000.0, 3000.0, np.inf])
def test_cross_sections(beams: Luminosities, pair: tuple[int, int], squark_mass: float) -> None:
    i, j = pair
    rows = _table("cross_sections").query("i == @i and j == @j and m_squark == @squark_mass")
    parameters = Parameters(*rows[["M1", "M2", "mu", "tan_beta"]].to_numpy().T)
    chosen = select_pair(neutralinos(parameters), i, j)
    for mass, mixing, letter in zip(chosen[0:3:2], chosen[1:4:2], "ij", strict=True):
        components = rows[[f"n_{letter}{k}" for k in (1, 2, 3, 4)]]
        np.testing.assert_allclose(mass, rows[f"m_{letter}"], rtol=1e-7)
        np.testing.assert_allclose(mixing, components, atol=1e-7)
    ours = 1000 * np.array(cross_sections(chosen, squark_mass, beams))
    expected = rows[["lo_fb", "nlo_fb", "nlo_mu_half_fb", "nlo_mu_twice_fb"]].to_numpy().T
    np.testing.assert_allclose(ours, expected, rtol=1e-5)


HIGGSINOS = Pair(
    np.array([-101.5]),
    np.array([[0, 0, ROOT_HALF, -ROOT_HALF]]),
    np.array([100.0]),
    np.array([[0, 0, ROOT_HALF, ROOT_HALF]]),
    1.0,
)
MIXED, BINO_LIKE = [0.6, 0.4898979, 0.6, 0.2], [0.98, -0.05, 0.17, -0.08]


def _equal(mass: float, mixing: list[float]) -> Pair:
    return identical_pair(np.array([mass]), np.array([mixing]))


@pytest.mark.parametrize(
    ("pair", "squark_mass", "lo_fb", "nlo_fb"),
    [
        (HIGGSINOS, np.inf, 2.7956e3, 3.2403e3),
        (_equal(200, [1, 0, 0, 0]), 3000, 2.8980e-2, 3.5194e-2),
        (_equal(200, [0, 1, 0, 0]), 3000, 1.5487e-1, 1.8825e-1),
        (_equal(150, MIXED), np.inf, 1.09787e1, 1.28965e1),
        (_equal(150, MIXED), 3000, 1.13433e1, 1.33302e1),
        (_equal(50, BINO_LIKE), 3000, 6.1183, 7.0266),
        (_equal(800, BINO_LIKE), 3000, 2.1722e-3, 2.7720e-3),
    ],
)
def test_named_points(
    beams: Luminosities, pair: Pair, squark_mass: float, lo_fb: float, nlo_fb: float
) -> None:
    """Printed to five or six digits."""
    sigma = cross_sections(pair, squark_mass, beams)
    np.testing.assert_allclose(1000 * sigma.lo_pb, lo_fb, rtol=3e-5)
    np.testing.assert_allclose(1000 * sigma.nlo_pb, nlo_fb, rtol=3e-5)


@pytest.mark.skipif(not PROSPINO.exists(), reason=f"the Prospino table is absent ({PROSPINO})")
def test_prospino(beams: Luminosities) -> None:
    """Nothing fitted: squarks at their tabulated 2769 GeV, the table's masses, |m1| >= 46 GeV."""
    rows = pd.read_csv(PROSPINO)
    rows = rows[rows.m1.abs() >= 46]
    mixing = rows[["n11", "n12", "n13", "n14"]].to_numpy()
    pair = identical_pair(rows.m1.to_numpy(), mixing)
    ours = np.log10(1000 * cross_sections(pair, 2769.0, beams).nlo_pb)
    theirs = np.log10(rows.sigma_fb.to_numpy())
    residual = theirs - ours
    assert len(rows) > 12_000
    assert 1 - np.mean(residual**2) / np.var(theirs) >= 0.998
    assert 0.95 < 10 ** np.median(residual) < 1.10
