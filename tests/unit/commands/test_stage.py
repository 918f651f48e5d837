"""A command follows from the signature of a function of values."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest

from nlobayes.artifacts.contents import write_earlier
from nlobayes.artifacts.files import read_json, write_json
from nlobayes.commands.stage import stage
from nlobayes.errors import InputError
from nlobayes.stage_files import File, Stated
from nlobayes.stages import function_of
from nlobayes.study.jobs import PretrainJob, RivalJob
from nlobayes.types import EarlierData
from tests.refusals import refused

SPEC = '{"rival": {"kind": "gaussian_process"}}'
Sealed = Annotated[
    dict[str, Any], File(read_json, lambda path, value, origin: write_json(path, value | origin))
]


@stage()
def thin(
    job: RivalJob,
    first: Annotated[dict[str, Any], File(read_json)],
    others: list[Annotated[dict[str, Any], File(read_json)]],
    last: Annotated[dict[str, Any], File(read_json)] | None = None,
    number: int = 3,
) -> tuple[
    Stated[Sealed], Annotated[dict[str, Any], File(write=write_json, option="table", recorded=True)]
]:
    """Join numbers.

    Parameters
    ----------
    first
        A file
        of two lines.
    others
        Others; repeat.
    last
        One more.
    number
        A count.

    Returns
    -------
    out
        What is written.
    table
        A table.
    """
    if len(others) > 1 and others[1]["value"] < 0:
        raise InputError("commands.other_epochs", where="others[1]: row 2")
    found = [first["value"], *(one["value"] for one in others), number]
    return Stated({"found": found, "last": last}, {"exact": True}), {"rows": len(found)}


def files_of(folder: Path, **values: int) -> dict[str, Path]:
    for name, value in values.items():
        write_json(folder / f"{name}.json", {"value": value})
    return {name: folder / f"{name}.json" for name in values}


def test_options_follow_from_the_signature_with_the_help_of_the_docstring() -> None:
    options = inspect.signature(thin).parameters
    assert [*options] == ["spec", "first", "others", "out", "table", "last", "number", "record"]
    helps = {name: one.annotation.__metadata__[0].help for name, one in options.items()}
    assert helps["first"] == "A file of two lines."
    assert helps["table"] == "A table."
    assert options["number"].default == 3
    assert options["number"].annotation.__metadata__[0].min == 0
    assert [name for name in options if options[name].default is None] == ["last", "record"]


def test_results_are_written_with_their_origin_in_the_file_or_in_a_record(tmp_path: Path) -> None:
    paths = files_of(tmp_path, a=1, b=2, c=5)
    out, table = tmp_path / "out.json", tmp_path / "table.json"
    thin(SPEC, paths["a"], [paths["b"], paths["c"]], out, table, record=tmp_path / "record.json")
    made, record = read_json(out), read_json(tmp_path / "record.json")
    assert (made["found"], made["last"], made["exact"]) == ([1, 2, 5, 3], None, True)
    assert read_json(table) == {"rows": 4}
    for origin in (made, record):
        assert (origin["verb"], [*origin["inputs"]]) == ("thin", [*map(str, paths.values())])
    assert [*record["outputs"]] == [str(out), str(table)]
    assert "outputs" not in made


def test_the_function_itself_needs_no_file() -> None:
    job = RivalJob.model_validate_json(SPEC)
    made, table = thin.compute(job, {"value": 1}, [{"value": 2}], number=0)  # type: ignore[attr-defined]
    assert (made.value["found"], table) == ([1, 2, 0], {"rows": 3})


def test_an_error_names_the_path_of_the_parameter_that_it_is_about(tmp_path: Path) -> None:
    paths = files_of(tmp_path, a=1, b=2, c=-1)
    with refused("commands.other_epochs", where=f"{paths['c']}: row 2"):
        thin(SPEC, paths["a"], [paths["b"], paths["c"]], tmp_path / "out.json", tmp_path / "t.json")
    assert not (tmp_path / "out.json").exists()


def test_a_missing_option_is_called_so(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="others"):
        thin(SPEC, tmp_path / "a.json", out=tmp_path, table=tmp_path)


@stage()
def pretrain(
    job: PretrainJob, earlier: EarlierData | None
) -> Annotated[dict[str, Any], File(write=write_json, recorded=True)]:
    """Count the points of earlier data.

    Returns
    -------
    out
        Their number.
    """
    return {"points": 0 if earlier is None else len(earlier.inputs), "seed": job.seed}


@pytest.mark.parametrize("named", [True, False])
def test_earlier_data_are_read_from_the_job_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    """A stage that takes them states their file as an input, also on the CPU."""
    monkeypatch.chdir(tmp_path)
    site = (np.eye(2), np.zeros(2), ("x",), "y", {"x": "", "y": ""}, "identity")
    write_earlier(Path("earlier.nc"), EarlierData(np.ones((2, 1)), *site), {})
    prior = {"kind": "fan_in"} | ({"earlier": {"file": "earlier.nc"}} if named else {})
    likelihood = {"kind": "gaussian", "sigma": 0.1}
    model = {"network": {"hidden": [2]}, "prior": prior, "likelihood": likelihood}
    spec = {"model": model | {"precision": "float64"}, "pretraining": {}, "seed": 1}
    pretrain(json.dumps(spec), Path("out.json"), record=Path("record.json"))
    assert read_json(Path("out.json"))["points"] == 2 * named
    assert [*read_json(Path("record.json"))["inputs"]] == ["earlier.nc"] * named


@pytest.mark.parametrize("name", ["pretrain", "sample", "approximate", "landscape"])
def test_stages_of_the_posterior_take_earlier_data(name: str) -> None:
    """Prior draws do not: they come before any data."""
    assert "earlier" in inspect.signature(vars(function_of(name))["compute"]).parameters
    assert "earlier" not in inspect.signature(function_of(name)).parameters
    prior = vars(function_of("prior_predictive"))["compute"]
    assert "earlier" not in inspect.signature(prior).parameters
