"""Whether results equal the published ones, by the SHA-256 of what each file holds.

    python -m benchmarks.published           # compare results/ with benchmarks/published.json
    python -m benchmarks.published --write   # publish what results/ holds, alone
    python -m benchmarks.published --add     # publish it beside what is published

Of an artifact the arrays count, and not the code, versions and inputs that made it. Of other files
all bytes count. Records state only what made a file, and figures show tables, so both are left out.
Results are equal if they are those of one kind of processor: the size of the first data cache
decides how Eigen divides long sums, as over 1000 rows. Published are those of 48 and of 32 KiB.
(That the first were of 48 was inferred: sizes are recorded since the second.)
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from nlobayes.artifacts.audit.folders import list_below
from nlobayes.artifacts.audit.origins import RECORDS, Project
from nlobayes.artifacts.files import write_json
from nlobayes.artifacts.netcdf import open_artifact

LEFT_OUT = (RECORDS, "results/figures")
PUBLISHED = Path(__file__).with_suffix(".json")
FIRST_CACHE = Path("/sys/devices/system/cpu/cpu0/cache/index0/size")


def content_digest(path: Path) -> str:
    """Return the SHA-256 of the arrays of an artifact, with their names, or of another file."""
    if path.suffix != ".nc":
        return hashlib.sha256(path.read_bytes()).hexdigest()
    digest = hashlib.sha256()
    for group, dataset in sorted(open_artifact(path).groups.items()):
        for name, array in sorted(dataset.variables.items(), key=lambda item: str(item[0])):
            values = array.to_numpy()
            numbers = values.dtype.kind not in "OUS"
            content = values.tobytes() if numbers else json.dumps(values.tolist()).encode()
            stated = [group, str(name), [*map(str, array.dims)], values.dtype.str, values.shape]
            digest.update(json.dumps(stated).encode() + content)
    return digest.hexdigest()


def digests(root: Path) -> dict[str, str]:
    """Return the digest of each result of a project but records and figures, by name."""
    project = Project(root)
    names = {project.name(path): path for path in list_below(root / "results").files}
    return {
        name: content_digest(path) for name, path in names.items() if not name.startswith(LEFT_OUT)
    }


def verdict(root: Path, published: Mapping[str, Mapping[str, str]]) -> str:
    """Say whether the results of a project that are published are equal, or which differs first.

    They are compared with the kind of processor whose results differ least. The first is one whose
    inputs are equal.
    """
    present = digests(root)
    found, differing = min(
        (_compared(present, each) for each in published.values()),
        key=lambda compared: len(compared[1]),
    )
    if not differing:
        return f"{len(found)} files are equal to the published results"
    project = Project(root)
    inputs = {name: ((o := project.origin(name)) and {*o.inputs}) or set() for name in differing}
    first = min(differing, key=lambda name: (len(inputs[name] & differing), name))
    return (
        f"{len(differing)} of {len(found)} files differ from the published results; {first} first"
    )


def _compared(
    present: Mapping[str, str], published: Mapping[str, str]
) -> tuple[set[str], set[str]]:
    """Return the names of results that are published, and of those that differ."""
    found = {*present} & {*published}
    return found, {name for name in found if present[name] != published[name]}


if __name__ == "__main__":
    of_sizes = {} if "--write" in sys.argv else json.loads(PUBLISHED.read_text())
    if {"--write", "--add"} & {*sys.argv}:
        write_json(PUBLISHED, {**of_sizes, FIRST_CACHE.read_text().strip(): digests(Path())})
    else:
        print(verdict(Path(), of_sizes))
