"""Surrogates of known identity, and the SLHA spectrum of a point that lies within."""

from collections.abc import Mapping
from pathlib import Path

from nlobayes.artifacts.contents import write_surrogate
from nlobayes.surrogate.cross_section import CrossSection, Part, cross_section, total
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Dataset, SurrogateContent

STATED = {
    "process": "p p -> chi0_1 chi0_1",
    "incoming": "2212 2212",
    "outgoing": "1000022 1000022",
    "sqrt_s_tev": "13.0",
    "order": "NLO QCD; lo_pb: LO",
    "scales": "mu = Q for sigma_pb",
    "fixed": "msq = 3000 GeV (2970 to 3030)",
}
SQUARKS = (*range(1000001, 1000005), *range(2000001, 2000005))


def write(
    path: Path,
    exported: SurrogateContent,
    dataset: Dataset,
    stated: Mapping[str, str] | None = None,
) -> Path:
    """Write a surrogate whose table states this, by default `STATED`."""
    facts = {**exported.facts, "table_metadata": STATED if stated is None else stated}
    write_surrogate(path, exported._replace(facts=facts), dataset, {"verb": "export", "spec": {}})
    return path


def spectrum_of(surrogate: Surrogate, squarks: float | None = 3000.0) -> str:
    """Write the typical point of a surrogate as SLHA, with squarks of this mass in GeV."""
    mass, *mixing = surrogate.typical.values()
    masses = {1000022: mass, 1000023: 500.0, 1000025: -600.0, 1000035: 700.0}
    masses |= {} if squarks is None else dict.fromkeys(SQUARKS, squarks)
    rows = {(1, j): value for j, value in enumerate(mixing, start=1)}
    rows |= {(i, j): float(i == j) for i in range(2, 5) for j in range(1, 5)}
    return "\n".join(
        [
            *("Block MASS", *(f"  {pid}  {value!r}" for pid, value in masses.items())),
            *("Block NMIX", *(f"  {i} {j}  {value!r}" for (i, j), value in rows.items()), ""),
        ]
    )


def added(surrogates: Mapping[str, Surrogate], spectrum: Mapping[str, float]) -> CrossSection:
    """Add the cross sections of surrogates at one spectrum."""
    return total(
        {n: Part(one, spectrum, cross_section(one, spectrum)) for n, one in surrogates.items()}
    )
