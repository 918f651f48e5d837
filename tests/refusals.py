"""Tests of errors: by their code and fields, so that a sentence can be mended without them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

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
