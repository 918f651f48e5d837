"""The input file of a point: a template, a CSV table, a JSON object."""

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from nlobayes.exchange.inputs import INPUTS, Input
from tests.refusals import invalid

POINT = {"m1": 1 / 3, "msq": 2500.0}


def made(**settings: Any) -> Any:
    return TypeAdapter(Input).validate_python(settings)


def test_a_template_has_the_name_of_its_file_and_a_digest(tmp_path: Path) -> None:
    file = tmp_path / "point.slha"
    file.write_text(" 1000022 {m1:.8e}\n")
    template = made(kind="template", file=str(file))
    assert template.name == "point.slha"
    assert template.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert template.fields() == ("m1",)
    assert template.text(POINT) == " 1000022 3.33333333e-01\n"
    file.write_text(" 1000022 {m1:.2e}\n")
    assert made(kind="template", file=str(file)).text(POINT) == " 1000022 3.33e-01\n"
    with invalid("study.file_changed"):
        made(**template.model_dump())


def test_csv_and_json_have_all_columns_exactly() -> None:
    (row,) = csv.DictReader(made(kind="csv").text(POINT).splitlines())
    assert {name: float(cell) for name, cell in row.items()} == POINT
    assert json.loads(made(kind="json").text(POINT)) == POINT
    assert made(kind="csv").fields() is None
    assert {made(kind=kind).name for kind in ("csv", "json")} == {"point.csv", "point.json"}
    assert {"template", "csv", "json"} <= {*INPUTS}


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"kind": "template", "file": "absent.slha"}, "study.no_file"),
        ({"kind": "csv", "name": "../point.csv"}, "programs.file_name"),
        ({"kind": "csv", "name": ".."}, "programs.file_name"),
        ({"kind": "csv", "name": ""}, "string_too_short"),
        ({"kind": "lhe"}, "union_tag_invalid"),
    ],
)
def test_bad_settings(settings: dict[str, Any], fault: str) -> None:
    with invalid(fault):
        made(**settings)


def test_a_template_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with invalid("programs.template"):
        made(kind="template", file=str(tmp_path / "binary"))
