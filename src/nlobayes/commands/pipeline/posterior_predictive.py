"""Evaluate a posterior and its baseline, the ensemble of MAPs, at every point of a dataset."""

import numpy as np

from nlobayes.artifacts.contents import DatasetFile, StartFile
from nlobayes.artifacts.netcdf import ThinnedFile
from nlobayes.artifacts.predicted import PredictionsFile
from nlobayes.artifacts.thinned import check_same_rows, flatten, read_centres, read_weights
from nlobayes.commands.stage import stage
from nlobayes.draws_at_points import predict_between, predict_draws
from nlobayes.model.networks import is_size
from nlobayes.stage_files import Stated
from nlobayes.study.jobs import PosteriorPredictiveJob
from nlobayes.types import NamedArrays, Predictions

SCALES_PER_CHAIN = 8
"""Draws of each chain of an infinitely wide network that are conditioned on the train rows: each
has a normal at every point, of which the spread over draws is a small part."""


@stage()
def posterior_predictive(
    job: PosteriorPredictiveJob,
    posterior: Stated[ThinnedFile],
    dataset: DatasetFile,
    start: list[StartFile],
) -> Stated[PredictionsFile]:
    """Evaluate f on the model scale and the likelihood's noise for every draw, MAP and point.

    Parameters
    ----------
    posterior
        Thinned posterior.
    dataset
        Dataset to predict.
    start
        MAP of a chain; once per chain.

    Returns
    -------
    out
        Predictions to write.
    """
    thinned, made = posterior
    check_same_rows(thinned, dataset, "posterior")
    draws = thinned["posterior"]
    if job.model.network.width is not None:
        last = draws.sizes["draw"] - 1
        few = np.unique(np.linspace(0, last, SCALES_PER_CHAIN).round().astype(int))
        draws = draws.isel(draw=few)
        thinned = {**thinned, "posterior": draws}
    drawn = flatten(read_weights(thinned, "posterior"))
    members = _stack([one.variables for one in start])
    centres = read_centres(thinned)
    about = None if centres is None else flatten(centres)
    of_posterior = predict_draws(drawn, job.model, dataset, about)
    of_baseline = predict_draws(members, job.model, dataset)
    plane = predict_between(drawn, job.model, dataset, about)
    nodes = np.arange(len(of_posterior.function) // draws.sizes["chain"])
    predictions = Predictions(
        of_posterior,
        of_baseline,
        dataset.observed,
        dataset.split,
        draws["chain"].values,
        draws["draw"].values if job.model.network.width is None else nodes,
        {str(name): draws[name].values for name in draws if is_size(str(name))},
        plane,
    )
    return Stated(predictions, {name: made[name] for name in ("exact", "checks")})


def _stack(members: list[NamedArrays]) -> dict[str, np.ndarray]:
    return {name: np.stack([m.values[name] for m in members]) for name in members[0].values}
