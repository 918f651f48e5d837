"""A surrogate as an ONNX model: the function of `in_jax`, which jax2onnx writes down.

Features, network and noise are stated there alone; what operations ONNX has is known to jax2onnx.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import jax
from jax2onnx import to_onnx

from nlobayes.surrogate.answers import quantile_names
from nlobayes.surrogate.in_jax import function_of
from nlobayes.surrogate.mixture import Prediction
from nlobayes.surrogate.reduction import spread_evenly
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.targets import one_by_one
from nlobayes.types import Exported

POINTS = "points"
"""The input of the model."""
MOMENTS = ("mean", "median", "posterior_sd", "total_sd")


def onnx_model(exported: Exported, draws: int | None, quantiles: Sequence[float]) -> Any:
    """Write the predictions of a surrogate of numbers as an ONNX model in float64.

    Parameters
    ----------
    exported
        What its file holds.
    draws
        How many draws to keep, at even distances; None keeps all.
    quantiles
        Probabilities of a smaller value.

    Returns
    -------
    A `ModelProto`. From `points` (point, input) it computes `{target}_mean` and likewise `median`,
    `posterior_sd`, `total_sd` and quantiles as `q16`, of each target, all (point,). They are NaN
    at a point that `Surrogate.predict` refuses. `metadata_props` say what the model is of.

    Raises
    ------
    InputError
        As `Surrogate.as_jax`, or if a quantile comes twice.
    """
    names = (*MOMENTS, *quantile_names(quantiles))
    kept = _with_draws(exported, draws)
    with jax.enable_x64(True):
        functions = [function_of(each, quantiles) for each in one_by_one(kept)]

        def predict(points: Any) -> tuple[Any, ...]:
            return tuple(value for function in functions for value in _values(function(points)))

        surrogate = Surrogate(kept)
        model = to_onnx(
            predict,
            [(POINTS, len(surrogate.inputs))],
            model_name="nlobayes",
            enable_double_precision=True,
            input_names=[POINTS],
            output_names=[f"{target}_{name}" for target in surrogate.outputs for name in names],
        )
    for name, said in _metadata(surrogate).items():
        model.metadata_props.add(key=name, value=said)
    return model


def _with_draws(exported: Exported, draws: int | None) -> Exported:
    every = len(exported.variables["weights_1"])
    kept = spread_evenly(every, every if draws is None else draws)
    variables = {name: values[kept] for name, values in exported.variables.items()}
    return exported._replace(variables=variables)


def _values(found: Prediction) -> list[Any]:
    """Put what is predicted in the order of its names."""
    return [*(getattr(found, name) for name in MOMENTS), *found.quantiles]


def _metadata(surrogate: Surrogate) -> dict[str, str]:
    """Say what a model is of, as text: JSON where it is more than one word."""
    units = {name: surrogate.units.get(name, "") for name in (*surrogate.inputs, surrogate.target)}
    said: dict[str, Any] = {
        "inputs": surrogate.inputs,
        "units": units,
        "targets": surrogate.outputs,
        "draws": surrogate.draws,
        "limits": surrogate.limits,
        "conditions": [one._asdict() for one in surrogate.conditions],
        "failed_checks": surrogate.failed_checks,
    }
    origin = {f"origin.{name}": entry for name, entry in surrogate.origin.items()}
    texts = {name: json.dumps(value) for name, value in said.items()}
    return texts | origin | {"bibtex": str(surrogate.facts.get("bibtex", ""))}
