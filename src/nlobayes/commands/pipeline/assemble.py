"""Join all chains into one posterior, as ArviZ InferenceData."""

from nlobayes.artifacts import chains
from nlobayes.artifacts.contents import DatasetFile, posterior_groups, statement_of
from nlobayes.artifacts.netcdf import Artifact, OpenerFile, PosteriorFile
from nlobayes.commands.stage import stage
from nlobayes.diagnostics.thinning import storage_stride
from nlobayes.errors import InputError
from nlobayes.stage_files import Stated
from nlobayes.storage import MOST_STORED
from nlobayes.untyped import Document


@stage()
def assemble(
    dataset: Stated[DatasetFile], warmup: list[OpenerFile], segment: list[OpenerFile]
) -> Stated[PosteriorFile]:
    """Join segments along draws and chains, with the data they are conditioned on.

    Where the specification does not state every how many draws weights are stored, the
    autocorrelation of f decides.

    Parameters
    ----------
    dataset
        Dataset of the posterior.
    warmup
        Warm-up, group by group in order.
    segment
        Segment, group by group in order.

    Returns
    -------
    out
        Posterior to write.
    """
    drawn = [open_one("segment", only=("predictions",)) for open_one in segment]
    made = _one_specification(drawn)
    every = _stride(drawn) if made["spec"].get("thin", 1) is None else 1
    # Files are opened one after another, so that weights which are not stored are soon dropped.
    warmed = (open_one("warmup") for open_one in warmup)
    groups = chains.assemble(warmed, (open_one("segment") for open_one in segment), every)
    facts = {name: made[name] for name in ("spec", "device", "precision", "exact")}
    facts |= statement_of(dataset.facts)
    return Stated(posterior_groups(groups, dataset.value), facts)


def _stride(segments: list[Artifact]) -> int:
    function = chains.functions_of(segments)
    outputs = function.reshape(*function.shape[:2], -1)
    return storage_stride(outputs, most=MOST_STORED)


def _one_specification(segments: list[Artifact]) -> Document:
    first, *others = segments
    for other in others:
        if other.attrs["spec"] != first.attrs["spec"]:
            raise InputError("commands.segments_of_other_runs", path=other.path, first=first.path)
    return first.attrs
