"""Write a surrogate as an ONNX model, for programs in other languages."""

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from nlobayes import runtime
from nlobayes.artifacts.files import write_bytes
from nlobayes.errors import InputError
from nlobayes.extras import needs_extra
from nlobayes.predicting.surrogate_points import probabilities_of
from nlobayes.surrogate.consistency import read_exported

ENDING = ".onnx"
NO_QUANTILES = (
    "nlobayes: no median and no quantiles: the noise lies about each draw, not their mean"
)


def onnx(
    surrogate: Annotated[Path, typer.Argument(help="Surrogate, written by `nlobayes export`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model to write: .onnx.")],
    draws: Annotated[int | None, typer.Option(help="Draws to keep, by default all.", min=1)] = None,
    quantiles: Annotated[str, typer.Option(help="Probabilities, with commas.")] = "0.16,0.84",
) -> None:
    """Write an ONNX model of mean, median, errors and quantiles, with facts of the surrogate."""
    if out.suffix != ENDING:
        raise InputError("commands.onnx_ending", where="--out", path=out)
    probabilities = probabilities_of(quantiles)
    exported = read_exported(surrogate, of_classes=False)
    with needs_extra("onnx"):
        runtime.configure("float64")
        from nlobayes.surrogate.in_onnx import onnx_model

    model = onnx_model(exported, draws, probabilities)
    model.producer_name, model.producer_version = "nlobayes", version("nlobayes")
    model.metadata_props.add(key="surrogate_sha256", value=exported.sha256)
    content = model.SerializeToString()
    write_bytes(out, content)
    typer.echo(f"{out}: {len(content) / 1e6:.3g} MB", err=True)
    if not any(output.name.endswith("_median") for output in model.graph.output):
        typer.echo(NO_QUANTILES, err=True)
