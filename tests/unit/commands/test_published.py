"""Results are compared with published ones by what they hold."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.published import content_digest, digests, verdict
from nlobayes.artifacts.files import write_json
from nlobayes.artifacts.netcdf import open_artifact, write_groups

PREDICTIONS, SCORES = "results/predictions/a.nc", "results/metrics/a/diagnostics.json"


def test_other_code_with_equal_arrays_is_equal_and_the_first_difference_is_named(
    here: Path,
) -> None:
    published = digests(here)
    assert not any("records" in name for name in published)
    read = open_artifact(here / PREDICTIONS)
    write_groups(here / PREDICTIONS, "predictions", read.groups, {**read.attrs, "code_digest": "x"})
    assert verdict(here, published) == f"{len(published)} files are equal to the published results"
    read.groups["predictions"]["f"][:] += 1
    write_groups(here / PREDICTIONS, "predictions", read.groups, read.attrs)
    write_json(here / SCORES, {**json.loads((here / SCORES).read_text()), "more": 1})
    assert content_digest(here / PREDICTIONS) != published[PREDICTIONS]
    said = verdict(here, published)
    assert said.startswith(f"2 of {len(published)} files differ")
    assert said.endswith(f"{PREDICTIONS} first")
