"""What programs in rounds cost and what their surrogates reached, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from nlobayes.artifacts.files import read_json, read_timing
from nlobayes.choosing import accuracy_in_words
from nlobayes.untyped import Document

TIMINGS = Path("timings/run_program")


def lines_of(results: Path, datasets: Iterable[str]) -> Iterator[str]:
    """Say of the last round of each program: points, CPU hours, accuracy, random points.

    Parameters
    ----------
    results
        Folder of the results, beside that of the timings.
    datasets
        Datasets of finished runs; those that are no rounds of a program are left out.
    """
    verdicts = _verdicts(results, datasets)
    earlier = earlier_rounds(results, verdicts)
    for name, verdict in verdicts.items():
        parts = [other for other, before in verdicts.items() if _is_part(before, verdict)]
        if name in earlier:
            continue
        hours = sum(_cpu_hours(results.parent / TIMINGS / part) for part in parts)
        last, random = verdict["rounds"][-1], verdict["as_random"]
        bought = last["points"] + last["validation"]
        yield (
            f"{name}: {bought} points up to round {len(verdict['rounds']) - 1},"
            f" {hours:.2g} CPU hours of the program; {accuracy_in_words.headline(last)}"
        )
        yield from (f"  {line}" for line in accuracy_in_words.lines_of(last))
        if random is not None:
            about = "more than" if random["is_bound"] else "about"
            yield f"  {about} {random['points']} random points would do as well as {last['points']}"


def earlier_rounds(results: Path, datasets: Iterable[str]) -> set[str]:
    """Name the datasets of rounds that a later round of the same program extends."""
    verdicts = _verdicts(results, datasets)
    return {
        name
        for name, verdict in verdicts.items()
        if any(_is_part(verdict, later) for later in verdicts.values() if later != verdict)
    }


def _verdicts(results: Path, datasets: Iterable[str]) -> dict[str, Document]:
    """Read the verdicts of those datasets that are rounds of a program."""
    return {
        name: read_json(path, "met", "rounds", "as_random")
        for name in datasets
        if (path := results / f"rounds/{name}.json").is_file()
    }


def _is_part(earlier: Document, later: Document) -> bool:
    return bool(earlier["rounds"] == later["rounds"][: len(earlier["rounds"])])


def _cpu_hours(folder: Path) -> float:
    """Add the CPU time of the jobs whose timings are in a folder; points of a store take none."""
    seconds = (read_timing(path, "cpu_time") for path in folder.glob("*.tsv"))
    return sum(filter(None, seconds)) / 3600
