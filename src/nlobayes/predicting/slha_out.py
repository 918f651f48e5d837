"""Cross sections of surrogates as blocks XSECTION in a copy of the SLHA file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from importlib.metadata import version
from pathlib import Path

from nlobayes.artifacts.files import write_bytes
from nlobayes.data.slha import spectrum_of
from nlobayes.data.slha_blocks import decode, is_slha, read_content
from nlobayes.data.statements import QCD_ORDERS
from nlobayes.data.xsections import OTHER_SCALE, Entry, others, put
from nlobayes.errors import InputError, one_line
from nlobayes.surrogate.cross_section import CrossSection, central, cross_section
from nlobayes.surrogate.domain import OUTSIDE
from nlobayes.surrogate.identity import Process, in_words, qcd_order
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.theory import TOTAL

OPTION = "--slha-out"
SCHEMES = {"mu = mean mass": 0, "mu = Q": 2}
"""Scale schemes by the beginning of the statement of scales."""


def write_xsections(surrogates: Sequence[Surrogate], points: str, out: Path) -> tuple[str, ...]:
    """Write a copy of an SLHA file with a block XSECTION for each surrogate.

    Raises InputError if the points are no SLHA file, its point cannot be predicted or is outside,
    or the process or order of a surrogate is not known. Then nothing is written.

    Returns names of other programs with cross sections of these processes, energies and orders in
    the file.
    """
    path = Path(points)
    if path.is_dir() or not is_slha(path):
        raise InputError("commands.slha_out_of_other", where=OPTION, points=points)
    known = [(surrogate, *_process_and_order(surrogate)) for surrogate in surrogates]
    content = read_content(path)
    if content.lstrip().startswith(b"<"):  # an LHE file, which nothing may follow
        raise InputError("commands.slha_out_of_other", where=OPTION, points=points)
    entries = [_entry(*each, decode(content), path) for each in known]
    write_bytes(out, reduce(put, entries, content))
    return tuple(dict.fromkeys(name for entry in entries for name in others(content, entry)))


def _process_and_order(surrogate: Surrogate) -> tuple[Process, int]:
    try:
        process, order = central(surrogate), qcd_order(surrogate.origin)
    except InputError as error:
        raise error.within(OPTION) from None
    if order is None:
        stated = surrogate.origin["order"]
        raise InputError("surrogate.no_order", where=OPTION, order=stated, known=[*QCD_ORDERS])
    return process, order


def _entry(surrogate: Surrogate, process: Process, order: int, text: str, path: Path) -> Entry:
    """Predict the point of an SLHA file, and return the entry of its block."""
    spectrum = spectrum_of(text, str(path), surrogate.inputs, surrogate.condition_names)
    place = f"{path}: {' '.join(map(str, process.outgoing))}"
    found = cross_section(surrogate, spectrum)
    if found.domain == OUTSIDE:
        reason = found.reason or "it lies far from the training data"
        raise InputError("commands.outside_of_xsection", where=place, reason=reason)
    return Entry(
        **process._asdict(),
        scheme=_scheme(surrogate),
        order=order,
        value=found.median,
        version=version("nlobayes"),
        comments=_comments(surrogate, found),
    )


def _theory(surrogate: Surrogate, found: CrossSection) -> str:
    """Describe the theory errors and the total error, or state that none is known."""
    if not surrogate.theory:
        return "without errors of scale, parton distributions and alpha_s"
    errors = (
        f"{source} {found.errors[f'{source}_down']:+.2%} {found.errors[f'{source}_up']:+.2%}"
        for source in (*surrogate.theory, TOTAL)
    )
    return f"all errors: {', '.join(errors)}"


def _scheme(surrogate: Surrogate) -> int:
    stated = surrogate.origin["scales"]
    return next((n for words, n in SCHEMES.items() if stated.startswith(words)), OTHER_SCALE)


def _comments(surrogate: Surrogate, found: CrossSection) -> tuple[str, ...]:
    """Return a line each for interval, domain, process, scales and failed checks."""
    failed = [name for names in surrogate.failed_checks.values() for name in names]
    lines = (
        f"68 %: {found.low:.6g} to {found.high:.6g} pb by the surrogate alone, "
        + _theory(surrogate, found),
        f"{found.domain} of the training data; {found.reason}".rstrip("; "),
        in_words(surrogate.origin),
        f"scales: {surrogate.origin['scales']}",
        f"checks that failed: {', '.join(failed)}" if failed else "",
    )
    return tuple(one_line(line) for line in lines if line)
