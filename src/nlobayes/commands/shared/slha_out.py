"""The cross section of a surrogate as a block XSECTION in a copy of the SLHA file."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from nlobayes.artifacts.files import write_bytes
from nlobayes.data.slha import decode, read_content, spectrum_of
from nlobayes.data.spectrum_chunks import ENDING
from nlobayes.data.statements import QCD_ORDERS
from nlobayes.data.xsections_out import OTHER_SCALE, Entry, others, put
from nlobayes.errors import InputError, one_line
from nlobayes.surrogate.cross_section import CrossSection, central, cross_section
from nlobayes.surrogate.domain import OUTSIDE
from nlobayes.surrogate.identity import in_words, qcd_order
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.theory import TOTAL

OPTION = "--slha-out"
SCHEMES = {"mu = mean mass": 0, "mu = Q": 2}
"""Scale schemes by how statements of the scales begin."""


def write_xsection(surrogate: Surrogate, points: str, out: Path) -> tuple[str, ...]:
    """Write an SLHA file as it is, with the cross section of its point in a separate block.

    Returns
    -------
    Other programs whose cross sections of this process, energy and order are in the file, too.

    Raises
    ------
    InputError
        If the points are no SLHA file, its point cannot be predicted or is outside, or the
        surrogate does not know its process and order.
    """
    path = Path(points)
    if path.is_dir() or path.suffix != ENDING:
        raise InputError("commands.slha_out_of_other", where=OPTION, points=points, ending=ENDING)
    try:
        process, order = central(surrogate), qcd_order(surrogate.origin)
    except InputError as error:
        raise error.within(OPTION) from None
    if order is None:
        stated = surrogate.origin["order"]
        raise InputError("surrogate.no_order", where=OPTION, order=stated, known=[*QCD_ORDERS])
    content = read_content(path)
    spectrum = spectrum_of(decode(content), points, surrogate.inputs, surrogate.held)
    try:
        found = cross_section(surrogate, spectrum)
    except InputError as error:
        raise error.within(points) from None
    if found.domain == OUTSIDE:
        reason = found.reason or "it lies far from the training data"
        raise InputError("commands.outside_of_xsection", where=path, reason=reason)
    entry = Entry(
        **process._asdict(),
        scheme=_scheme(surrogate),
        order=order,
        value=found.median,
        version=version("nlobayes"),
        comments=_comments(surrogate, found),
    )
    write_bytes(out, put(content, entry))
    return others(content, entry)


def _theory(surrogate: Surrogate, found: CrossSection) -> str:
    """Give the theory errors and the total error, or that none is known."""
    if not surrogate.theory:
        return "without errors of scale, parton distributions and alpha_s"
    told = (
        f"{source} {found.errors[f'{source}_down']:+.2%} {found.errors[f'{source}_up']:+.2%}"
        for source in (*surrogate.theory, TOTAL)
    )
    return f"all errors: {', '.join(told)}"


def _scheme(surrogate: Surrogate) -> int:
    stated = surrogate.origin["scales"]
    return next((n for words, n in SCHEMES.items() if stated.startswith(words)), OTHER_SCALE)


def _comments(surrogate: Surrogate, found: CrossSection) -> tuple[str, ...]:
    """Give a line each for interval, domain, process and failed checks."""
    failed = [name for names in surrogate.failed_checks.values() for name in names]
    said = (
        f"68 %: {found.low:.6g} to {found.high:.6g} pb by the surrogate alone, "
        + _theory(surrogate, found),
        f"{found.domain} of the training data; {found.reason}".rstrip("; "),
        in_words(surrogate.origin),
        f"scales: {surrogate.origin['scales']}",
        f"checks that failed: {', '.join(failed)}" if failed else "",
    )
    return tuple(one_line(line) for line in said if line)
