"""Cross sections of surrogates as blocks XSECTION in a copy of the SLHA file."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from nlobayes.artifacts.files import write_bytes
from nlobayes.bundles.embedded import ENGINE, SCALES, origin
from nlobayes.bundles.requests import pdg_text
from nlobayes.bundles.surrogates import Bundle
from nlobayes.data.slha import spectrum_of
from nlobayes.data.slha_blocks import is_slha, read_content, read_text
from nlobayes.data.statements import QCD_ORDERS
from nlobayes.data.xsections import OTHER_SCALE, Entry, others, put
from nlobayes.errors import InputError, one_line
from nlobayes.predicting.bundle_points import BundleRequest
from nlobayes.surrogate.cross_section import CrossSection, central, cross_section
from nlobayes.surrogate.domain import OUTSIDE
from nlobayes.surrogate.identity import Process, in_words, qcd_order
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.theory import TOTAL

OPTION = "--slha-out"
SCHEMES = {"mu = mean mass": 0, "mu = Q": 2}
"""Scale schemes by the beginning of the statement of scales."""


class Section(NamedTuple):
    """A cross section of a process with what its block states of it."""

    process: Process
    order: int
    scales: str
    """Statement of the scales."""
    found: CrossSection
    comments: tuple[str, ...]


def write_xsections(sections: Iterable[Section], points: str, out: Path) -> tuple[str, ...]:
    """Write a copy of an SLHA file with a block XSECTION for each cross section.

    Raises InputError if a point is outside, or the order of a surrogate is not known. Then nothing
    is written.

    Returns names of other programs with cross sections of these processes, energies and orders in
    the file.
    """
    content = read_content(Path(points))
    entries = [_entry(section, points) for section in sections]
    write_bytes(out, reduce(put, entries, content))
    return tuple(dict.fromkeys(name for entry in entries for name in others(content, entry)))


def check_slha(points: str) -> None:
    """Check that points are one SLHA file to which blocks may be added.

    Raises InputError if they are not.
    """
    path = Path(points)
    if path.is_dir() or not is_slha(path) or read_content(path).lstrip().startswith(b"<"):
        raise InputError(
            "commands.slha_out_of_other", where=OPTION, points=points
        )  # or an LHE file


def section_of(surrogate: Surrogate, points: str) -> Section:
    """Predict the cross section of an SLHA file.

    Raises InputError if the surrogate does not know its process or order, or the file is no such
    spectrum.
    """
    try:
        process = central(surrogate)
    except InputError as error:
        raise error.within(OPTION) from None
    _order_of(surrogate)
    spectrum = spectrum_of(
        read_text(Path(points)), points, surrogate.inputs, surrogate.condition_names
    )
    return _section(surrogate, process, cross_section(surrogate, spectrum))


def sections_of(
    bundle: Bundle, points: str, request: BundleRequest
) -> tuple[list[Section], list[str]]:
    """Predict the cross sections of an SLHA file, and name the processes that are left out.

    Of all processes, those are left out that are outside, or not predicted, and sums of processes.

    Raises InputError as `Bundle.predict`, or if all processes are left out, or a requested one is a
    sum.
    """
    asked = request.processes, request.energy, request.order
    sections: list[Section] = []
    left_out = []
    offered = bundle.offered(*asked)
    for pair, found in bundle.predict(points, *asked, engine=request.engine).items():
        first, *_ = offered[pdg_text(pair)]
        process = Process(first.incoming, pair, request.energy or first.sqrt_s_gev)
        is_sum = found.entry != ENGINE and bundle.entry(found.entry).inclusive
        if request.processes == "all" and (is_sum or found.domain == OUTSIDE):
            left_out.append(pdg_text(pair))
        elif is_sum:
            raise InputError("commands.sum_as_xsection", where=OPTION, process=pdg_text(pair))
        elif found.entry == ENGINE:
            sections.append(Section(process, QCD_ORDERS["NLO"], SCALES, found, _of_engine(found)))
        else:
            sections.append(_section(bundle.surrogates[found.entry], process, found))
    if not sections:
        raise InputError("commands.no_xsection", where=OPTION, left_out=left_out)
    return sections, left_out


def _order_of(surrogate: Surrogate) -> int:
    order = qcd_order(surrogate.origin)
    if order is None:
        stated = surrogate.origin["order"]
        raise InputError("surrogate.no_order", where=OPTION, order=stated, known=[*QCD_ORDERS])
    return order


def _section(surrogate: Surrogate, process: Process, found: CrossSection) -> Section:
    scales = surrogate.origin["scales"]
    return Section(process, _order_of(surrogate), scales, found, _comments(surrogate, found))


def _entry(section: Section, points: str) -> Entry:
    """Return the entry of a block."""
    process, order, scales, found, comments = section
    if found.domain == OUTSIDE:
        reason = found.reason or "it lies far from the training data"
        place = f"{points}: {pdg_text(process.outgoing)}"
        raise InputError("commands.outside_of_xsection", where=place, reason=reason)
    return Entry(
        **process._asdict(),
        scheme=next((n for words, n in SCHEMES.items() if scales.startswith(words)), OTHER_SCALE),
        order=order,
        value=found.median,
        version=version("nlobayes"),
        comments=comments,
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


def _of_engine(found: CrossSection) -> tuple[str, ...]:
    """Return a line each for errors, reason, calculation and scales."""
    scale = f"{found.errors['scale_down']:+.2%} {found.errors['scale_up']:+.2%}"
    calculation = ", ".join(origin().values())
    return f"scale errors {scale}", found.reason, calculation, f"scales: {SCALES}"


def _comments(surrogate: Surrogate, found: CrossSection) -> tuple[str, ...]:
    """Return a line each for interval, domain, process, scales and failed checks."""
    failed = [name for names in surrogate.failed_checks.values() for name in names]
    lines = (
        f"68 %: {found.low:.6g} to {found.high:.6g} pb by the surrogate alone, "
        + _theory(surrogate, found),
        f"{found.domain} of the training data; {found.reason}".rstrip("; "),
        in_words(surrogate.origin) + (f"; entry {found.entry}" if found.entry else ""),
        f"scales: {surrogate.origin['scales']}",
        f"checks that failed: {', '.join(failed)}" if failed else "",
    )
    return tuple(one_line(line) for line in lines if line)
