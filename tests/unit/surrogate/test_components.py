"""A surrogate whose network sees principal components: predicted from columns, or refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.contents import write_surrogate
from nlobayes.surrogate.surrogate import Engine, Surrogate
from nlobayes.types import SurrogateContent
from tests.refusals import refused
from tests.unit.surrogate.conftest import dataset, make_exported, points

NAMES = ("PC 1", "PC 2", "PC 3")


def written(exported: SurrogateContent, path: Path) -> Path:
    write_surrogate(path, exported, dataset()._replace(feature_names=NAMES), {"verb": "export"})
    return path


def turned_back(exported: SurrogateContent) -> SurrogateContent:
    """Move the components into the first layer, for centred invariants."""
    constants = exported.facts["transforms"]["features"]
    turn = np.array(constants["components"]).T / constants["scale"]
    plain = {"map": "invariants", "mean": constants["mean"], "scale": [1.0] * 5}
    transforms = exported.facts["transforms"] | {"features": plain}
    drawn = exported.variables | {"weights_1": turn @ exported.variables["weights_1"]}
    train = exported.features @ np.linalg.pinv(turn)
    facts = exported.facts | {"transforms": transforms}
    spacing = exported.spacing
    return exported._replace(variables=drawn, features=train, facts=facts, spacing=spacing)


@pytest.mark.parametrize("engine", ["numpy", "jax"])
def test_a_file_predicts_as_a_network_that_turns_its_inputs_itself(
    tmp_path: Path, engine: Engine
) -> None:
    """They agree to the rounding of float32, the type of weights and predictions."""
    exported = make_exported(components=3)
    read = Surrogate.load(written(exported, tmp_path / "s.nc"), engine)
    expected = Surrogate(turned_back(exported), engine).predict(points(50), on="model")
    found = read.predict(points(50), on="model")
    np.testing.assert_allclose(found.mean, expected.mean, rtol=0, atol=2e-6)
    np.testing.assert_allclose(found.posterior_sd, expected.posterior_sd, rtol=0, atol=2e-6)


@pytest.mark.parametrize(
    "change",
    [
        {"components": [[1.0, 0.0, 0.0, 0.0, 0.0]]},
        {"components": [[1.0, 0.0]] * 3},
        {"explained": [0.5, 0.5]},
        {"mean": [0.0] * 3},
        {"scale": [1.0] * 5},
    ],
    ids=["too few", "of other features", "shares", "mean of components", "scale of features"],
)
def test_components_that_do_not_fit_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    exported = make_exported(components=3)
    transforms = exported.facts["transforms"]
    changed = transforms | {"features": transforms["features"] | change}
    path = written(
        exported._replace(facts=exported.facts | {"transforms": changed}), tmp_path / "s.nc"
    )
    with refused("surrogate.not_whole"):
        Surrogate.load(path)
