"""Every test runs in double precision, and Hypothesis draws the same examples each time."""

import gc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import settings

from nlobayes.cli import NEW_OBJECTS
from nlobayes.runtime import configure
from tests.prospino_points import Point as Point
from tests.prospino_points import make_point
from tests.worker_memory import pytest_runtest_teardown as pytest_runtest_teardown

configure("float64")  # before any test imports JAX or PyTensor
gc.set_threshold(NEW_OBJECTS)
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave all but so many cases of a test that is marked `by_day` to the night, evenly.

    Tests that run Snakemake come first: files of minutes, which at the end leave workers idle.
    """
    items.sort(key=lambda item: item.get_closest_marker("workflow") is None)
    crossed: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("by_day"):
            crossed.setdefault(item.nodeid.split("[")[0], []).append(item)
    for cases in crossed.values():
        (most,) = cases[0].get_closest_marker("by_day").args  # type: ignore[union-attr]
        chosen = {round(place) for place in np.linspace(0, len(cases) - 1, most)}
        for place, case in enumerate(cases):
            if place not in chosen:
                case.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _terminal_of_any_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the width of the terminal, which libraries put into the environment."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(scope="session", name="make_point")
def _make_point() -> Callable[[int], Point]:
    return make_point
