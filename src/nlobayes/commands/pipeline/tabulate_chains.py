"""Tabulate the data of the figures of chains: traces, convergence, correlations and weights."""

from nlobayes.artifacts.contents import DatasetFile
from nlobayes.artifacts.files import TableFiles
from nlobayes.artifacts.netcdf import PosteriorFile
from nlobayes.commands.shared import chain_tables
from nlobayes.commands.stage import stage
from nlobayes.diagnostics import covariates
from nlobayes.study.jobs import TabulateChainsJob


@stage()
def tabulate_chains(
    job: TabulateChainsJob, posterior: PosteriorFile, dataset: DatasetFile
) -> TableFiles:
    """Tabulate what the figures of the chains of one run show.

    Parameters
    ----------
    posterior
        Posterior of the run.
    dataset
        Its dataset.

    Returns
    -------
    plots
        Folder for the tables.
    """
    return chain_tables.of_chains(job, posterior, covariates.of(dataset, job.covariate))
