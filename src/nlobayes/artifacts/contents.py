"""Values to groups and back: the one place that knows the group, name and dims of everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from nlobayes.artifacts.netcdf import Groups, read_attrs, read_groups, write_groups
from nlobayes.errors import InputError
from nlobayes.types import ChainState, Dataset, Named, Segment, Start

Attrs = Mapping[str, Any]


def write_dataset(path: Path, dataset: Dataset, attrs: Attrs) -> None:
    """Write a dataset."""
    names = {
        "input": list(dataset.input_names),
        "feature": list(dataset.feature_names),
    }
    groups = {
        "inputs": _group({"inputs": (("point", "input"), dataset.inputs)}, names, "input"),
        "network": _group(
            {
                "features": (("point", "feature"), dataset.features),
                "target": (("point",), dataset.target),
            },
            names,
            "feature",
        ),
        "observed": xr.Dataset({"observed": (("point",), dataset.observed)}),
        "rows": xr.Dataset(
            {
                "split": (("point",), dataset.split, {"flags": "0 train, 1 val, 2 test"}),
                "reference": (("reference_point",), dataset.reference),
            }
        ),
    }
    content = {"transforms": dataset.transforms, "units": dataset.units}
    write_groups(path, "dataset", groups, {**attrs, **content, "target": dataset.target_name})


def read_dataset(path: Path) -> Dataset:
    """Read a dataset."""
    groups, attrs = read_groups(path, "dataset"), read_attrs(path)
    network = groups["network"]
    return Dataset(
        inputs=groups["inputs"]["inputs"].values,
        features=network["features"].values,
        target=network["target"].values,
        observed=groups["observed"]["observed"].values,
        split=groups["rows"]["split"].values,
        reference=groups["rows"]["reference"].values,
        input_names=tuple(map(str, groups["inputs"]["input"].values)),
        feature_names=tuple(map(str, network["feature"].values)),
        target_name=attrs["target"],
        transforms=attrs["transforms"],
        units=attrs["units"],
    )


def write_start(path: Path, start: Start, attrs: Attrs) -> None:
    """Write the MAP of one chain."""
    groups = {
        "posterior": _named(start.variables, ()),
        "state": xr.Dataset({"position": (("parameter",), start.position)}),
        "history": xr.Dataset(
            {
                "loss": (("epoch",), start.loss),
                "validation_rmse": (("epoch",), start.validation_rmse),
            }
        ),
    }
    write_groups(path, "start", groups, {**attrs, "chain": start.chain})


def read_start(path: Path) -> Start:
    """Read the MAP of one chain."""
    groups, attrs = read_groups(path, "start"), read_attrs(path)
    return Start(
        chain=int(attrs["chain"]),
        position=groups["state"]["position"].values,
        variables=_unname(groups["posterior"], ()),
        loss=groups["history"]["loss"].values,
        validation_rmse=groups["history"]["validation_rmse"].values,
    )


def write_warmup(
    path: Path, stats: Mapping[str, np.ndarray], end: ChainState, attrs: Attrs
) -> None:
    """Write the warm-up of one chain: stats of every step (draw,) and the tuned end state."""
    groups = {"warmup_sample_stats": _stats(stats, end.chain, 0), "state": _state(end)}
    write_groups(path, "warmup", groups, {**attrs, "chain": end.chain})


def write_segment(path: Path, segment: Segment, attrs: Attrs) -> None:
    """Write one segment of one chain."""
    chain = [segment.end.chain]
    draws = segment.first_draw + np.arange(len(segment.function))
    kept = draws[segment.keep_every - 1 :: segment.keep_every]
    sample = {"chain": chain, "draw": kept}
    function = (("chain", "draw", "reference_point"), segment.function[None])
    groups = {
        "posterior": _named(segment.variables, ("chain", "draw"), sample),
        "sample_stats": _stats(segment.stats, segment.end.chain, segment.first_draw),
        "predictions": xr.Dataset({"f": function}, {"chain": chain, "draw": draws}),
        "state": _state(segment.end),
    }
    write_groups(path, "segment", groups, {**attrs, "chain": segment.end.chain})


def read_state(path: Path) -> ChainState:
    """Read the state that a warm-up or a segment ended with."""
    kind = "segment" if read_attrs(path).get("kind") == "segment" else "warmup"
    state = read_groups(path, kind)["state"]
    return ChainState(
        chain=int(state.attrs["chain"]),
        next_draw=int(state.attrs["next_draw"]),
        **{name: state[name].values for name in ChainState._fields[2:]},
    )


def assemble(chains: Sequence[tuple[Path, Sequence[Path]]]) -> Groups:
    """Join the warm-up and the segments of every chain along draws, then along chains.

    Raises
    ------
    InputError
        If a file cannot be used, a segment is out of order, or chains repeat or do not fit.
    """
    joined: dict[str, list[xr.Dataset]] = {}
    for warmup, segments in chains:
        warm = read_groups(warmup, "warmup")["warmup_sample_stats"]
        joined.setdefault("warmup_sample_stats", []).append(warm)
        read = [read_groups(segment, "segment") for segment in segments]
        _check_order(segments, [part["sample_stats"] for part in read], int(warm["chain"].item()))
        for group in ("posterior", "sample_stats", "predictions"):
            parts = [segment[group] for segment in read]
            joined.setdefault(group, []).append(_concat(parts, "draw"))
    numbers = [int(warm["chain"].item()) for warm in joined["warmup_sample_stats"]]
    if len(set(numbers)) < len(numbers):
        raise InputError(f"got chains {numbers}; give every chain once")
    return {group: _concat(parts, "chain") for group, parts in joined.items()}


def observed_groups(dataset: Dataset, rows: np.ndarray) -> Groups:
    """Give the data that a posterior was conditioned on."""
    names = {"feature": list(dataset.feature_names)}
    return {
        "observed_data": xr.Dataset({"target": (("point",), dataset.target[rows])}),
        "constant_data": _group(
            {"features": (("point", "feature"), dataset.features[rows])}, names, "feature"
        ),
        "predictions_constant_data": _group(
            {"features": (("reference_point", "feature"), dataset.features[dataset.reference])},
            names,
            "feature",
        ),
    }


def read_variables(group: xr.Dataset) -> Named:
    """Take the named weights and noise of a posterior group, each with axes (chain, draw, ...)."""
    return _unname(group, ("chain", "draw"))


def predictions_groups(
    functions: np.ndarray, baseline: np.ndarray, dataset: Dataset, draws: xr.Dataset
) -> Groups:
    """Label predictions (chain, draw, point) and those of the baseline (member, point)."""
    coords = {"chain": draws["chain"].values, "draw": draws["draw"].values}
    return {
        "predictions": xr.Dataset({"f": (("chain", "draw", "point"), functions)}, coords),
        "baseline": xr.Dataset({"f": (("member", "point"), baseline)}),
        "points": xr.Dataset(
            {"observed": (("point",), dataset.observed), "split": (("point",), dataset.split)}
        ),
    }


def _group(variables: dict[str, Any], names: dict[str, list[str]], dim: str) -> xr.Dataset:
    return xr.Dataset(variables, {dim: names[dim]})


def _named(
    named: Named, leading: tuple[str, ...], coords: Mapping[str, Any] | None = None
) -> xr.Dataset:
    extra = (None,) * (1 if leading else 0)
    variables = {
        name: ((*leading, *named.dims[name]), values[extra] if leading else values)
        for name, values in named.values.items()
    }
    used = {dim for dims, _ in variables.values() for dim in dims}
    labels = {dim: list(label) for dim, label in named.coords.items() if dim in used}
    return xr.Dataset(variables, {**labels, **(coords or {})})


def _unname(group: xr.Dataset, leading: tuple[str, ...]) -> Named:
    names = [str(name) for name in group.data_vars]
    return Named(
        {name: group[name].values for name in names},
        {name: tuple(map(str, group[name].dims[len(leading) :])) for name in names},
        {str(dim): group[dim].values for dim in group.coords if dim not in leading},
    )


def _stats(stats: Mapping[str, np.ndarray], chain: int, first: int) -> xr.Dataset:
    variables = {name: (("chain", "draw"), values[None]) for name, values in stats.items()}
    length = len(next(iter(stats.values())))
    return xr.Dataset(variables, {"chain": [chain], "draw": first + np.arange(length)})


def _state(end: ChainState) -> xr.Dataset:
    vector, scalar = ("parameter",), ()
    dims = {"logdensity": scalar, "step_size": scalar}
    return xr.Dataset(
        {name: (dims.get(name, vector), getattr(end, name)) for name in ChainState._fields[2:]},
        attrs={"chain": end.chain, "next_draw": end.next_draw},
    )


def _check_order(paths: Sequence[Path], stats: Sequence[xr.Dataset], chain: int) -> None:
    first = 0
    for path, part in zip(paths, stats, strict=True):
        found = (int(part["chain"].item()), int(part["draw"][0]))
        if found != (chain, first):
            raise InputError(
                f"{path}: starts at draw {found[1]} of chain {found[0]} where draw {first} of "
                f"chain {chain} is next; give the segments chain by chain, in order"
            )
        first += part.sizes["draw"]


def _concat(parts: Sequence[xr.Dataset], dim: str) -> xr.Dataset:
    try:
        if any(part.keys() != parts[0].keys() for part in parts):
            raise ValueError("they hold different variables")
        return xr.concat(
            parts,
            dim,
            data_vars="all",
            coords="minimal",
            compat="override",
            join="exact",
            combine_attrs="override",
        )
    except ValueError as error:
        raise InputError(
            f"parts do not fit together along {dim} ({error}); give parts of one run, every chain "
            "with as many draws"
        ) from None
