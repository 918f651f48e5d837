"""Studies of one small run, for a table with columns x and y."""

from typing import Any

from nlobayes.fitting.studies import Choices, Configuration, configure
from tests.unit.estimators.settings import PRETRAINING

DATASET: dict[str, Any] = {
    "source": {"kind": "table", "path": "t.csv"},
    "features": {"map": "raw", "columns": ["x"]},
    "target": {"column": "y", "unit": "", "scale": "identity"},
    "split": {"train": 20, "validation": 10, "test": 10},
}


def study_of(*hidden: int, output: str = "sampled", members: int = 2) -> Configuration:
    """Give an ensemble of networks with these units; without units, of straight lines."""
    integrated = output == "marginalised"
    chosen = Choices(
        {"hidden": [*hidden], "output": output},
        prior="fan_in_2",
        likelihood="tolerance_10",
        pretraining={**PRETRAINING, "epochs": 400},
        method={"kind": "map_ensemble", "members": members},
        precision="float64" if integrated else "float32",
    )
    return configure("t", DATASET, chosen)
