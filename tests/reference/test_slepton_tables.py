"""Sleptons and sneutrinos against the public tables, as docs/results/physics.md draws the ratios.

The tables are those that HEPi 0.3.7 distributes: NLO + NLL by Resummino of the LHC SUSY Cross
Section Working Group (arXiv:1304.0790), and approximate NNLO + NNLL by Resummino 3.1.2 of
J. Fiaschi, M. Klasen and A. Neuwirth (arXiv:1911.02419, arXiv:2304.11915). Their files are not part
of the project.
"""

import csv
import gzip
import re
from functools import cache

import numpy as np
import pytest

from nlobayes.physics.couplings import SCHEMES
from nlobayes.physics.hadronic import cross_sections
from nlobayes.physics.luminosity import Luminosities, luminosities
from nlobayes.physics.partonic import pair_at
from nlobayes.physics.pdf import MSTW2008_NLO
from nlobayes.physics.processes import make_process
from tests.prospino_points import SHARED
from tests.reference.test_public_tables import RESUMMINO
from tests.reference.test_published import ROOT, read

GRIDS = SHARED / "data/grids"
NEEDED = pytest.mark.skipif(not GRIDS.is_dir(), reason=f"the public tables are not at {GRIDS}")
MASSES = (100, 200, 500, 1000)
CHOICES = {"average mass": ("average_mass", RESUMMINO), "mu = Q": ("invariant_mass", None)}
LEFT, RIGHT, STAU = (1000011, -1000011), (2000011, -2000011), (1000015, -1000015)
PRODUCED = {
    "slep_LR": (LEFT, RIGHT),
    "stau_LR": (LEFT, RIGHT),
    "slep_L": (LEFT,),
    "stau_L": (LEFT,),
    "slep_R": (RIGHT,),
    "stau_R": (RIGHT,),
    "snu-snu": ((1000012, -1000012),),
    "snuP-slep": ((-1000011, 1000012),),
    "snuM-slep": ((1000011, -1000012),),
}
"""Pairs that a table of the working group sums, by the word in its name."""
STATED = read(ROOT / "docs/results/tables/physics_sleptons.csv")[1:]


def processes_of(name: str) -> tuple[tuple[int, int], ...]:
    numbers = re.findall(r"_(-?\d{7})", name)
    if numbers:
        return ((int(numbers[0]), int(numbers[1])),)
    return next(pairs for word, pairs in PRODUCED.items() if f"_{word}_" in name)


@cache
def beams_at(energy: float, central_scale: str) -> Luminosities:
    return luminosities(MSTW2008_NLO, energy, central_scale)


@cache
def ratios(name: str, choice: str) -> tuple[np.ndarray, np.ndarray]:
    """Masses to 1100 GeV, and the published cross section over our NLO; staus mix maximally."""
    with gzip.open(GRIDS / f"{name}.csv.gz", "rt") as file:
        rows = sorted((float(r["parameter_1"]), float(r["xsec_pb"])) for r in csv.DictReader(file))
    masses, published = np.array([row for row in rows if row[0] <= 1100]).T
    central_scale, scheme = CHOICES[choice]
    beams = beams_at(13_600.0 if name.startswith("13600") else 13_000.0, central_scale)
    ours = np.zeros_like(masses)
    for pair in processes_of(name):
        process = make_process(*pair)
        named = {c: masses if c.startswith("mass") else 0 * masses + 0.5 for c in process.columns}
        at = pair_at(process, named)._replace(scheme=scheme or SCHEMES["alpha_mz"])
        ours += cross_sections(at, np.inf, beams).nlo_pb
    return masses, published / ours


def at_masses(name: str, choice: str) -> list[str]:
    """Ratios at the masses of the file, in the logarithm of the mass between those of the table."""
    masses, found = ratios(name, choice)
    values = np.interp(np.log(MASSES), np.log(masses), found)
    inside = [masses[0] <= mass <= 1.06 * masses[-1] for mass in MASSES]
    return [f"{v:.2f}" if there else "–" for v, there in zip(values, inside, strict=True)]


@NEEDED
def test_the_file_states_the_ratios_to_the_tables() -> None:
    assert len(STATED) >= 16
    for name, choice, *stated in STATED:
        assert stated == at_masses(name.strip("`"), choice), name


@NEEDED
def test_every_table_is_of_one_flavour() -> None:
    """Ratios to all tables but those of HEPi for charged currents are 0.91 to 1.05."""
    every = (path.name.removesuffix(".csv.gz") for path in sorted(GRIDS.glob("*.csv.gz")))
    names = [name for name in every if re.search("slep|sneutrino|_snu|_stau", name)]
    assert len(names) == 29
    for name in names:
        _, found = ratios(name, "average mass")
        beyond = "sneutrinos" in name and "1000012_1000012" not in name
        low, high = (1.1, 1.38) if beyond else (0.91, 1.05)
        assert low < found.min() < found.max() < high, name


@NEEDED
def test_the_tables_of_charged_currents_differ_from_each_other() -> None:
    """Those of HEPi are above those of the working group by 17 to 40 %, without any engine."""
    for hepi, group in (
        ("13000_sneutrinos_-1000011_1000012_NNLL", "pp13_snuP-slep_NLO_NLL_PDF4LHC"),
        ("13000_sneutrinos_1000011_-1000012_NNLL", "pp13_snuM-slep_NLO_NLL_PDF4LHC"),
    ):
        masses, above = ratios(hepi, "average mass")
        of_group, below = ratios(group, "average mass")
        inside = (masses >= of_group[0]) & (masses <= of_group[-1])
        quotient = above[inside] / np.interp(masses[inside], of_group, below)
        assert 1.17 < quotient.min() < quotient.max() < 1.40
