"""Storage of posterior draws of any method as NetCDF groups."""

from __future__ import annotations

import numpy as np
import xarray as xr

from nlobayes.artifacts.contents import named_group
from nlobayes.artifacts.netcdf import Groups
from nlobayes.types import PosteriorDraws

LEADING = ("chain", "draw")
CENTRES = "centres"
"""Optional group: the weights at which the network of each draw is linearised."""
LINEARISED = "linearised"
"""Value of the attribute `predictive` of a file with such centres."""
FUNCTION = (*LEADING, "reference_point", "output")


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
