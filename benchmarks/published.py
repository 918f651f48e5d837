"""Whether results equal the published ones, by the SHA-256 of what each file holds.

    python -m benchmarks.published           # compare results/ with benchmarks/published.json
    python -m benchmarks.published --write   # publish what results/ holds

Of an artifact the arrays count, and not the code, versions and inputs that made it. Of other files
all bytes count. Records state only what made a file, and figures show tables, so both are left out.
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


def verdict(root: Path, published: Mapping[str, str]) -> str:
    """Say whether the results of a project that are published are equal, or which differs first.

    The first is one whose inputs are equal.
    """
    found = {name: digest for name, digest in digests(root).items() if name in published}
    differing = {name for name, digest in found.items() if digest != published[name]}
    if not differing:
        return f"{len(found)} files are equal to the published results"
    project = Project(root)
    inputs = {name: ((o := project.origin(name)) and {*o.inputs}) or set() for name in differing}
    first = min(differing, key=lambda name: (len(inputs[name] & differing), name))
    return (
        f"{len(differing)} of {len(found)} files differ from the published results; {first} first"
    )


if __name__ == "__main__":
    if "--write" in sys.argv:
        write_json(PUBLISHED, digests(Path()))
    else:
        print(verdict(Path(), json.loads(PUBLISHED.read_text())))
