"""An input file from a template: SLHA, or any other text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import model_validator

from nlobayes.errors import InputError
from nlobayes.exchange.fields import check_fields, fields_of, filled
from nlobayes.exchange.inputs import InputSettings
from nlobayes.settings.user_files import pin


class TemplateInput(InputSettings):
    """A text of yours whose fields, such as `{m1:.8g}`, are the columns of a point.

    A format is that of Python; without one the number has all its digits. All other braces are
    text.
    """

    kind: Literal["template"]
    file: str
    """Path of the template, relative to the working directory."""
    sha256: str = ""
    """Digest of the template: computed if it is not given, checked if it is."""

    @model_validator(mode="before")
    @classmethod
    def _digest_and_name(cls, value: Any) -> Any:
        """Compute the digest; the input file has the name of the template by default."""
        if isinstance(value, dict) and isinstance(value.get("file"), str):
            value = {"name": Path(value["file"]).name, **value}
        return pin(value)

    @model_validator(mode="after")
    def _has_good_formats(self) -> TemplateInput:
        check_fields(self._template, self.fields())
        return self

    @property
    def _template(self) -> str:
        return _read(self.file, self.sha256)

    def fields(self) -> tuple[str, ...]:
        """List the fields of the template."""
        return fields_of(self._template)

    def text(self, point: Mapping[str, float]) -> str:
        """Fill the fields of the template."""
        return filled(self._template, point)


@cache
def _read(file: str, sha256: str) -> str:
    """Read a template once for each of its contents, which the digest tells apart."""
    del sha256
    try:
        return Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("programs.template", file=file, reason=str(error)) from None
