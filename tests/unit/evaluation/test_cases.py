"""Cases are test rows, given by row number or by values of inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nlobayes.data.splits import TEST, TRAIN
from nlobayes.evaluation.tasks.cases import points_of
from nlobayes.types import Dataset
from tests.refusals import refused


@pytest.fixture
def tested(dataset: Dataset) -> np.ndarray:
    """Numbers of the test rows."""
    return np.flatnonzero(dataset.split == TEST)


def inputs_of(dataset: Dataset, row: int, *names: str) -> dict[str, float]:
    """Return values of inputs with seven digits, as copied from a table."""
    return {
        name: float(f"{dataset.inputs[row, dataset.input_names.index(name)]:.7g}") for name in names
    }


def test_rows_are_found_by_number_and_by_inputs_each_once(
    dataset: Dataset, tested: np.ndarray
) -> None:
    first, second = int(tested[2]), int(tested[0])
    cases: list[Any] = [first, inputs_of(dataset, second, *dataset.input_names), second]
    assert points_of(cases, dataset) == (first, second)
    assert points_of((), dataset) == ()


def test_a_row_that_is_not_there_is_refused(dataset: Dataset) -> None:
    last = len(dataset.split) - 1
    with refused("commands.no_row", where="figures.cases", case=last + 1, last=last):
        points_of([last + 1], dataset)
    name = dataset.input_names[0]
    with refused("commands.no_row_with", case={name: 12345.0}):
        points_of([{name: 12345.0}], dataset)
    with refused("commands.no_input_of_case", unknown=["mass"], known=[*dataset.input_names]):
        points_of([{"mass": 1.0}], dataset)


@pytest.mark.parametrize("by_inputs", [False, True])
def test_a_row_of_another_split_is_refused(
    dataset: Dataset, tested: np.ndarray, by_inputs: bool
) -> None:
    row = int(np.flatnonzero(dataset.split == TRAIN)[3])
    case: Any = inputs_of(dataset, row, *dataset.input_names) if by_inputs else row
    first = tested[:5].tolist()
    with refused("commands.no_test_row", case=case, row=row, split="train", test=first):
        points_of([case], dataset)


def test_values_of_several_test_rows_are_refused(dataset: Dataset, tested: np.ndarray) -> None:
    inputs = dataset.inputs.copy()
    inputs[tested[:2], 0] = 250.0
    case = {dataset.input_names[0]: 250.0}
    with refused("commands.several_rows", case=case, rows=tested[:2].tolist()):
        points_of([case], dataset._replace(inputs=inputs))
