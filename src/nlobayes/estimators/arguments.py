"""Arguments as users of scikit-learn give them: seeds, sizes of splits, weights, labels."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from nlobayes.errors import InputError
from nlobayes.fitting.as_given import MADE, Words, as_given
from nlobayes.fitting.studies import OWN
from nlobayes.untyped import Facts


def seed_of(random_state: Any) -> int:
    """Return a number unchanged, and draw a seed from a generator, a random state or None.

    As in scikit-learn, None takes the global random state of NumPy.
    """
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    state = check_random_state(random_state)
    return int(random_state if isinstance(random_state, Integral) else state.randint(2**31))


def sizes_of(rows: int, validation: Any, test: Any) -> list[int]:
    """Compute the sizes of train, validation and test split; sizes below one are shares.

    Raises
    ------
    InputError
        If one is no size, or fewer than two rows are left to train on.
    """
    for name, size in {"validation": validation, "test": test}.items():
        is_number = isinstance(size, int | float | np.number)
        if not is_number or not (0 < size < 1 or (size >= 1 and size % 1 == 0)):
            raise InputError("estimators.size", where=name, given=size)
    held_out = [int(size if size >= 1 else size * rows) or 1 for size in (validation, test)]
    train = rows - sum(held_out)
    if train < 2:
        raise InputError(
            "estimators.no_train_rows",
            rows=rows,
            held_out=sum(held_out),
            validation=validation,
            test=test,
        )
    return [train, *held_out]


def refuse_unknown(arguments: Facts) -> None:
    """Refuse arguments that `fit` does not take, such as weights of the rows.

    They are none of its parameters, because scikit-learn would then take them for supported.

    Raises
    ------
    InputError
        If one is given and not None.
    """
    if given := [name for name, value in arguments.items() if value is not None]:
        raise InputError("estimators.unknown_argument", names=given)


def check_labels(labels: Any) -> None:
    """Refuse missing labels (row,), among which scikit-learn does not find None.

    Raises
    ------
    InputError
        If there is one.
    """
    missing = np.flatnonzero(pd.isna(np.asarray(labels, object)))
    if missing.size:
        row = int(missing[0]) + 1
        raise InputError("estimators.no_label", row=row, count=missing.size, rows=len(labels))


def unused(name: str, names: Collection[str]) -> str:
    """Append underscores to a name until no other is the same, or begins with it and `_`."""
    while any(other == name or other.startswith(f"{name}_") for other in names):
        name += "_"
    return name


ARGUMENTS: Words = (
    *MADE,
    (rf"\b(?:networks|evaluation)\.{OWN}(?:\.|: )", ""),
    (rf"\b(method|prior|likelihood|pretraining)s?\.{OWN}\b", r"\1"),
    (r"\bfeatures\.columns\b", "X"),
    (r"\btarget\.column\b", "y"),
    (r"\btarget\.(?:relative_)?error\b", "sample_sd"),
    (r"\btarget\.(?=(?:scale|relative_to|unit)\b)", ""),
    (r"\bsplit\.seed\b", "random_state"),
    (r"\bsplit\.train\b", "the train rows"),
    (r"\bsplit\.(?=(?:validation|test)\b)", ""),
)
"""Places in a study, and what an estimator has instead."""


@contextmanager
def in_own_folder() -> Iterator[Path]:
    """Make a temporary folder for a run; no error in it names the folder or the study."""
    with (
        TemporaryDirectory(prefix="nlobayes-", ignore_cleanup_errors=True) as folder,
        as_given([(re.escape(folder) + "[^:]*: ", ""), *ARGUMENTS]),
    ):
        yield Path(folder)
