"""Storage of draws as NetCDF groups: warm-ups, segments, and posteriors of any method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

from nlobayes.artifacts.contents import named_group
from nlobayes.artifacts.netcdf import Artifact, Groups, open_artifact
from nlobayes.artifacts.segments import label_stats
from nlobayes.errors import InputError
from nlobayes.types import PosteriorDraws
from nlobayes.untyped import Facts

Attrs = Facts
Arrays = Mapping[str, np.ndarray]
LEADING = ("chain", "draw")
CENTRES = "centres"
"""Optional group: the weights at which the network of each draw is linearised."""
LINEARISED = "linearised"
"""Value of the attribute `predictive` of a file with such centres."""
FUNCTION = (*LEADING, "reference_point", "output")
DRAWN = ("posterior", "sample_stats", "predictions")


def assemble(warmups: Iterable[Artifact], segments: Iterable[Artifact], every: int = 1) -> Groups:
    """Join the warm-ups and the segments of every chain group along draws, then along chains.

    Of the weights in the segments, those of every `every`-th draw of a chain are kept.

    Raises InputError if a file cannot be used, a segment is out of order, a chain repeats, or the
    arrays of two files do not fit together.
    """
    warmed = _chain_groups(warmups, ("warmup_sample_stats",))
    drawn = _chain_groups(segments, DRAWN, every)
    incomplete = sorted(warmed.keys() ^ drawn.keys())
    if incomplete:
        raise InputError("artifacts.incomplete_chains", chains=incomplete[0])
    return _pair(_join([drawn[chains] | warmed[chains] for chains in warmed]))


def draw_groups(draws: PosteriorDraws) -> Groups:
    """Label the draws of an approximation: weights, log densities, f at the reference points.

    Group `masks` exists only if architectures differ. Group `centres` exists only if the network of
    each draw is linearised.
    """
    chains, count = draws.log_density.shape
    coords = {"chain": np.arange(chains), "draw": np.arange(count)}
    weights = xr.Dataset(coords=coords)
    if draws.variables is not None:
        weights = named_group(draws.variables, LEADING, coords)
    masks = {
        name: ((*LEADING, *weights[name].dims[2:]), mask.astype(np.int8))
        for name, mask in draws.masks.items()
    }
    stats = {"lp": draws.log_density, "log_approximation": draws.log_approximation}
    known = {name: (LEADING, values) for name, values in stats.items() if values is not None}
    function = (FUNCTION[: draws.function.ndim], draws.function)
    centres = {} if draws.centres is None else {CENTRES: draws.centres}
    return {
        "posterior": weights,
        "sample_stats": xr.Dataset(known, coords),
        "predictions": xr.Dataset({"f": function}, coords),
        **({"masks": xr.Dataset(masks, coords)} if masks else {}),
        **{name: named_group(each, LEADING, coords) for name, each in centres.items()},
    }


def sampled_groups(draws: PosteriorDraws, stats: Arrays, warmup: Arrays) -> Groups:
    """Label chains that one job sampled with every draw stored.

    `stats` has an array for every draw and `warmup` for every step of the warm-up; both contain
    `lp`.
    """
    groups, chains = draw_groups(draws), range(len(draws.log_density))
    warmed = {"warmup_sample_stats": label_stats(warmup, chains, 0)}
    return _pair(groups | warmed | {"sample_stats": label_stats(stats, chains, 0)})


def draws_of(segments: Iterable[Artifact]) -> Groups:
    """Join the draws of all chain groups, as the posterior holds them; errors as `assemble`."""
    return _pair(_join([*_chain_groups(segments, DRAWN).values()]))


class SegmentDraws(NamedTuple):
    """Draws of a segment without its weights, which are the largest part of the file.

    `function` has axes (chain, draw, quantity), where the outputs of each reference point follow
    each other. `acceptance` has axes (chain, draw).
    """

    function: np.ndarray
    acceptance: np.ndarray


def read_drawn(segment: Path) -> SegmentDraws:
    """Read the function draws and acceptance of a segment, which are shown while a run goes on."""
    groups = open_artifact(segment, "segment", only=("predictions", "sample_stats")).groups
    function = groups["predictions"]["f"].values
    acceptance = groups["sample_stats"]["acceptance_rate"].values
    return SegmentDraws(function.reshape(*function.shape[:2], -1), acceptance)


def functions_of(segments: Iterable[Artifact]) -> np.ndarray:
    """Join the function draws (chain, draw, reference_point) of all chain groups.

    Errors are those of `assemble`.
    """
    chain_groups = _chain_groups(segments, ("predictions",))
    return _join([*chain_groups.values()])["predictions"]["f"].values


def _chain_groups(
    artifacts: Iterable[Artifact], names: tuple[str, ...], every: int = 1
) -> dict[tuple[int, ...], Groups]:
    """Join the named groups of all files of each chain group along draws.

    Group `posterior` is thinned to every `every`-th draw, one file at a time: weights are large.
    """
    chain_groups: dict[tuple[int, ...], list[Groups]] = {}
    for path, groups, attrs, _ in artifacts:
        before = chain_groups.setdefault(tuple(attrs["chains"]), [])
        _check_order(path, groups[names[-1]], [segment[names[-1]] for segment in before])
        kept = {name: groups[name] for name in names}
        if "posterior" in kept:
            stored = (groups["posterior"]["draw"].values + 1) % every == 0
            kept["posterior"] = groups["posterior"].isel(draw=stored)
        before.append(kept)
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


def stored_every(posterior: xr.Dataset) -> int:
    """Return the number of draws from one stored draw to the next."""
    return int(posterior["draw"][0]) + 1
