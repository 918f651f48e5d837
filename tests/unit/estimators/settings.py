"""The smallest settings of an estimator."""

from typing import Any

PRETRAINING = {"epochs": 60, "batch": "full", "learning_rate": 0.05}
CHAINS: dict[str, Any] = {
    "hidden": (4,),
    "pretraining": PRETRAINING,
    "method": {
        "kernel": {"kind": "hmc", "integration_steps": 8},
        "warmup": {"steps": 60},
        "chains": 2,
        "draws_per_segment": 60,
        "thin": 4,
    },
    "together": True,
    "verbose": False,
}
MAPS: dict[str, Any] = {
    "hidden": (4,),
    "pretraining": PRETRAINING,
    "method": {"kind": "map_ensemble", "members": 2},
    "verbose": False,
}
