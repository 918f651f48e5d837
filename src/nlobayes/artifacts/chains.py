"""Storage of chains as NetCDF groups: warm-ups, segments, and the posterior they join into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from nlobayes.artifacts.contents import named_group
from nlobayes.artifacts.draws import draw_groups
from nlobayes.artifacts.netcdf import Groups, read_attrs, read_groups, write_groups
from nlobayes.errors import InputError
from nlobayes.types import Checkpoint, PosteriorDraws, Segment

Attrs = Mapping[str, Any]
Arrays = Mapping[str, np.ndarray]
DRAWN = ("posterior", "sample_stats", "predictions")


def write_warmup(path: Path, first_step: int, stats: Arrays, end: Checkpoint, attrs: Attrs) -> None:
    """Write a segment of a warm-up: stats of every step (chain, draw) and its end state."""
    groups = {
        "warmup_sample_stats": _stats(stats, end.chains, first_step),
        **_checkpoint(end),
        "adaptation": _arrays(end.adaptation, ()),
    }
    write_groups(path, "warmup", groups, {**attrs, "chains": end.chains})


def write_segment(path: Path, segment: Segment, attrs: Attrs) -> None:
    """Write one segment of a chain group."""
    end, function = segment.end, segment.function
    chains = {"chain": list(end.chains)}
    draws = segment.first_draw + np.arange(function.shape[1])
    kept = {**chains, "draw": draws[segment.thin - 1 :: segment.thin]}
    dims = ("chain", "draw", "reference_point", "output")[: function.ndim]
    predictions = {"f": (dims, function)}
    groups = {
        "posterior": named_group(segment.variables, ("chain", "draw"), kept),
        "sample_stats": _stats(segment.stats, end.chains, segment.first_draw),
        "predictions": xr.Dataset(predictions, {**chains, "draw": draws}),
        **_checkpoint(end),
    }
    write_groups(path, "segment", groups, {**attrs, "chains": end.chains})


def write_empty_segment(path: Path, previous: Path, attrs: Attrs) -> None:
    """Write a segment without draws, with the end state of the previous segment."""
    groups = read_groups(previous, "segment")
    empty = {name: groups[name].isel(draw=slice(0, 0)) for name in DRAWN}
    chains = {"chains": read_attrs(previous)["chains"]}
    write_groups(path, "segment", groups | empty, {**attrs, **chains})


def read_checkpoint(path: Path) -> Checkpoint:
    """Read the end state of a warm-up or of a segment."""
    attrs = read_attrs(path)
    groups = read_groups(path, "segment" if attrs.get("kind") == "segment" else "warmup")
    return Checkpoint(
        chains=tuple(attrs["chains"]),
        next_step=int(groups["state"].attrs["next_step"]),
        **{
            name: {str(key): array.values for key, array in groups[name].data_vars.items()}
            if name in groups
            else {}
            for name in ("state", "tuned", "adaptation")
        },
    )


def assemble(warmups: Sequence[Path], segments: Sequence[Path], every: int = 1) -> Groups:
    """Join the warm-ups and the segments of every chain group along draws, then along chains.

    Of the weights in the segments, those of every `every`-th draw of a chain are kept.

    Raises
    ------
    InputError
        If a file cannot be used, a segment is out of order, a chain repeats, or the arrays of two
        files do not fit together.
    """
    warmed = _read_chain_groups("warmup", warmups, ("warmup_sample_stats",))
    drawn = _read_chain_groups("segment", segments, DRAWN, every)
    incomplete = sorted(warmed.keys() ^ drawn.keys())
    if incomplete:
        raise InputError("artifacts.incomplete_chains", chains=incomplete[0])
    return _pair(_join([drawn[chains] | warmed[chains] for chains in warmed]))


def sampled_groups(draws: PosteriorDraws, stats: Arrays, warmup: Arrays) -> Groups:
    """Label chains that one job sampled with every draw stored.

    `stats` has an array for every draw and `warmup` for every step of the warm-up; both contain
    `lp`.
    """
    groups, chains = draw_groups(draws), range(len(draws.log_density))
    warmed = {"warmup_sample_stats": _stats(warmup, chains, 0)}
    return _pair(groups | warmed | {"sample_stats": _stats(stats, chains, 0)})


def read_draws(segments: Sequence[Path]) -> Groups:
    """Read the draws of all chain groups, as the posterior holds them.

    Errors are those of `assemble`.
    """
    return _pair(_join([*_read_chain_groups("segment", segments, DRAWN).values()]))


def _read_chain_groups(
    kind: str, paths: Sequence[Path], names: tuple[str, ...], every: int = 1
) -> dict[tuple[int, ...], Groups]:
    """Read the named groups of all files and join those of each chain group along draws.

    Group `posterior` is thinned to every `every`-th draw, one file at a time: weights are large.
    """
    chain_groups: dict[tuple[int, ...], list[Groups]] = {}
    for path in paths:
        groups = read_groups(path, kind)
        before = chain_groups.setdefault(tuple(read_attrs(path)["chains"]), [])
        _check_order(path, groups[names[-1]], [segment[names[-1]] for segment in before])
        if "posterior" in names:
            kept = (groups["posterior"]["draw"].values + 1) % every == 0
            groups["posterior"] = groups["posterior"].isel(draw=kept)
        before.append({name: groups[name] for name in names})
    numbers = [chain for chains in chain_groups for chain in chains]
    if len(set(numbers)) < len(numbers):
        raise InputError("artifacts.chain_twice", chain_groups=[*chain_groups])
    return {
        chains: {name: _concat([segment[name] for segment in segments], "draw") for name in names}
        for chains, segments in chain_groups.items()
    }


def _pair(groups: Groups) -> Groups:
    """Limit `sample_stats` to the stored draws, as ArviZ needs, and keep all as another group.

    Energies remain there only if every draw is stored: ArviZ computes E-BFMI from their changes
    between consecutive draws, and those of thinned draws make it too large.
    """
    stats, draws = groups["sample_stats"], groups["posterior"]["draw"]
    stored = stats.sel(draw=draws)
    if draws.size < stats.sizes["draw"]:
        stored = stored.drop_vars("energy", errors="ignore")
    return groups | {"sample_stats": stored, "all_sample_stats": stats}


def _join(chain_groups: Sequence[Groups]) -> Groups:
    return {
        name: _concat([chain_group[name] for chain_group in chain_groups], "chain")
        for name in chain_groups[0]
    }


def _stats(stats: Arrays, chains: Sequence[int], first: int) -> xr.Dataset:
    leading = ("chain", "draw")
    draws = first + np.arange(next(iter(stats.values())).shape[1])
    return _arrays(stats, leading).assign_coords(chain=list(chains), draw=draws)


def _checkpoint(end: Checkpoint) -> Groups:
    parameters = next(a.shape[-1] for n, a in end.state.items() if n.startswith("position"))
    state, tuned = (_arrays(arrays, ("chain",), parameters) for arrays in (end.state, end.tuned))
    return {"state": state.assign_attrs(next_step=end.next_step), "tuned": tuned}


def _arrays(arrays: Arrays, leading: tuple[str, ...], parameters: int = -1) -> xr.Dataset:
    """Label arrays of any shape: first `leading`, then `parameter` or numbered dims.

    An array has the dim `parameter` if its only other axis has length `parameters`.
    """

    def dims(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
        rest = shape[len(leading) :]
        if rest == (parameters,):
            return (*leading, "parameter")
        return (*leading, *(f"{name}_dim_{axis}" for axis in range(len(rest))))

    return xr.Dataset({name: (dims(name, array.shape), array) for name, array in arrays.items()})


def _check_order(path: Path, segment: xr.Dataset, before: Sequence[xr.Dataset]) -> None:
    due = sum(part.sizes["draw"] for part in before)
    if segment.sizes["draw"] and int(segment["draw"][0]) != due:
        raise InputError(
            "artifacts.out_of_order",
            where=path,
            draw=int(segment["draw"][0]),
            chains=segment["chain"].values.tolist(),
            due=due,
        )


def _concat(parts: Sequence[xr.Dataset], dim: str) -> xr.Dataset:
    if any(part.keys() != parts[0].keys() for part in parts):
        raise InputError("artifacts.parts_of_other_variables", dim=dim)
    try:
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
        raise InputError("artifacts.unequal_parts", dim=dim, reason=str(error)) from None
