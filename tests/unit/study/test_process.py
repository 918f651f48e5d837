"""Statements of a user about a table are passed to `prepare`, for user tables only."""

from typing import Any

import pytest

from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.job_builder import prepare_job
from nlobayes.study.process import Process
from tests.refusals import invalid

TABLE: dict[str, Any] = {
    "source": {"kind": "table", "path": "points.csv"},
    "split": {"train": 4, "validation": 1, "test": 1},
}
PROCESS: dict[str, Any] = {"outgoing": [1000022, 1000023], "sqrt_s_tev": 13.6}


def test_the_job_of_prepare_contains_it_only_where_it_is_stated() -> None:
    job = prepare_job(DatasetPreset.model_validate(TABLE | {"process": PROCESS}))
    assert job.process is not None
    assert job.process.statements() == {
        "incoming": (2212, 2212),
        "outgoing": (1000022, 1000023),
        "sqrt_s_tev": 13.6,
    }
    for made in (
        DatasetPreset.model_validate(TABLE),
        prepare_job(DatasetPreset.model_validate(TABLE)),
    ):
        assert "process" not in made.model_dump()


@pytest.mark.parametrize(
    "source", [{"kind": "simulate"}, {"kind": "slha", "folder": "scan"}, {"kind": "toy"}]
)
def test_other_sources_know_theirs(source: dict[str, str]) -> None:
    name = {"name": "marek"} if source["kind"] == "toy" else {}
    columns = {"columns": ["x"], "map": "raw", "units": {}} if name else {}
    target = {"column": "y", "unit": "", "scale": "identity"} if name else {}
    with invalid("study.process_of_source", kind=source["kind"]):
        DatasetPreset.model_validate(
            TABLE
            | {"source": source | name, "features": columns, "target": target}
            | {"process": PROCESS}
        )


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"outgoing": []}, "too_short"),
        ({"outgoing": None}, "tuple_type"),
        ({"outgoing": ["chi"]}, "int_type"),
        ({"incoming": [2212]}, "missing"),
        ({"sqrt_s_tev": 0}, "greater_than"),
        ({"sqrt_s_tev": float("nan")}, "finite_number"),
        ({"order": ""}, "string_too_short"),
        ({"order": "a\nb"}, "study.text_not_printable"),
        ({"energy": 13}, "study.unknown_key"),
        ({"fixed": {"m sq": {"value": 1}}}, "string_pattern_mismatch"),
        ({"fixed": {"msq": {"value": 1, "unit": "G V"}}}, "string_pattern_mismatch"),
        ({"fixed": {"msq": {"value": 1, "low": 2}}}, "study.fixed_outside"),
        ({"fixed": {"msq": {"value": float("inf")}}}, "finite_number"),
        ({"fixed": {"msq": {}}}, "missing"),
        ({"fixed": {"tan_beta": {"value": 10}}}, "study.fixed_unit"),
        ({"fixed": {"mass_1000021": {"value": 2.5, "unit": "TeV"}}}, "study.fixed_unit"),
    ],
)
def test_what_is_no_process_is_refused(change: dict[str, Any], fault: str) -> None:
    with invalid(fault):
        Process(**PROCESS | change)
