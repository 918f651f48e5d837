"""Comparison of values of artifacts, and files of several chain groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.fixture(scope="session")
def assert_same_bits() -> Callable[[Any, Any], None]:
    return _assert_same_bits


def _assert_same_bits(one: Any, two: Any) -> None:
    """Compare values, arrays by type, shape and bytes, however they are nested."""
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (two.dtype, two.shape)
        assert one.tobytes() == two.tobytes()
    elif isinstance(one, dict):
        assert one.keys() == two.keys()
        for key in one:
            _assert_same_bits(one[key], two[key])
    elif isinstance(one, tuple):
        assert len(one) == len(two)
        for left, right in zip(one, two, strict=True):
            _assert_same_bits(left, right)
    else:
        assert one == two


@pytest.fixture(scope="session")
def make_chain_groups(
    make_chain_group: Callable[..., tuple[list[Path], list[Path]]],
) -> Callable[..., tuple[list[Path], list[Path]]]:
    """Write chain groups; return the warm-ups and the segments of all, group by group."""

    def make(
        folder: Path, chain_groups: Sequence[Sequence[int]], **sizes: int
    ) -> tuple[list[Path], list[Path]]:
        made = [make_chain_group(folder, chain_group, **sizes) for chain_group in chain_groups]
        return [p for paths, _ in made for p in paths], [p for _, paths in made for p in paths]

    return make
