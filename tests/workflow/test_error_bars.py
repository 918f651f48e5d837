"""Error bars of the `ci` surrogate against the truth: nowhere far wider than what is honest.

Along every input, through 200 points that the surrogate calls inside, the embedded engine computes
the truth. The honest half-width is the true error or the sd of the draws, whichever is larger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from nlobayes import Surrogate
from nlobayes.data.simulators.simulate import Settings, scan_table
from nlobayes.physics.hadronic import cross_sections
from nlobayes.physics.luminosity import Luminosities, luminosities
from nlobayes.physics.partonic import Pair
from nlobayes.physics.pdf import MSTW2008_NLO
from nlobayes.service.points_along import line, spread, with_unit_norm

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

RUN = "embedded_small/n16/fan_in/tolerance_10/adam/hmc_ci/s1"
SQUARK_MASS_GEV, SQRT_S_TEV = 3000.0, 13.0
LINES, STEPS, WIDEST = 200, 41, 3.0
LIGHTEST_GEV = 46.0


@pytest.fixture(scope="module")
def surrogate(ci: Project) -> Surrogate:
    return Surrogate.load(ci.root / f"results/surrogates/{RUN}.nc")


@pytest.fixture(scope="module")
def fresh(surrogate: Surrogate) -> np.ndarray:
    """Points of the same scan that no row of the run was."""
    settings = Settings(sqrt_s_tev=SQRT_S_TEV, squark_mass_gev=SQUARK_MASS_GEV)
    columns = scan_table(77, 2000, settings).columns
    return np.column_stack([columns[name] for name in surrogate.inputs])


def truth(points: np.ndarray, beams: Luminosities) -> np.ndarray:
    """Give log10 of the cross section in pb (point,)."""
    mass, mixing = points[:, 0], points[:, 1:]
    squarks = np.full(len(points), SQUARK_MASS_GEV)
    pair = Pair(mass, mixing, mass, mixing, 0.5)
    return np.log10(cross_sections(pair, squarks, beams).nlo_pb)


@pytest.fixture(scope="module")
def beams() -> Luminosities:
    return luminosities(MSTW2008_NLO, 1000 * SQRT_S_TEV)


@pytest.mark.parametrize("unit_norm", [False, True])
@pytest.mark.parametrize("along", ["m1", "n11", "n12", "n13", "n14"])
def test_no_half_width_is_three_times_the_honest_one(
    surrogate: Surrogate, fresh: np.ndarray, beams: Luminosities, along: str, unit_norm: bool
) -> None:
    """The widest of each line against the largest honest one there."""
    inside = fresh[surrogate.domain(fresh) == "inside"][:LINES]
    assert len(inside) == LINES
    ratios = []
    for at in inside:
        points = line(surrogate, at, along, spread(surrogate.limits[along], STEPS))
        points = with_unit_norm(surrogate, points, along) if unit_norm else points
        points = np.vstack([at, points[np.abs(points[:, 0]) > LIGHTEST_GEV]])
        points = points[surrogate.domain(points) == "inside"]
        found = surrogate.predict(points, on="model")
        half = (found.quantiles[1] - found.quantiles[0]) / 2
        honest = np.maximum(np.abs(truth(points, beams) - found.mean), found.posterior_sd)
        ratios.append(half.max() / honest.max())
    assert max(ratios) < WIDEST


def test_intervals_cover_fresh_points(
    surrogate: Surrogate, fresh: np.ndarray, beams: Luminosities
) -> None:
    """2000 points: 68 % within 5 and 95 % within 3 points; 300 rows fixed the error bars."""
    inside = fresh[surrogate.domain(fresh) == "inside"]
    assert len(inside) >= 0.97 * len(fresh)
    found = surrogate.predict(inside, quantiles=(0.025, 0.16, 0.84, 0.975), on="model")
    known, (lowest, low, high, highest) = truth(inside, beams), found.quantiles
    assert np.mean((low < known) & (known < high)) == pytest.approx(0.68, abs=0.05)
    assert np.mean((lowest < known) & (known < highest)) == pytest.approx(0.95, abs=0.03)
