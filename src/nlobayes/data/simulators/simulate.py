"""Simulator `simulate`: two electroweakinos or sleptons at NLO QCD over a scan of the MSSM.

Any two neutralinos or charginos up to 1.1 TeV whose charges sum to 0, 1 or -1, or a slepton and an
antislepton, energies of 7 to 14 TeV, and degenerate squarks from 2 TeV up; `physics.validity`
states the compared region.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from nlobayes.data.statements import NOTHING, PROTONS, fixed_around, spell_fixed, state_process
from nlobayes.errors import InputError
from nlobayes.physics import ENGINE_VERSION, scans
from nlobayes.physics.couplings import FERMI_CONSTANT, SCHEMES, W_MASS_GEV
from nlobayes.physics.hadronic import MINIMUM_SQUARK_MASS_GEV, by_exchange, check_domain
from nlobayes.physics.luminosity import SEVEN_POINTS, THREE_POINTS, luminosities
from nlobayes.physics.mssm import Z_MASS_GEV
from nlobayes.physics.partonic import Pair, make_pair, pair_at
from nlobayes.physics.pdf import MSTW2008_NLO
from nlobayes.physics.processes import Process, make_process, neutralino_pair
from nlobayes.physics.validity import not_compared
from nlobayes.types import Table

MAXIMUM_SQUARK_MASS_GEV = 1e5
TARGETS = ("sigma_pb", "lo_pb", "scale_up", "scale_down")
ONE_SCALE_VARIED = ("mu_r_half", "mu_r_twice", "mu_f_half", "mu_f_twice")
"""Columns that a variation at seven points adds."""


def simulate(*, seed: int, points: int, **settings: Any) -> Table:
    """Compute the points of a scan; `settings` are those of `Settings`."""
    return scan_table(seed, points, Settings(**settings))


class Settings(NamedTuple):
    """Settings of the process and of the points at which it is computed."""

    sqrt_s_tev: float
    """Energy of the collisions, 7 to 14."""
    squark_mass_gev: float | tuple[float, float]
    """Common mass of all squarks, or the ends of a range from which the mass of each row is drawn,
    uniform in the logarithm; 2000 to 100 000. Sleptons do not depend on it."""
    pair: tuple[int, int] | None = (1, 1)
    """Numbers of the two neutralinos, 1 for the lightest to 4, in any order."""
    scan: str = "flat"
    """Distribution of the soft masses and tan beta."""
    process: tuple[int, int] | None = None
    """Particle numbers of any two electroweakinos or sleptons, instead of the pair."""
    central_scale: str = "invariant_mass"
    """`invariant_mass` for mu = Q, the mass of the pair, or `average_mass` of its particles."""
    scale_points: int = 3
    """3 for both scales times 1/2, 1 and 2; 7 also with one of them at the central scale."""
    electroweak_scheme: str = "alpha_mz"
    """`alpha_mz` or `g_mu`, for the couplings of the production; masses and mixings are the same.
    """

    @property
    def reaction(self) -> Process:
        """Process that these settings select."""
        return make_process(*self.process) if self.process else neutralino_pair(self.pair or ())


def scan_table(seed: int, points: int, settings: Settings) -> Table:
    """Return a table of masses, mixings and cross sections; equal arguments give equal bytes.

    Columns of the lighter neutralino i: m{i} (signed mass), n{i}1 to n{i}4 (bino, wino, down- and
    up-type higgsino; the largest is positive). Columns of the chargino i: mc{i}, u{i}1, u{i}2,
    v{i}1 and v{i}2 (wino, higgsino: cosine and sine of the angles of U and V). Columns of a slepton
    are mass_{number} and, of a stau, left_{number}. The same columns follow for a different second
    particle, and msq, the squark mass, if it varies. Then come sigma_pb (NLO at mu = Q, the mass of
    the pair), lo_pb (LO at mu = Q), scale_up and scale_down (NLO at mu = Q/2 and mu = 2 Q). The
    table states the units. Its metadata count the rows for which no other calculation was compared
    (`not_compared`).

    Raises InputError if an argument or a setting is outside its range.

    Parameters
    ----------
    seed
        Seed of the scan, not negative; squark masses use separate random numbers, so the other
        columns do not depend on them.
    points
        Number of rows, all with |m1| > 46 GeV; with charginos also mc1 > 46 GeV.
    settings
        Process and scan.
    """
    _check(seed, points, settings)
    process, masses = settings.reaction, settings.squark_mass_gev
    seven = settings.scale_points == 7
    names = (*TARGETS, *(ONE_SCALE_VARIED if seven else ()))
    orders = SEVEN_POINTS if seven else THREE_POINTS
    beams = luminosities(MSTW2008_NLO, 1000 * settings.sqrt_s_tev, settings.central_scale, orders)
    scheme = SCHEMES[settings.electroweak_scheme]
    columns, pair = _drawn(seed, points, settings.scan, process)
    pair = pair._replace(scheme=scheme)
    if isinstance(masses, tuple):
        low, high = masses
        squarks = low * (high / low) ** scans.stream(seed, scans.SQUARK_STREAM).random(points)
        columns["msq"] = squarks
    else:
        squarks = np.full(points, float(masses))
    check_domain(pair, squarks, beams)
    lo, nlo, *others = by_exchange(pair, squarks, beams, orders).sum(axis=1)
    units = {name: "GeV" if name.startswith("m") else "1" for name in columns}
    columns |= zip(names, (nlo, lo, *others), strict=True)
    return Table(
        {name: np.ascontiguousarray(column) for name, column in columns.items()},
        units | dict.fromkeys(names, "pb"),
        _metadata(seed, settings, squarks),
    )


def _drawn(
    seed: int, points: int, scan: str, process: Process
) -> tuple[dict[str, np.ndarray], Pair]:
    """Draw the points of a scan: the columns of the process, and its particles."""
    if process.of_sleptons:
        columns = scans.sample_sleptons(seed, points, scan, process)
        return columns, pair_at(process, columns)
    with_charginos = not process.of_neutralinos
    parameters = scans.sample_parameters(
        seed, points, scan, process.numbers[0], with_charginos=with_charginos
    )
    pair = make_pair(parameters, process)
    both = (pair.first_mass_gev, *pair.first_mixing.T, pair.second_mass_gev, *pair.second_mixing.T)
    return dict(zip(process.columns, both, strict=False)), pair  # equal particles share columns


def _metadata(seed: int, settings: Settings, squarks: np.ndarray) -> dict[str, str]:
    process, masses = settings.reaction, settings.squark_mass_gev
    if isinstance(masses, tuple):
        stated = f"{masses[0]:g} to {masses[1]:g}, uniform in the logarithm"
    else:
        stated = repr(float(masses))
    with_squarks = {
        "squark_mass_gev": stated,
        "fixed": spell_fixed([fixed_around("msq", squarks, "GeV")]),
    }
    doubt = not_compared(process, settings.sqrt_s_tev, squarks)
    alpha_s_at = math.sqrt(MSTW2008_NLO.alpha_s_scale_gev2)
    return {
        **state_process(PROTONS, process),
        "order": "NLO QCD; lo_pb: LO with the same parton distributions",
        "scales": _scales(settings),
        "sqrt_s_tev": repr(float(settings.sqrt_s_tev)),
        **({"fixed": NOTHING} if process.of_sleptons else with_squarks),
        "parton_distributions": MSTW2008_NLO.name,
        "alpha_s": f"{MSTW2008_NLO.alpha_s:g} at {alpha_s_at:g} GeV",
        "electroweak_inputs": _electroweak_inputs(settings),
        "scan": scans.in_words(settings.scan, of_sleptons=process.of_sleptons),
        "seed": str(seed),
        "engine": f"nlobayes embedded NLO engine, version {ENGINE_VERSION}",
    } | ({"not_compared": doubt} if doubt else {})


def _scales(settings: Settings) -> str:
    mu, half, twice = ("Q", "Q/2", "2 Q")
    if settings.central_scale == "average_mass":
        mu, half, twice = ("mean mass of the pair", "half of it", "twice")
    others = f"{half} for scale_up, {twice} for scale_down"
    if settings.scale_points == 7:
        others += "; mu_r_half to mu_f_twice: mu_R or mu_F alone times 1/2 or 2"
    return f"mu = {mu} for sigma_pb and lo_pb, {others}"


def _electroweak_inputs(settings: Settings) -> str:
    scheme = SCHEMES[settings.electroweak_scheme]
    couplings = f"alpha = 1/{1 / scheme.alpha:g}, sin2_theta_w = {scheme.sin2_theta_w:g}"
    if settings.electroweak_scheme == "g_mu":
        constant = f"G_F = {FERMI_CONSTANT:g} GeV^-2"
        return f"{constant}, m_w_gev = {W_MASS_GEV:g}, m_z_gev = {Z_MASS_GEV:g}: {couplings}"
    return f"{couplings}, m_w_gev = {W_MASS_GEV:g}" if settings.reaction.charge else couplings


def _check(seed: int, points: int, settings: Settings) -> None:
    if seed < 0:
        raise InputError("physics.negative_seed", seed=seed)
    if points < 1:
        raise InputError("physics.no_points", points=points)
    process, least, most = settings.reaction, MINIMUM_SQUARK_MASS_GEV, MAXIMUM_SQUARK_MASS_GEV
    given = settings.squark_mass_gev
    masses = given if isinstance(given, tuple) else (given,)
    if not all(least <= mass <= most for mass in masses):
        raise InputError("physics.squark_mass", least=least, most=most, received=given)
    if not np.all(np.diff(masses) > 0):
        raise InputError("physics.squark_range", received=given)
    if process.of_sleptons and isinstance(given, tuple):
        raise InputError("physics.squarks_of_sleptons", received=given)
    if settings.scan == "fine_tuned" and process.first != process.second:
        raise InputError("physics.fine_tuned_pair", pair=settings.process or settings.pair)
