"""The simulated dataset: p p -> chi0_1 chi0_1 at NLO QCD over a scan of MSSM parameters.

Validity: 7 to 14 TeV (13 and 13.6 TeV were compared with other calculations), neutralinos from
46 GeV to 1 TeV, degenerate squarks of at least 2 TeV. The numerical error is below 3e-4. At 13 TeV
public NLO + NLL higgsino cross sections lie 1 to 1.5 % lower, and 95 % of Prospino's lightest
pairs, with other parton distributions, scale and supersymmetric loops, lie within about 20 %.
"""

from typing import NamedTuple

import numpy as np

from nlobayes.data.physics.hadronic import cross_sections
from nlobayes.data.physics.luminosity import luminosities
from nlobayes.data.physics.mssm import SIN2_THETA_W, ScanRanges, sample_parameters, spectrum
from nlobayes.data.physics.partonic import ALPHA, select_pair
from nlobayes.data.physics.pdf import MSTW2008_NLO
from nlobayes.errors import InputError
from nlobayes.types import Table

ENGINE_VERSION = "1"

UNITS = {
    "m1": "GeV",
    "n11": "1",
    "n12": "1",
    "n13": "1",
    "n14": "1",
    "sigma_pb": "pb",
    "lo_pb": "pb",
    "scale_up": "pb",
    "scale_down": "pb",
}


class Settings(NamedTuple):
    """Collision energy, common squark mass, and the limits of the scan."""

    sqrt_s_tev: float
    squark_mass_gev: float
    ranges: ScanRanges = ScanRanges()


def simulate(seed: int, points: int, settings: Settings) -> Table:
    """Return a table of mass, mixings and cross sections; equal arguments give equal bytes.

    Columns: m1 (signed mass), n11 to n14 (bino, wino, down- and up-type higgsino; the largest is
    positive), sigma_pb (NLO at mu = Q, the mass of the pair), lo_pb (LO at mu = Q), scale_up and
    scale_down (NLO cross sections at mu = Q/2 and mu = 2 Q). Units are in the table.

    Parameters
    ----------
    seed
        Seed of the scan, not negative.
    points
        Number of rows, all with |m1| > 46 GeV.
    settings
        Energy of 7 to 14 TeV, finite squark mass of at least 2000 GeV, and the scan.

    Raises
    ------
    InputError
        If an argument or a setting is outside its range.
    """
    _check(seed, points, settings)
    rng = np.random.Generator(np.random.PCG64(seed))
    beams = luminosities(MSTW2008_NLO, 1000 * settings.sqrt_s_tev)
    pair = select_pair(spectrum(sample_parameters(rng, points, settings.ranges)), 1, 1)
    sigma = cross_sections(pair, settings.squark_mass_gev, beams)
    features = (pair.first_mass_gev, *pair.first_mixing.T)
    targets = (sigma.nlo_pb, sigma.lo_pb, sigma.scale_up_pb, sigma.scale_down_pb)
    columns = {
        name: np.ascontiguousarray(values)
        for name, values in zip(UNITS, features + targets, strict=True)
    }
    return Table(columns, dict(UNITS), _metadata(seed, settings))


def _metadata(seed: int, settings: Settings) -> dict[str, str]:
    ranges = settings.ranges._asdict().items()
    return {
        "process": "p p -> chi0_1 chi0_1",
        "order": "NLO QCD; lo_pb: LO with the same parton distributions",
        "scales": "mu = Q for sigma_pb and lo_pb, Q/2 for scale_up, 2 Q for scale_down",
        "sqrt_s_tev": repr(float(settings.sqrt_s_tev)),
        "squark_mass_gev": repr(float(settings.squark_mass_gev)),
        "parton_distributions": MSTW2008_NLO.name,
        "electroweak_inputs": f"alpha = 1/{1 / ALPHA:g}, sin2_theta_w = {SIN2_THETA_W:g}",
        "scan": ", ".join(f"{name} {low:g} to {high:g}" for name, (low, high) in ranges),
        "seed": str(seed),
        "engine": f"nlobayes embedded NLO engine, version {ENGINE_VERSION}",
    }


def _check(seed: int, points: int, settings: Settings) -> None:
    if seed < 0:
        raise InputError(f"seed must not be negative, received {seed}; choose another seed.")
    if points < 1:
        raise InputError(f"points must be at least 1, received {points}; ask for more.")
    if not np.isfinite(settings.squark_mass_gev):
        raise InputError(
            f"squark_mass_gev must be finite and at least 2000, received "
            f"{settings.squark_mass_gev!r}; choose a finite mass."
        )
