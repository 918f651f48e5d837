"""Settings of source `program`: what does not fit together is refused before a job is planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.job_builder import design_job, run_program_job
from nlobayes.study.program import Program, read_program
from nlobayes.study.resources import need, size_of_dataset
from nlobayes.study.sources import Source
from tests.refusals import invalid, refused

PROGRAM: dict[str, Any] = {
    "command": ["prog", "{input}", "{m1:.6g}"],
    "version": "1.2",
    "input": {"kind": "csv"},
    "output": {"kind": "number", "column": "sigma", "unit": "pb"},
}
DESIGN = {"kind": "sobol", "points": 250, "ranges": {"m1": {"low": 1, "high": 2, "unit": "GeV"}}}
SOURCE = {"kind": "program", "program": PROGRAM, "design": DESIGN}


def source(**changes: Any) -> Any:
    return TypeAdapter(Source).validate_python(SOURCE | changes)


def preset(**changes: Any) -> DatasetPreset:
    given: dict[str, Any] = {
        "source": SOURCE,
        "features": {"columns": ["m1"], "map": "raw"},
        "target": {"column": "sigma"},
        "split": {"train": 0.6, "validation": 0.2, "test": 0.2},
    }
    return DatasetPreset.model_validate(given | changes)


def test_a_program_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "program.yaml"
    file.write_text(yaml.safe_dump(PROGRAM))
    assert read_program(file) == Program.model_validate(PROGRAM)
    file.write_text(yaml.safe_dump({**PROGRAM, "colour": "red"}))
    with refused("study.unknown_key", where=str(file)):
        read_program(file)


def test_a_study_gives_its_only_program(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    datasets: dict[str, Any] = {"slow": {"source": SOURCE}, "a": {"source": {"kind": "toy"}}}
    file.write_text(yaml.safe_dump({"precision": "float64", "datasets": datasets}))
    assert read_program(file) == Program.model_validate(PROGRAM)
    for programs, given in ((2, datasets | {"b": {"source": SOURCE}}), (0, {"a": None}), (0, [1])):
        file.write_text(yaml.safe_dump({"datasets": given}))
        with refused("programs.not_one", where=file, programs=programs):
            read_program(file)


def test_rows_chunks_and_jobs() -> None:
    assert source().chunks == 3
    assert source(chunk=50).chunks == 5
    assert source().rows(7) == 250
    assert source().known == ("m1", "sigma")
    dataset = preset()
    assert design_job(dataset).design == dataset.source.design  # type: ignore[attr-defined]
    job = run_program_job(dataset)
    assert (job.rows, job.store, job.program.version) == (100, "points", "1.2")


def test_a_job_asks_for_what_the_program_demands() -> None:
    little = need("run_program", size_of_dataset(preset(), 250))
    demands = {"memory_mb": 3000, "seconds": 600, "at_once": 4}
    more = preset(source=SOURCE | {"demands": demands})
    much = need("run_program", size_of_dataset(more, 250))
    assert much.mem_mb - little.mem_mb == 11_000
    assert (little.runtime, much.runtime) == (10 + 100, 10 + 250)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"command": ["prog", "{m2}"]}, "programs.no_column"),
        ({"command": ["prog", "{m1:s}"]}, "programs.format"),
        ({"command": ["prog", "{input}"], "input": None}, "programs.no_input_file"),
        ({"command": []}, "too_short"),
        ({"version": ""}, "string_too_short"),
        ({"files": ["absent"]}, "study.no_file"),
        ({"files": ["../absent"]}, "study.no_file"),
        ({"output": PROGRAM["output"] | {"column": "m1"}}, "programs.column_taken"),
        ({"output": PROGRAM["output"] | {"column": "failure"}}, "programs.column_taken"),
        ({"timeout_s": 0}, "greater_than"),
    ],
)
def test_bad_programs(changes: dict[str, Any], fault: str) -> None:
    with invalid(fault):
        source(program=PROGRAM | changes)


def test_a_template_with_a_field_that_is_no_column(tmp_path: Path) -> None:
    (tmp_path / "point.slha").write_text("{m1} {m7}")
    with invalid("programs.no_column", field="m7", columns=["m1"]):
        source(
            program=PROGRAM | {"input": {"kind": "template", "file": str(tmp_path / "point.slha")}}
        )


def test_two_files_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "point.csv").touch()
    with invalid("programs.same_name", name="point.csv"):
        source(program=PROGRAM | {"files": [str(tmp_path / "point.csv")]})


def test_too_many_jobs() -> None:
    with invalid("programs.many_chunks", chunks=2500, most=2000, least=125):
        source(design=DESIGN | {"points": 250_000})


def test_a_feature_that_the_program_is_not_told() -> None:
    ranges = {"m1": {"low": 1, "high": 2}, "m2": {"low": 1, "high": 2}}
    program = PROGRAM | {"input": None, "command": ["prog", "{m1}"]}
    given = SOURCE | {"design": DESIGN | {"ranges": ranges}, "program": program}
    features = {"columns": ["m1", "m2"], "map": "raw", "units": {}}
    with invalid("programs.not_told", name="m2", told=["m1"]):
        preset(source=given, features=features)
    with invalid("study.no_column", name="lo"):
        preset(target={"column": "lo"})


def test_the_user_states_the_process_of_a_program() -> None:
    process = {"outgoing": [1000022, 1000022], "sqrt_s_tev": 13}
    assert preset(process=process).process is not None


def test_the_unit_of_a_result_must_fit_the_target() -> None:
    output = PROGRAM["output"] | {"unit": "GeV"}
    with invalid("data.unit_of_another_kind"):
        preset(source=SOURCE | {"program": PROGRAM | {"output": output}})


def test_a_file_of_the_program_changed_since_planning(tmp_path: Path) -> None:
    (tmp_path / "grid").mkdir()
    (tmp_path / "grid/pdf").write_text("1")
    planned = Program.model_validate(PROGRAM | {"files": [str(tmp_path / "grid")]})
    (tmp_path / "grid/pdf").write_text("2")
    with invalid("study.file_changed"):
        Program.model_validate(planned.model_dump())
