"""Tabulate draws of f from the prior at the reference points."""

from typing import Any

import numpy as np

from nlobayes.artifacts.contents import DatasetFile
from nlobayes.artifacts.files import TableFiles
from nlobayes.commands.stage import stage
from nlobayes.data.transforms import CLASSES
from nlobayes.diagnostics import covariates
from nlobayes.evaluation.prior_draws import draws_of_classes, draws_of_numbers, tabulate
from nlobayes.study.jobs import PriorPredictiveJob


@stage()
def prior_predictive(job: PriorPredictiveJob, dataset: DatasetFile) -> TableFiles:
    """Tabulate draws of f, their quantiles and scales, and the target at the same points.

    Cells of the table are empty where f is not finite.

    Parameters
    ----------
    dataset
        Dataset whose reference rows are looked at.

    Returns
    -------
    plots
        Folder for the tables behind the figure.
    """
    from nlobayes import builder

    covariate = covariates.covariate_of(dataset, job.covariate)
    model = builder.build_model(job.model, dataset)
    features = dataset.features[dataset.reference]
    outputs = builder.draw_functions(model, features, seed=job.seed, draws=job.draws)
    along = covariate.at_reference
    if dataset.target_scale == CLASSES:
        likelihood: Any = model.likelihood
        probabilities = likelihood.probabilities(outputs.astype(np.float64), np)
        draws = draws_of_classes(probabilities, dataset, along)
    else:
        draws = draws_of_numbers(outputs, dataset, along)
    return tabulate(draws, dataset, covariate.label)
