"""Required content of each kind of artifact, and the encoding of its attributes as text."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

DOMAIN: dict[str, tuple[str, ...]] = {
    "features": ("row", "feature"),
    "spacing": ("row",),
    "limits": ("input", "bound"),
    "typical": ("input",),
}
"""Arrays of the train rows of a surrogate, which define the domain of points."""

DRAWS: dict[str, dict[str, tuple[str, ...]]] = {
    "posterior": {},
    "sample_stats": {"lp": ("chain", "draw")},
    "predictions": {"f": ("chain", "draw", "reference_point")},
    "observed_data": {"target": ("point",)},
    "constant_data": {"features": ("point", "feature")},
    "predictions_constant_data": {"features": ("reference_point", "feature")},
}
"""Draws of any method, and the data that they were conditioned on."""
OF_CHAINS: dict[str, dict[str, tuple[str, ...]]] = {
    "all_sample_stats": {"lp": ("chain", "draw")},
    "warmup_sample_stats": {"lp": ("chain", "draw")},
}

SCHEMAS: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {
    "dataset": {
        "inputs": {"inputs": ("point", "input")},
        "network": {"features": ("point", "feature"), "target": ("point",)},
        "observed": {"observed": ("point",)},
        "rows": {"split": ("point",), "reference": ("reference_point",)},
    },
    "start": {
        "posterior": {},
        "state": {"position": ("parameter",)},
        "history": {
            "path": ("snapshot", "parameter"),
            "path_epoch": ("snapshot",),
            "loss": ("epoch",),
            "validation_rmse": ("epoch",),
        },
    },
    "warmup": {
        "warmup_sample_stats": {"lp": ("chain", "draw"), "energy": ("chain", "draw")},
        "state": {},
        "tuned": {},
        "adaptation": {},
    },
    "segment": {
        "posterior": {},
        "sample_stats": {"lp": ("chain", "draw"), "energy": ("chain", "draw")},
        "predictions": {"f": ("chain", "draw", "reference_point")},
        "state": {},
        "tuned": {},
    },
    "posterior": DRAWS | OF_CHAINS,
    "posterior/approximation": DRAWS,
    "thinned": {"posterior": {}, "observed_data": {"target": ("point",)}},
    "predictions": {
        "predictions": {"f": ("chain", "draw", "point")},
        "baseline": {"f": ("member", "point")},
        "points": {"observed": ("point",), "split": ("point",)},
    },
    "rival": {
        "predictions": {"f": ("draw", "point")},
        "points": {"observed": ("point",), "split": ("point",)},
    },
    "rival/missing": {"points": {"observed": ("point",), "split": ("point",)}},
    "earlier": {
        "points": {"inputs": ("point", "input")},
        "site": {"root": ("combination", "point"), "observed": ("combination",)},
    },
    "surrogate/classes": {"posterior": {}, "domain": DOMAIN},
    "surrogate": {
        "posterior": {},
        "noise": {"residual": ("node",), "probability": ("bin", "node")},
        "domain": DOMAIN,
    },
}
"""Groups of each kind of artifact, and the variables and dims that each must hold.

A kind may have a second form: a file of `kind/form` has the attribute `form`.

A variable with several outputs at every point has a further, last dim `output`.
"""


def encode(value: Any) -> Any:
    """Encode an attribute: numbers and plain text unchanged, anything else as JSON."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    text = isinstance(value, str) and not _is_json(value)
    return value if number or text else json.dumps(value, sort_keys=True)


def decode(value: Any) -> Any:
    """Decode an attribute that `encode` encoded."""
    if isinstance(value, str):
        return json.loads(value) if _is_json(value) else value
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _is_json(text: str) -> bool:
    return text.startswith(("{", "[", '"')) or text in {"true", "false", "null"}
