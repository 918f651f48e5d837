"""The PyMC model of a run, with its training data."""

from __future__ import annotations

from typing import Any

from nlobayes import builder
from nlobayes.interop.find_run import NameOrPath, find


def pymc_model(
    run: NameOrPath,
    *,
    dataset: NameOrPath | None = None,
    results: NameOrPath = "results",
    non_centered: bool = True,
) -> Any:
    """Build the `pm.Model` of a run with its train rows as data, ready for `pm.sample`.

    Parameters
    ----------
    run
        A file of `results/posterior/` or `results/thinned/`, or the name of a run.
    dataset
        Dataset of the run; by default the one named in the posterior.
    results
        Folder of the results, which is used if `run` is a name.
    non_centered
        Whether arrays with learned scales are sampled in units of these scales. If not, the free
        variables are those of stored draws.

    Returns
    -------
    pymc.Model
        All quantities are in units of the network, which learns standardised features and
        targets. Dims: `point` with the numbers of the train rows, `feature`, `hidden_1` ...,
        `output`. Its precision is that of PyTensor in this process.

    Raises
    ------
    InputError
        If the file is no posterior, or its dataset is missing or has changed.
    """
    found = find(run, dataset, results)
    return builder.pymc_model(found.model, found.dataset, found.earlier, non_centered=non_centered)
