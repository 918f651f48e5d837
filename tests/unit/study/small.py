"""A small study with changes of its keys."""

from collections.abc import Mapping
from typing import Any

from nlobayes.study.study import Study, load_study, override

SMALL: dict[str, Any] = {
    "datasets": {
        "made": {
            "source": {"kind": "simulate", "points": 60},
            "split": {"train": 30, "validation": 15, "test": 15},
        },
        "mine": {"source": {"kind": "table", "path": "data/points.csv"}, "split": "thesis"},
    },
    "networks": {"n4": {"hidden": [4]}, "n8": {"hidden": [8]}},
    "priors": {"fan_in": {"kind": "fan_in"}},
    "likelihoods": {"tight": {"kind": "gaussian", "sigma": 0.1}},
    "pretraining": {"adam": {"epochs": 10}},
    "methods": {
        "hmc": {"kernel": {"kind": "hmc"}, "draws_per_segment": 16},
        "nuts": {"kernel": {"kind": "nuts"}, "draws_per_segment": 16},
    },
    "evaluation": {"default": {}, "strict": {"thresholds": {"rhat_max": 1.001}}},
    "grids": {
        "small": {
            "dataset": "made",
            "network": ["n4", "n8"],
            "prior": "fan_in",
            "likelihood": "tight",
            "pretraining": "adam",
            "method": ["hmc", "nuts"],
        }
    },
    "targets": ["small"],
    "seeds": [1, 2],
}


def make_study(changes: Mapping[str, Any] | None = None) -> Study:
    """Load the small study with changes to its keys."""
    return load_study(override(SMALL, changes or {}))
