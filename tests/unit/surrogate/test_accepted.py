"""Points that a surrogate accepts, from its file alone; files and limits that allow none."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes import Surrogate
from nlobayes.artifacts.contents import write_surrogate
from nlobayes.errors import InputError
from nlobayes.surrogate.acceptance import threshold
from nlobayes.surrogate.consistency import check
from tests.documented import text_of
from tests.refusals import refused
from tests.unit.surrogate.conftest import dataset, make_exported, points

Errors = dict[str, np.ndarray]


def held_out(rows: int = 300, most: float = 0.2, share: float = 0.0) -> Errors:
    """Stated errors up to `most`, and actual ones of which a share is large."""
    error = np.where(np.arange(rows) < share * rows, 0.9, 0.001)
    errors = {"stated": np.linspace(0.001, most, rows), "error": error}
    return {name: values.astype(np.float32) for name, values in errors.items()}


def surrogate_with(errors: Errors, **made: Any) -> Surrogate:
    return Surrogate(make_exported("scaled_student_t", **made)._replace(held_out=errors))


@pytest.mark.parametrize("scale", ["log10", "identity"])
def test_points_inside_with_small_stated_errors_are_accepted(scale: str) -> None:
    """As by the 68 % interval of `predict`; of log10 also as `errors` has it."""
    surrogate, x = surrogate_with(held_out(), scale=scale), points(400, seed=9)
    found = surrogate.predict(x)
    low, high = found.quantiles
    stated = np.maximum(high - found.median, found.median - low) / np.abs(found.median)
    np.testing.assert_allclose(surrogate.stated_errors(x), stated, rtol=1e-9)
    errors = surrogate.errors(x)
    sides = np.abs([errors["regression_down"], errors["regression_up"]])
    np.testing.assert_allclose(sides.max(axis=0), stated, rtol=1e-9)
    limit = float(np.median(stated))
    surrogate = surrogate_with(held_out(most=2 * limit), scale=scale)
    errors = held_out(most=2 * limit)
    expected = threshold(errors["stated"], errors["error"], limit).value
    assert expected is not None
    accepted, domain = surrogate.accepted(x, limit), surrogate.domain(x)
    assert (accepted == ((stated <= expected) & (domain == "inside"))).all()
    assert 0 < accepted.sum() < (domain == "inside").sum()
    assert {*domain[stated <= expected]} > {"inside"}


def test_points_that_violate_a_condition_or_have_no_prediction_are_never_accepted() -> None:
    surrogate = surrogate_with(held_out(most=0.9))
    x = np.repeat([[*surrogate.typical.values()]], 3, axis=0)
    x[1] = np.nan
    assert surrogate.accepted(x, 0.95).tolist() == [True, False, True]
    assert surrogate.accepted(x[:0], 0.95).tolist() == []


def test_a_file_with_pairs_is_read_as_written(tmp_path: Path) -> None:
    write_surrogate(tmp_path / "s.nc", made := _made(held_out()), dataset(), {"verb": "export"})
    loaded, direct = Surrogate.load(tmp_path / "s.nc"), Surrogate(made)
    assert loaded.threshold(0.1) == direct.threshold(0.1)
    assert loaded.threshold(0.1).rows > 59


@pytest.mark.parametrize(
    ("errors", "code"),
    [
        ({}, "surrogate.no_held_out"),
        (held_out(5), "surrogate.too_few_held_out"),
        (held_out(300, most=30), "surrogate.too_few_held_out"),
        (held_out(share=0.5), "surrogate.no_threshold"),
    ],
)
def test_without_a_threshold_the_reason_is_said(errors: Errors, code: str) -> None:
    surrogate = surrogate_with(errors)
    with refused(code):
        surrogate.threshold(0.1)
    with refused(code):
        surrogate.accepted(points(3), 0.1)


def test_five_rows_say_how_many_are_needed() -> None:
    with pytest.raises(InputError, match=r"5 of 5 held-out rows .* 59 are needed"):
        surrogate_with(held_out(5)).threshold(0.5)


@pytest.mark.parametrize("max_error", [0, -0.01, 1.5, "1%"])
def test_max_error_is_between_0_and_1(max_error: float) -> None:
    with refused("surrogate.no_share", where="max_error", received=max_error):
        surrogate_with(held_out()).accepted(points(3), max_error)


def test_other_columns_of_a_file_are_refused(tmp_path: Path) -> None:
    path, other = tmp_path / "s.nc", {"other": np.ones(300, np.float32)}
    write_surrogate(path, _made(held_out() | other), dataset(), {"verb": "export"})
    with refused("surrogate.not_whole", where=path):
        Surrogate.load(path)


@pytest.mark.parametrize(
    "errors",
    [
        {"stated": np.ones(4, np.float32)},
        {"stated": np.ones(4, np.float32), "error": np.ones(3, np.float32)},
        {"stated": np.ones(4, np.float32), "error": np.full(4, -1, np.float32)},
        {"stated": np.ones((4, 1), np.float32), "error": np.ones((4, 1), np.float32)},
        {"stated": np.full(4, np.nan, np.float32), "error": np.ones(4, np.float32)},
    ],
)
def test_pairs_of_other_rows_are_refused(errors: Errors) -> None:
    made = _made(errors)
    facts = json.loads(json.dumps(made.facts))
    assert check(made._replace(facts=facts, held_out={}), "s.nc")
    with refused("surrogate.not_whole", where="s.nc"):
        check(made._replace(facts=facts), "s.nc")


def _made(errors: Errors) -> Any:
    return make_exported("scaled_student_t")._replace(held_out=errors)


def test_the_documented_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program gives the mass, in fb; the points are one inside and one outside."""
    monkeypatch.chdir(tmp_path)
    output = "{kind: number, column: sigma, unit: fb}"
    Path("program.yaml").write_text(f'command: [echo, "{{m1}}"]\nversion: "1"\noutput: {output}')
    blocks = re.findall(r"^```python\n(.*?)^```$", text_of("docs/using.md"), re.M | re.S)
    examples = [block for block in blocks if "surrogate.accepted" in block or "Otherwise" in block]
    many = {"stated": np.full(999, 0.009, np.float32), "error": np.zeros(999, np.float32)}
    surrogate = surrogate_with(many)
    x = np.array([[*surrogate.typical.values()], [5e4, 0, 0, 1, 0]])
    monkeypatch.setattr(surrogate, "stated_errors", lambda x: np.full(len(x), 0.001))
    names: dict[str, Any] = {"surrogate": surrogate, "points": x, "np": np}
    for example in examples:
        exec(example, names)
    assert len(examples) == 2
    assert names["good"].tolist() == [True, False]
    assert names["sigma"].tolist() == [surrogate.predict(x).median[0], 50.0]
