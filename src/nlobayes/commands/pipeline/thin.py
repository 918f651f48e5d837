"""Thin a posterior to nearly independent draws, and tabulate scores for other steps."""

from typing import Annotated

from nlobayes.artifacts.chains import CENTRES, stored_every
from nlobayes.artifacts.contents import DatasetFile
from nlobayes.artifacts.files import json_file, write_csv
from nlobayes.artifacts.netcdf import Groups, PosteriorFile, ThinnedFile
from nlobayes.commands.stage import stage
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.diagnostics.thinning import thinning_table
from nlobayes.errors import InputError
from nlobayes.evaluation.tasks.at_reference import scored_at_reference
from nlobayes.stage_files import File, Stated
from nlobayes.types import Columns, Dataset

DRAWN = ("posterior", "masks", CENTRES)
FACTS = ("device", "precision", "exact", "predictive", "table_metadata")


CostsFile = Annotated[Columns, File(write=write_csv, option="table", recorded=True)]


@stage()
def thin(
    posterior: Stated[PosteriorFile],
    diagnostics: Annotated[Diagnostics, json_file("thinning_step", "checks")],
    dataset: DatasetFile,
) -> tuple[Stated[ThinnedFile], CostsFile]:
    """Keep every n-th stored draw, with n from the autocorrelation of the predictions.

    Parameters
    ----------
    posterior
        Posterior to thin.
    diagnostics
        Its diagnostics, with the thinning step.
    dataset
        Dataset of the posterior.

    Returns
    -------
    out
        Thinned posterior to write.
    table
        Table of the costs of thinning to write (CSV).
    """
    groups, made = posterior
    step, apart = int(diagnostics["thinning_step"]), stored_every(groups["posterior"])
    stride = min(step // apart, groups["posterior"].sizes["draw"])
    if stride < 1:
        raise InputError(
            "commands.thinning_step_too_small", where="diagnostics", step=step, stored_every=apart
        )
    kept = {"draw": slice(stride - 1, None, stride)}
    thinned: Groups = {name: groups[name].isel(kept) for name in DRAWN if name in groups}
    thinned |= {name: groups[name] for name in ("observed_data", "constant_data")}
    facts = {name: made[name] for name in FACTS if name in made}
    facts |= {"spec": made["spec"], "checks": diagnostics["checks"]}
    return Stated(thinned, facts), _costs(groups, dataset, apart, stride * apart)


def _costs(groups: Groups, data: Dataset, stride: int, chosen: int) -> Columns:
    """Tabulate what other thinning steps cost, by scores at the reference points."""
    function, score = scored_at_reference(groups["predictions"]["f"].values, data)
    return thinning_table(
        function,
        score,
        thin=stride,
        chosen=chosen,
        bytes_per_draw=sum(weights[0, 0].nbytes for weights in groups["posterior"].values()),
        of_chains="all_sample_stats" in groups,
    )
