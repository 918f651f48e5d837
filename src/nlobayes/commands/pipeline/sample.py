"""Sample a posterior by PyMC's NUTS, all chains in one job, as a reference for our kernels."""

from nlobayes.artifacts.chains import sampled_groups
from nlobayes.artifacts.contents import DatasetFile, posterior_groups, statement_of
from nlobayes.artifacts.netcdf import PosteriorFile
from nlobayes.commands.stage import stage
from nlobayes.stage_files import Stated
from nlobayes.study.jobs import SampleJob
from nlobayes.types import EarlierData


@stage()
def sample(
    job: SampleJob, dataset: Stated[DatasetFile], earlier: EarlierData | None
) -> Stated[PosteriorFile]:
    """Draw all chains, and join them with the data they are conditioned on, as `assemble` does.

    Parameters
    ----------
    dataset
        Dataset of the posterior.

    Returns
    -------
    out
        Posterior to write.
    """
    from nlobayes import builder

    made = builder.sample_chains(job, dataset.value, earlier)
    groups = sampled_groups(made.draws, made.stats, made.warmup)
    facts = {"exact": True, **statement_of(dataset.facts)}
    return Stated(posterior_groups(groups, dataset.value), facts)
