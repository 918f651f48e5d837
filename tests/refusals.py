"""Tests of errors: by their code and fields, so that a sentence can be mended without them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic import ValidationError

from nlobayes.errors import InputError


@contextmanager
def refused(code: str, **fields: Any) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """Expect an error of this code, with these among its fields; `where` is compared as text.

    A configuration that is refused has the codes of its faults in its field `faults`.
    """
    with pytest.raises(InputError) as caught:
        yield caught
    assert_refusal(caught.value, code, **fields)


def assert_refusal(error: BaseException, code: str, **fields: Any) -> None:
    """Assert that an error has this code and these fields, and that its text can be written."""
    assert isinstance(error, InputError)
    assert code in (error.code, *error.fields.get("faults", ())), f"{error.code}: {error}"
    if "where" in fields:
        assert str(error.where) == str(fields.pop("where"))
    assert {name: error.fields.get(name) for name in fields} == fields
    assert str(error)


@contextmanager
def invalid(fault: str, **fields: Any) -> Iterator[pytest.ExceptionInfo[ValidationError]]:
    """Expect settings to be refused for a fault: a code of ours with these fields, or a type.

    The type is one of pydantic's own, such as `missing`; it has no fields.
    """
    with pytest.raises(ValidationError) as caught:
        yield caught
    details = caught.value.errors()
    own = [detail["ctx"]["error"] for detail in details if "error" in detail.get("ctx", {})]
    by_code = {error.code: error for error in own if isinstance(error, InputError)}
    assert fault in {*by_code, *(detail["type"] for detail in details)}, str(caught.value)
    if fault in by_code or fields:
        assert_refusal(by_code[fault], fault, **fields)
