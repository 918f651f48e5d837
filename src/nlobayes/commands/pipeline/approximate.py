"""Make a posterior by an approximate method, in one job."""

from nlobayes.artifacts.chains import LINEARISED, draw_groups
from nlobayes.artifacts.contents import DatasetFile, StartFile, posterior_groups, statement_of
from nlobayes.artifacts.netcdf import PosteriorFile
from nlobayes.commands.stage import stage
from nlobayes.evaluation.reweighting.resampling import choose
from nlobayes.stage_files import Stated
from nlobayes.study.jobs import ApproximateJob
from nlobayes.types import EarlierData


@stage()
def approximate(
    job: ApproximateJob,
    dataset: Stated[DatasetFile],
    start: list[StartFile],
    earlier: EarlierData | None,
) -> Stated[PosteriorFile]:
    """Draw by the method, marked as not exact, with the data that draws are conditioned on.

    Parameters
    ----------
    dataset
        Dataset of the posterior.
    start
        MAP that the method starts from; repeat.

    Returns
    -------
    out
        Posterior to write.
    """
    from nlobayes import builder

    data = dataset.value
    stated = builder.model_for(job.method, job.model)
    model = builder.build_model(stated, data, earlier)
    maps = [one.position for one in start]
    for number, position in enumerate(maps):
        builder.check_finite(model, position, f"start[{number}]")
    begin = builder.approach(model, data, maps)
    key = builder.chain_key(job.seed, "approximate", 0)
    drawn = job.method.sample(key, begin)
    named = builder.name_draws(model, data, drawn)
    weighed: dict[str, float | None] = {}
    if drawn.resample is not None:
        named, weighed = choose(named, drawn.resample, job.seed)
    linearised = {} if named.centres is None else {"predictive": LINEARISED}
    facts = {**drawn.of_starts, **weighed, **linearised, **statement_of(dataset.facts)}
    groups = posterior_groups(draw_groups(named), data)
    return Stated(groups, {"exact": False, **facts, "form": "approximation"})
