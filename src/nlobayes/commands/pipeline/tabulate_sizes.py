"""Tabulate the data of the figures of a network whose size is drawn."""

from nlobayes.artifacts.contents import DatasetFile
from nlobayes.artifacts.files import TableFiles
from nlobayes.artifacts.netcdf import Groups, PosteriorFile
from nlobayes.artifacts.predicted import PredictionsFile
from nlobayes.builder.varying_architecture import prior_of_sizes
from nlobayes.commands.stage import stage
from nlobayes.diagnostics.architecture import visits
from nlobayes.diagnostics.size_tables import sizes_table, trace_table
from nlobayes.diagnostics.stored_draws import drawn_sizes, parameters_of
from nlobayes.errors import InputError
from nlobayes.evaluation.tasks import scoring_data, task_of
from nlobayes.evaluation.tasks.sizes import draws_table, score_sizes, scores_table
from nlobayes.stage_files import Stated
from nlobayes.study.jobs import TabulateSizesJob
from nlobayes.types import Columns


@stage()
def tabulate_sizes(
    job: TabulateSizesJob,
    posterior: PosteriorFile,
    predictions: Stated[PredictionsFile],
    dataset: DatasetFile,
) -> TableFiles:
    """Tabulate what the figures of the size of a network show.

    Parameters
    ----------
    posterior
        Posterior of the run.
    predictions
        Its predictions.
    dataset
        Its dataset.

    Returns
    -------
    plots
        Folder for the tables.
    """
    predicted, task = scoring_data(*predictions, dataset, job.covariate), task_of(dataset)
    for where, sizes in (
        ("posterior", drawn_sizes(posterior["posterior"])),
        ("predictions", predicted.sizes),
    ):
        if not sizes:
            raise InputError("commands.fixed_size", where=where)
    return {
        **_of_chains(job, posterior),
        "draw_scores": draws_table(task, predicted, predictions.value.draws),
        "size_scores": scores_table(score_sizes(task, predicted)),
    }


def _of_chains(job: TabulateSizesJob, groups: Groups) -> dict[str, Columns]:
    """Tabulate the sizes of the stored draws, and the jumps between sizes."""
    drawn, stats = groups["posterior"], groups["all_sample_stats"]
    sizes, of_draws = drawn_sizes(drawn), {str(name): each.values for name, each in stats.items()}
    density = groups["sample_stats"]["lp"].values
    return {
        "sizes": sizes_table(sizes, prior_of_sizes(job.network), of_draws),
        "visits": visits(of_draws),
        "size_trace": trace_table(sizes, parameters_of(drawn), density, drawn["draw"].values),
    }
