"""The draws of a run as a DataTree, with the groups for comparisons and checks by ArviZ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nlobayes import builder
from nlobayes.errors import InputError
from nlobayes.extras import needs_extra
from nlobayes.interop.find_run import NameOrPath, find
from nlobayes.model.on_draws import add_log_likelihood, add_posterior_predictive

if TYPE_CHECKING:
    from xarray import DataTree


def inference_data(
    run: NameOrPath,
    *,
    log_likelihood: bool = True,
    posterior_predictive: bool = True,
    dataset: NameOrPath | None = None,
    results: NameOrPath = "results",
    seed: int = 0,
) -> DataTree:
    """Read the draws of a run, and add log likelihood and replicates of the train rows.

    Parameters
    ----------
    run, dataset, results
        As in `pymc_model`.
    log_likelihood
        Whether to add the log likelihood `target` (chain, draw, point) of each train row.
    posterior_predictive
        Whether to add a replicate `target` (chain, draw, point) of each train row.
    seed
        Seed of the replicates.

    Returns
    -------
    xarray.DataTree
        The groups of the file and the requested ones, in units of the network. Groups may
        differ in their number of draws.

    Raises
    ------
    InputError
        If the file is no posterior, its dataset is missing or has changed, or a group is requested
        for linearised networks.
    """
    with needs_extra():
        from xarray import load_datatree

    found = find(run, dataset, results)
    if found.linearised and (log_likelihood or posterior_predictive):
        raise InputError("interop.linearised", where=found.posterior)
    draws = load_datatree(found.posterior)
    fixed = found.model.network.model_copy(update={"units": None, "layers": None})
    job = found.model.model_copy(update={"network": fixed})  # stored weights mark unused units
    model = builder.pymc_model(job, found.dataset, found.earlier, non_centered=False)
    if log_likelihood:
        add_log_likelihood(model, draws)
    if posterior_predictive:
        add_posterior_predictive(model, draws, seed)
    return draws
