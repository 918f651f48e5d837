"""Errors of a run in the words of an estimator, without files and settings of its study."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nlobayes.errors import InputError

OF_PARAMETERS = (
    (r"\bgrids\.fit: |\b(?:networks|evaluation)\.own\.|\bdatasets\.table(?:\.|: )", ""),
    (r"\btarget\.(?=(?:scale|relative_to|unit)\b)", ""),
    (r"\b(method|prior|likelihood|pretraining)s?\.own\b", r"\1"),
    (r"\b(network|prior|likelihood|pretraining|method|sampler|dataset) '(?:own|table)'", r"\1"),
)
"""Places of settings and names of presets in a study, and what an estimator has instead."""


@contextmanager
def in_own_folder() -> Iterator[Path]:
    """Make a temporary folder for a run; no error in it names the folder or the study."""
    with TemporaryDirectory(prefix="nlobayes-", ignore_cleanup_errors=True) as folder:
        try:
            yield Path(folder)
        except InputError as error:
            where = str(error.where or "")
            if where.startswith(folder) or where == "configuration":
                where = where.partition(": ")[2]
            error.where = _of_parameters(where) or None
            error.fields = {name: _of_parameters(value) for name, value in error.fields.items()}
            raise


def _of_parameters(value: Any) -> Any:
    if isinstance(value, list):
        return [*map(_of_parameters, value)]
    if isinstance(value, str):
        for pattern, parameter in OF_PARAMETERS:
            value = re.sub(pattern, parameter, value)
    return value
