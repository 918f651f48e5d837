"""The summary of a file has its contents, with problems in red."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.commands.audit.show import show
from tests.refusals import refused

TABLE, DATA = Path("results/tables/a.parquet"), Path("results/data/a.nc")
PREDICTIONS, SCORES = Path("results/predictions/a.nc"), Path("results/metrics/a/diagnostics.json")
RECORD = Path("results/records/diagnose/a.json")
RED = "\x1b[1;31m"
Summary = Callable[..., dict[str, Any]]
Printed = Callable[..., str]


@pytest.fixture
def summary_of(capsys: pytest.CaptureFixture[str]) -> Summary:
    """Show a file as JSON, and return the parsed JSON."""

    def read(path: Path) -> dict[str, Any]:
        capsys.readouterr()
        show(path, json=True)
        found = json.loads(capsys.readouterr().out)
        assert isinstance(found, dict)
        return found

    return read


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    """Show a file, and return the printed text."""

    def read(path: Path) -> str:
        capsys.readouterr()
        show(path)
        return capsys.readouterr().out

    return read


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 40 columns with colours."""
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "40"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_the_origin_of_an_artifact_is_shown(here: Path, summary_of: Summary) -> None:
    found, attrs = summary_of(PREDICTIONS), read_attrs(PREDICTIONS)
    assert found["kind"] == "predictions"
    assert found["size"] == PREDICTIONS.stat().st_size
    assert found["sha256"] == sha256(PREDICTIONS.read_bytes()).hexdigest()
    assert found["sealed"] is True
    names = ("verb", "code_digest", "lock_digest", "versions", "device", "precision", "exact")
    assert {name: found["made"][name] for name in names} == {name: attrs[name] for name in names}
    assert found["made"]["spec"] == attrs["spec"]
    assert found["made"]["inputs"] == {str(DATA): "the same"}
    assert (found["made"]["installed_code"], found["made"]["same_lock"]) == (True, True)


def test_sizes_and_checks_of_predictions_are_shown(here: Path, summary_of: Summary) -> None:
    found = summary_of(PREDICTIONS)
    assert found["numbers"] == {"chains": 2, "points": 12, "ensemble of MAPs": 3}
    assert found["checks"] == read_attrs(PREDICTIONS)["checks"]
    groups = open_artifact(PREDICTIONS, "predictions").groups
    shown = {
        group: {name: one["dims"] for name, one in variables.items()}
        for group, variables in found["groups"].items()
    }
    assert shown == {
        name: {str(n): dict(v.sizes) for n, v in group.variables.items()}
        for name, group in groups.items()
    }


def test_rows_and_ranges_of_a_dataset_are_shown(here: Path, summary_of: Summary) -> None:
    found, data = summary_of(DATA), read_dataset(DATA)
    rows = {"train rows": 6, "val rows": 3, "test rows": 3, "reference points": 2}
    assert rows.items() <= found["numbers"].items()
    assert found["columns"][0] == {
        "name": "m1",
        "unit": "GeV",
        "least": data.inputs[:, 0].min(),
        "most": data.inputs[:, 0].max(),
    }
    assert found["columns"][-1]["name"] == found["numbers"]["target"] == "sigma_pb"
    assert found["columns"][-1]["unit"] == "pb"


def test_a_surrogate_tells_what_it_is_of(
    surrogate_path: Path, here: Path, summary_of: Summary, printed: Printed
) -> None:
    """If the table states nothing, all is unknown."""
    plain = summary_of(surrogate_path)
    assert plain["table_metadata"] == {}
    [weights, *_] = plain["groups"]["posterior"].values()
    assert plain["numbers"]["stored draws"] == weights["dims"]["draw"]
    assert re.search(r"^process +unknown *$", printed(surrogate_path), re.MULTILINE)
    assert "process" not in printed(PREDICTIONS)
    stated = {"process": "p p -> chi0_1 chi0_2", "sqrt_s_tev": "13.0"}
    attrs = read_attrs(surrogate_path) | {"table_metadata": stated}
    write_groups(
        Path("s.nc"), "surrogate", open_artifact(surrogate_path, "surrogate").groups, attrs
    )
    assert summary_of(Path("s.nc"))["table_metadata"] == stated
    text = printed(Path("s.nc"))
    assert re.search(r"^process +p p -> chi0_1 chi0_2 *$", text, re.MULTILINE)
    assert re.search(r"^sqrt_s_tev +13\.0 *$", text, re.MULTILINE)
    assert re.search(r"^parton_distributions +unknown *$", text, re.MULTILINE)


def test_chains_draws_and_weights_of_a_posterior_are_shown(run: Any, summary_of: Summary) -> None:
    """Three chains of two segments of 16 draws, every 4th stored, of a network of 15 weights."""
    found = summary_of(run.posterior)
    assert found["numbers"] == {
        "chains": 3,
        "warm-up steps per chain": 5,
        "draws per chain": 32,
        "stored draws per chain": 8,
        "numbers per stored draw": 15,
    }
    assert {*found["made"]["inputs"].values()} == {"the same"}
    assert len(found["made"]["inputs"]) == 1 + len(run.warmups) + len(run.segments)


def test_units_and_ranges_of_a_table_are_shown(here: Path, summary_of: Summary) -> None:
    found, data = summary_of(TABLE), read_dataset(DATA)
    assert found["numbers"]["rows"] == 12
    target = {"name": "sigma_pb", "unit": "pb"}
    assert {
        **target,
        "least": data.observed.min(),
        "most": data.observed.max(),
    } in found["columns"]
    assert found["made"]["verb"] == "simulate"
    assert found["made"]["recorded_in"] == "results/records/simulate/a.json"


def test_the_verdict_of_diagnostics_is_shown_with_their_record(
    here: Path, summary_of: Summary
) -> None:
    found = summary_of(SCORES)
    assert found["numbers"] == {"converged": False, "chains": 2, "rhat_f": 1.5}
    assert [name for name, one in found["checks"].items() if not one["passed"]] == ["rhat_f"]
    assert found["made"]["recorded_in"] == str(RECORD)


def test_other_inputs_other_code_and_another_lock_are_shown(
    here: Path, summary_of: Summary, monkeypatch: pytest.MonkeyPatch
) -> None:
    DATA.unlink()
    TABLE.write_bytes(b"")
    monkeypatch.setattr("nlobayes.commands.audit.show.code_digest", lambda *_: "other")
    monkeypatch.setattr(provenance, "lock_digest", lambda: "other")
    made = summary_of(PREDICTIONS)["made"]
    assert made["inputs"] == {str(DATA): "missing"}
    assert (made["installed_code"], made["same_lock"]) == (False, False)


def test_a_pipe_gets_plain_text_with_every_fact(here: Path, printed: Printed) -> None:
    text = printed(PREDICTIONS)
    assert "\x1b" not in text
    lines = [line.split() for line in text.splitlines()]
    for line in (
        ["kind", "predictions"],
        ["verb", "posterior_predictive"],
        ["device", "cpu"],
        ["precision", "float32"],
        ["model.network.hidden", "[4]"],
        [str(DATA), "the", "same"],
        ["chains", "2"],
        ["FAILED", "rhat_f", "1.5", "limit", "1.05"],
        ["passed", "divergences", "0", "limit", "0"],
        ["predictions", "f", "chain", "2,", "draw", "5,", "point", "12", "float64"],
    ):
        assert line in lines
    assert "NO: its sampler is biased" in text


@pytest.mark.usefixtures("terminal")
def test_what_failed_or_differs_is_red_and_nothing_else(here: Path, printed: Printed) -> None:
    before = printed(PREDICTIONS)
    assert before.count(RED) == 2
    assert f"{RED}FAILED" in before
    assert f"{RED}NO: its sampler is biased" in before
    DATA.unlink()
    assert f"{RED}missing" in printed(PREDICTIONS)


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.json", b'{"converged": 1, "checks": [2]}', "artifacts.other_contents"),
        (
            "a.json",
            b'{"test": 1, "baseline": 2, "calibration_checks": 3}',
            "artifacts.other_contents",
        ),
        ("a.json", b'{"pairs": [{}], "passed": true}', "artifacts.other_contents"),
        ("a.json", b"[1]", "artifacts.no_json_object"),
        ("a.parquet", b"PAR1", "artifacts.damaged_parquet"),
        ("a.csv", b"", "artifacts.damaged_csv"),
        ("a.csv", b"a,b\n1,2,3\n4,5\n\xff", "artifacts.damaged_csv"),
        (
            "results/records/a.json",
            b'{"verb": 1, "inputs": 2, "outputs": 3, "digest": 4}',
            "artifacts.no_key",
        ),
    ],
)
def test_what_is_no_artifact_is_refused(here: Path, name: str, content: bytes, code: str) -> None:
    Path(name).write_bytes(content)
    with refused(code) as caught:
        show(Path(name))
    assert Path(name) in {caught.value.where, caught.value.fields.get("path")}
