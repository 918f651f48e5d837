"""The likelihoods of docs/using.md run as printed: one nuisance parameter for each error."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes import Surrogate
from tests.unit.surrogate.conftest import points
from tests.unit.surrogate.test_theory import with_theory

pytest.importorskip("pyhf", reason="pyhf is a dependency of developers alone")

PAGE = (Path(__file__).parents[3] / "docs/using.md").read_text()
SECTION = PAGE[PAGE.index("### Derivatives and likelihoods") : PAGE.index("### Classes")]
BLOCKS = re.findall(r"```python\n(.+?)```", SECTION, re.DOTALL)
SOURCES = ["regression", "scale", "pdf", "alpha_s"]


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """Names that the blocks define, run in order for a surrogate with theory errors."""
    names: dict[str, Any] = {"surrogate": Surrogate(with_theory()), "points": points(2, seed=8)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyhf and its dependencies warn
        for block in BLOCKS:
            exec(block, names)
    return names


def test_every_block_runs_and_every_source_has_a_nuisance(found: dict[str, Any]) -> None:
    assert len(BLOCKS) == 3
    assert found["sources"] == SOURCES
    assert found["slopes"].shape == (5,)
    assert np.isfinite(found["slopes"]).all()
    assert [variable.name for variable in found["counting"].free_RVs] == ["strength", "nuisance"]
    assert 0 < found["cls"] < 1


@pytest.mark.parametrize("side", ["up", "down"])
@pytest.mark.parametrize("source", SOURCES)
def test_at_one_standard_deviation_the_signal_has_moved_by_the_error(
    found: dict[str, Any], source: str, side: str
) -> None:
    """This holds in PyMC and in pyhf."""
    central = found["sigma"] * found["luminosity"] * found["efficiency"]
    expected = central * (1 + found["errors"][f"{source}_{side}"])
    nuisance = {name: 0.0 for name in SOURCES} | {source: 1.0 if side == "up" else -1.0}

    model = found["model"]
    given = model.config.suggested_init()
    for name, value in {"strength": 1.0, **nuisance}.items():
        given[model.config.par_slice(name).start] = value
    (events,) = model.expected_actualdata(given)
    assert events - found["background"] == pytest.approx(expected, rel=1e-9)

    signal = found["counting"]["signal"]
    moved = signal.eval({found["counting"]["nuisance"]: np.array([*nuisance.values()])})
    assert float(moved) == pytest.approx(expected, rel=1e-9)
