"""The errors: every code has one sentence, every sentence one code, and what it shows is given."""

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic_core._pydantic_core import list_all_errors

import nlobayes
from nlobayes.errors import InputError
from nlobayes.errors.wordings import TEXTS, fields_of, texts_of

PACKAGE = Path(nlobayes.__file__).parent
VALUES = "values"
"""Room of the sentences of pydantic's errors."""
ROOMS = sorted({path.stem for path in TEXTS.glob("*.toml")} - {VALUES})
RAISED: dict[str, set[str]] = {"InputError": set(), "damaged": {"remedy"}}
"""What makes an error, and the fields that it adds."""
SENTENCES = {f"{room}.{name}": text for room in ROOMS for name, text in texts_of(room).items()}


def _raised() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in RAISED:
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", node


CALLS = dict(call for call in _raised() if "errors/" not in call[0] and "places.py" not in call[0])


def _code(call: ast.Call) -> str:
    return getattr(call.args[0], "value", "") if call.args else ""


def _lacks(call: ast.Call) -> bool:
    given = {keyword.arg for keyword in call.keywords} | RAISED[getattr(call.func, "id", "")]
    return not given >= fields_of(SENTENCES[_code(call)])


def test_every_error_has_a_code_with_a_sentence_and_gives_what_it_shows() -> None:
    assert [place for place, call in CALLS.items() if _code(call) not in SENTENCES] == []
    assert [place for place, call in CALLS.items() if _lacks(call)] == []


def test_every_sentence_is_used() -> None:
    assert set(SENTENCES) == {_code(call) for call in CALLS.values()}


def test_every_sentence_of_a_value_is_of_an_error_of_pydantic_and_shows_its_context() -> None:
    contexts: dict[str, dict[str, Any]]
    contexts = {each["type"]: each["example_context"] or {} for each in list_all_errors()}
    for kind, text in texts_of(VALUES).items():
        assert {field.partition("!")[0] for field in fields_of(text)} <= {*contexts[kind]}, kind


def test_an_error_survives_another_process() -> None:
    code = min(SENTENCES)
    error = InputError(code, where="here", **dict.fromkeys(fields_of(SENTENCES[code]), 1))
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.where, again.fields) == (error.code, error.where, error.fields)
    assert str(again) == str(error)


def test_the_place_of_an_error_stands_inside_another() -> None:
    error = InputError("a", where="column m1").within("table.csv")
    assert error.where == "table.csv: column m1"
    assert InputError("a").within("table.csv").where == "table.csv"
