"""Measure how predictions depend on the powers of prior and likelihood (power-scaling)."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nlobayes import runtime
from nlobayes.artifacts import contents
from nlobayes.artifacts.files import write_csv
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.artifacts.thinned import check_same_rows, flatten
from nlobayes.commands.thinned_model import model_of
from nlobayes.data.splits import TEST
from nlobayes.draws_at_points import predict_draws
from nlobayes.evaluation.reweighting.sensitivity import sensitivity as power_sensitivity

SENSITIVE = 0.05
"""Distance above which Kallioinen et al. call a quantity sensitive."""


def sensitivity(
    posterior: Annotated[Path, typer.Argument(help="Thinned posterior.")],
    dataset: Annotated[Path, typer.Option(help="Dataset that it was conditioned on.")],
    out: Annotated[Path | None, typer.Option(help="Table to write (CSV).")] = None,
) -> None:
    """Compare predictions at the test rows for slightly stronger and weaker components.

    A Gaussian prior to the power a is a Gaussian prior of 1/sqrt(a) times the scale.
    """
    model = model_of(posterior)
    runtime.configure("float64")
    from nlobayes.builder.stored import components

    data = contents.read_dataset(dataset)
    thinned = open_artifact(posterior, "thinned").groups
    check_same_rows(thinned, data, posterior)
    stored = contents.read_variables(thinned["posterior"])
    found = components(model, data, stored)
    function = predict_draws(flatten(stored), model, data).function
    test = data.split == TEST
    predictions = function[:, test].reshape(len(function), -1).astype(np.float64)
    table = {"point": np.repeat(np.flatnonzero(test), predictions.shape[1] // int(test.sum()))}
    for name in ("prior", "likelihood"):
        component = getattr(found, f"log_{name}")
        effect = power_sensitivity(component, predictions)
        table |= {
            f"{name}_mean": effect.mean,
            f"{name}_sd": effect.sd,
            f"{name}_distance": effect.distance,
        }
        share = np.mean(effect.distance > SENSITIVE)
        moved = np.median(np.abs(effect.mean) / predictions.std(axis=0))
        typer.echo(
            f"{name}: {share:.1%} of the test rows are sensitive (distance above {SENSITIVE}); "
            f"doubling its power moves the median row by {moved:.2f} epistemic sd; "
            f"Pareto k {max(effect.pareto_k):.2f}"
        )
    typer.echo(
        "That most rows are sensitive is usual for networks and no fault: what counts is how far "
        "the median row moves, and below one epistemic sd its error bar holds the choice"
    )
    if out is not None:
        write_csv(out, table)
