"""Predict points with a surrogate, or SLHA files with a bundle, in constant memory."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer

from nlobayes import runtime
from nlobayes.bundles.surrogates import Bundle
from nlobayes.commands.labelled import surrogate_at
from nlobayes.data.units import convert
from nlobayes.errors import InputError
from nlobayes.extras import needs_extra
from nlobayes.predicting.bundle_points import BundleRequest, to_pairs
from nlobayes.predicting.fallback import Fallback, Limits, share_of
from nlobayes.predicting.point_files import predict_with_bundle, predict_with_surrogate
from nlobayes.predicting.prediction_files import STANDARD, form_of
from nlobayes.predicting.surrogate_points import PredictionRequest, Unpredicted, probabilities_of
from nlobayes.surrogate.answers import load
from nlobayes.surrogate.classifier import Classifier
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.trained import StoredNetwork
from nlobayes.watching.progress import rows_passing

INTERVAL = "0.16,0.84"
SHARE, CONFIDENCE, STORE = "5%", "95%", Path("points")
NEEDED = {
    "--max-error": ("--share", "--confidence", "--otherwise"),
    "--otherwise": ("--store", "--workers", "--new-rows"),
}
"""Options without which others mean nothing."""


def predict(
    surrogate: Annotated[Path, typer.Argument(help="Surrogate, label of its run, or bundle.")],
    points: Annotated[
        str,
        typer.Argument(
            help="Table (text or .parquet), SLHA file of any name, folder of SLHA files, or "
            "- for text from standard input. A bundle reads SLHA files."
        ),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", help="File to write: .csv, .jsonl, .parquet; - prints.")
    ] = STANDARD,
    json: Annotated[bool, typer.Option("--json", help="Write JSON, one object a line.")] = False,
    quantiles: Annotated[str, typer.Option(help="Probabilities, with commas.")] = INTERVAL,
    scale: Annotated[
        Literal["target", "log10"], typer.Option(help="Predict the target, or its log10.")
    ] = "target",
    unit: Annotated[str, typer.Option(help="Unit to give the target in.")] = "",
    keep: Annotated[list[str] | None, typer.Option(help="Column to copy; once for each.")] = None,
    draws: Annotated[int, typer.Option(help="Posterior draws to give as well.", min=0)] = 0,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out rows without a prediction.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse the points if one has no prediction.")
    ] = False,
    engine: Annotated[
        Literal["numpy", "jax"], typer.Option(help="What computes; jax compiles first.")
    ] = "numpy",
    names: Annotated[
        str, typer.Option(help="Names of the columns, with commas, of a table without a header.")
    ] = "",
    slha_out: Annotated[
        Path | None, typer.Option(help="Copy of the SLHA file, or itself, with blocks XSECTION.")
    ] = None,
    max_error: Annotated[
        str, typer.Option(help="Largest relative error of points to accept, as 1%.")
    ] = "",
    share: Annotated[
        str, typer.Option(help="Of --max-error: share of accepted points that may exceed it.")
    ] = SHARE,
    confidence: Annotated[
        str, typer.Option(help="Of --max-error: confidence that the share is kept.")
    ] = CONFIDENCE,
    otherwise: Annotated[
        Path | None, typer.Option(help="Program, or study with one, that computes other points.")
    ] = None,
    store: Annotated[
        Path, typer.Option(help="Of --otherwise: folder of what the program answered.")
    ] = STORE,
    workers: Annotated[
        int, typer.Option(help="Of --otherwise: points computed at a time.", min=1)
    ] = 1,
    new_rows: Annotated[
        Path | None, typer.Option(help="Of --otherwise: table (.csv) that computed points join.")
    ] = None,
    process: Annotated[
        list[str] | None,
        typer.Option(help="Of a bundle: two PDG numbers in quotes; once for each process."),
    ] = None,
    energy: Annotated[float | None, typer.Option(help="Of a bundle: energy in GeV.")] = None,
    order: Annotated[
        str, typer.Option(help="Of a bundle: QCD order, as NLO+NLL; by default the highest.")
    ] = "",
    total: Annotated[bool, typer.Option("--total", help="Of a bundle: add the sum.")] = False,
    all_entries: Annotated[
        bool,
        typer.Option("--all-entries", help="Of a bundle: a row for every entry of a process."),
    ] = False,
    with_engine: Annotated[
        bool,
        typer.Option(
            "--with-engine",
            help="Of a bundle: also the NLO of the embedded engine for processes that are outside.",
        ),
    ] = False,
) -> None:
    """Write for every point the prediction, its error bars and whether it lies in the domain."""
    form = form_of(out, json)
    watched = rows_passing(shown=out != STANDARD or not sys.stdout.isatty())
    if skip_bad and strict:
        raise InputError("commands.skipped_or_refused")
    unpredicted: Unpredicted = "skip" if skip_bad else "refuse" if strict else "keep"
    of_one: dict[str, object] = {"--keep": keep, "--draws": draws, "--engine": engine == "jax"}
    of_one |= {
        "--names": names,
        "--quantiles": quantiles != INTERVAL,
        "--scale log10": scale == "log10",
        "--max-error": max_error,
        "--share": share != SHARE,
        "--confidence": confidence != CONFIDENCE,
        "--otherwise": otherwise,
        "--store": store != STORE,
        "--workers": workers > 1,
        "--new-rows": new_rows,
    }
    of_many: dict[str, object] = {"--process": process, "--energy": energy is not None}
    of_many |= {"--order": order, "--total": total, "--all-entries": all_entries}
    of_many["--with-engine"] = with_engine
    surrogate = surrogate if Bundle.is_known(surrogate) else surrogate_at(surrogate)
    if not surrogate.is_file() and Bundle.is_known(surrogate):
        if option := _first_given(of_one):
            raise InputError("commands.option_of_one", where=option, surrogate=surrogate)
        target = _in_unit("sigma_pb", "pb", unit)
        chosen = to_pairs(process), energy, order or None, all_entries, with_engine, total
        of_bundle = BundleRequest(*chosen, *target, unpredicted)
        bundle = Bundle.load(surrogate)
        predict_with_bundle(bundle, points, of_bundle, (out, form), slha_out, watched)
        return
    if option := _first_given(of_many):
        raise InputError("commands.option_of_bundle", where=option, surrogate=surrogate)
    loaded = _load(surrogate, engine)
    if isinstance(loaded, Classifier):
        _check_no_numbers(of_one | {"--unit": unit, "--slha-out": slha_out}, loaded)
    on: Literal["target", "model"] = "model" if scale == "log10" else "target"
    target, limits = _target(loaded, scale, unit), (max_error, share, confidence)
    request = PredictionRequest(
        probabilities_of(quantiles),
        on,
        *target,
        (*(keep or ()),),
        draws,
        unpredicted,
        tuple(names.split(",")) if names else (),
        _fallback(loaded, of_one, limits, (otherwise, store, workers, new_rows)),
    )
    predict_with_surrogate(loaded, points, request, (out, form), (surrogate, slha_out), watched)


def _check_no_numbers(options: Mapping[str, object], loaded: Classifier) -> None:
    """Refuse options that apply only to targets that are numbers."""
    of_numbers = ("--unit", "--draws", "--slha-out", "--scale log10", "--max-error")
    if option := _first_given({name: options[name] for name in of_numbers}):
        raise InputError("commands.option_of_numbers", where=option, target=loaded.target)


def _first_given(options: Mapping[str, object]) -> str:
    """Return the first option that is given, or an empty text."""
    return next((option for option, value in options.items() if value), "")


def _fallback(
    loaded: Surrogate | Classifier,
    options: Mapping[str, object],
    limits: tuple[str, str, str],
    program: tuple[Path | None, Path, int, Path | None],
) -> Fallback | None:
    """Make what accepts points and computes the others; None without a largest error."""
    path, store, workers, new_rows = program
    for needed, names in NEEDED.items():
        if not options[needed] and (option := _first_given({n: options[n] for n in names})):
            raise InputError("commands.option_needs", where=option, needed=needed)
    if not limits[0] or isinstance(loaded, Classifier):
        return None
    numbers = Limits(*map(share_of, limits, ("--max-error", "--share", "--confidence")))
    if path is None:
        return Fallback(loaded, numbers)
    with needs_extra("train"):
        from nlobayes.programs.otherwise import Otherwise

    unit = loaded.units.get(loaded.target, "")
    return Fallback(loaded, numbers, Otherwise.read(path, store, unit, workers), new_rows)


def _load(path: Path, engine: Literal["numpy", "jax"]) -> Surrogate | Classifier:
    if engine == "jax":
        runtime.configure("float64", threads=None)
    try:
        return load(path, engine)
    except InputError as error:
        if path.suffix == ".nc":
            raise
        raise InputError(
            "commands.surrogate_comes_first",
            where=error.where,
            reason=error.reason,
            faults=[error.code],
        ) from None


def _target(loaded: StoredNetwork, scale: str, unit: str) -> tuple[str, str, float]:
    """Return the name of the prediction, its unit, and the factor that converts to that unit."""
    name, own_unit = loaded.target, loaded.units.get(loaded.target, "")
    if scale == "log10":
        _check_log10(loaded, unit)
        return f"log10_{name}", "", 1.0
    return _in_unit(name, own_unit, unit)


def _in_unit(name: str, own_unit: str, unit: str) -> tuple[str, str, float]:
    """Return a target's name for another unit, the unit, and the factor that converts to it."""
    if unit in ("", own_unit):
        return name, own_unit, 1.0
    try:
        factor = float(convert(np.ones(1), own_unit, unit)[0])
    except InputError as error:
        raise error.within("--unit") from None
    return (
        name.removesuffix(own_unit) + unit if name.endswith(f"_{own_unit}") else name,
        unit,
        factor,
    )


def _check_log10(loaded: StoredNetwork, unit: str) -> None:
    option = "--scale log10"
    if unit:
        raise InputError("commands.unit_of_log10", where=option)
    if loaded.scale != "log10":
        raise InputError("commands.no_log10_learned", where=option, target=loaded.target)
