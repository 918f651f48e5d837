"""Early check whether the infinitely wide network of a run can be sampled."""

from __future__ import annotations

from nlobayes.errors import InputError
from nlobayes.priors.scales import ScalesPrior
from nlobayes.study.run import RunSpec

MOST_TRAIN = 5000
"""Most train rows: the covariance of 5000 rows and its inverse take 600 MB, a factorisation 5 s."""


def check_infinite(run: RunSpec) -> None:
    """Refuse a run whose network is infinitely wide and does not fit its other presets.

    Raises
    ------
    InputError
        If a condition is not met; the error names all that are not.
    """
    if run.network.width is None:
        return
    network, split = run.names["network"], run.dataset.split
    needed = {
        "a prior of kind scales": isinstance(run.prior, ScalesPrior),
        "a gaussian likelihood with one sigma": run.likelihood.is_gaussian,
        "one target": len(run.dataset.target.columns) == 1,
        "a method of kind mcmc": run.mcmc is not None,
        "no earlier data": run.prior.earlier is None,
        "output: sampled, without units and layers": run.network.output == "sampled"
        and not run.network.varies,
        "pretraining with batch: full": run.pretraining.batch == "full",
        "pretraining with another start than he": run.pretraining.start != "he",
        "precision: float64": run.precision == "float64",
        "execution.shards: 1": run.execution.shards == 1,
        f"split.train: {MOST_TRAIN} or fewer rows": split.train <= MOST_TRAIN,
    }
    missing = [name for name, there in needed.items() if not there]
    if missing:
        raise InputError("study.infinite_needs", network=network, missing=missing)
