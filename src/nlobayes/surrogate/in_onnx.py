"""A surrogate as an ONNX model: jax2onnx converts the function of `in_jax`.

Module `in_jax` defines features, network and noise, and jax2onnx chooses the ONNX operations.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import jax
from jax2onnx import to_onnx
from onnx import helper

from nlobayes.surrogate.answers import quantile_names
from nlobayes.surrogate.conditioned import count_draws
from nlobayes.surrogate.in_jax import function_of
from nlobayes.surrogate.network_outputs import one_by_one
from nlobayes.surrogate.predictive import Prediction
from nlobayes.surrogate.reduction import spread_evenly
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import SurrogateContent
from nlobayes.untyped import Document

POINTS = "points"
"""The input of the model."""
MOMENTS = ("mean", "posterior_sd", "total_sd")


def onnx_model(exported: SurrogateContent, draws: int | None, quantiles: Sequence[float]) -> Any:
    """Convert the predictions of a surrogate of numbers to an ONNX model in float64.

    Parameters
    ----------
    exported
        Content of the surrogate file.
    draws
        Number of draws to keep, at even distances; None keeps all.
    quantiles
        Probabilities of a smaller value.

    Returns
    -------
    A `ModelProto`. From `points` (point, input) it computes `{target}_mean`, `_posterior_sd` and
    `_total_sd` of each target, all (point,). For noise about the mean of the draws it also computes
    `_median` and quantiles such as `_q16`. For noise about each draw the model has none, because
    these quantiles are roots, which take ONNX Runtime minutes. All outputs are NaN at a point
    without a prediction. `metadata_props` describe the model.

    Raises
    ------
    InputError
        As `Surrogate.as_jax`, or if a quantile occurs twice.
    """
    further = ("median", *quantile_names(quantiles))
    kept = _with_draws(exported, draws)
    surrogate = Surrogate(kept)
    # jax2onnx 0.17 does not know calls of compiled functions as JAX 0.12 writes them.
    with jax.enable_x64(True), jax.disable_jit():
        closed = [each.facts["noise"]["about"] == "mean" for each in one_by_one(kept)]
        functions = [
            function_of(each, quantiles if formula else None, surrogate.network_inputs)
            for each, formula in zip(one_by_one(kept), closed, strict=True)
        ]

        def predict(points: Any) -> tuple[Any, ...]:
            pairs = zip(functions, closed, strict=True)
            return tuple(
                value for function, formula in pairs for value in _values(function(points), formula)
            )

        model = to_onnx(
            predict,
            [(POINTS, len(surrogate.inputs))],
            model_name="nlobayes",
            enable_double_precision=True,
            input_names=[POINTS],
            output_names=[
                f"{target}_{name}"
                for target, formula in zip(surrogate.outputs, closed, strict=True)
                for name in (*MOMENTS, *(further if formula else ()))
            ],
        )
    for node in model.graph.node:
        if node.op_type == "Reshape":  # otherwise an axis of no points is another axis
            node.attribute.append(helper.make_attribute("allowzero", 1))
    for name, text in _metadata(surrogate).items():
        model.metadata_props.add(key=name, value=text)
    return model


def _with_draws(exported: SurrogateContent, draws: int | None) -> SurrogateContent:
    every = count_draws(exported.variables)
    kept = spread_evenly(every, every if draws is None else draws)
    variables = {name: values[kept] for name, values in exported.variables.items()}
    return exported._replace(variables=variables)


def _values(predicted: Prediction, formula: bool) -> list[Any]:
    """List predictions in the order of the output names, with quantiles if they are formulas."""
    moments = [getattr(predicted, name) for name in MOMENTS]
    return [*moments, predicted.median, *predicted.quantiles] if formula else moments


def _metadata(surrogate: Surrogate) -> dict[str, str]:
    """Return the metadata of a model as text; lists and mappings are JSON."""
    units = {name: surrogate.units.get(name, "") for name in (*surrogate.inputs, surrogate.target)}
    entries: Document = {
        "inputs": surrogate.inputs,
        "units": units,
        "targets": surrogate.outputs,
        "draws": surrogate.draws,
        "limits": surrogate.limits,
        "conditions": [condition._asdict() for condition in surrogate.conditions],
        "failed_checks": surrogate.failed_checks,
    }
    origin = {f"origin.{name}": entry for name, entry in surrogate.origin.items()}
    texts = {name: json.dumps(value) for name, value in entries.items()}
    return texts | origin | {"bibtex": str(surrogate.facts.get("bibtex", ""))}
