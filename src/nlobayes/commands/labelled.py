"""Surrogates by their labels: `nlobayes predict quickstart points.csv`."""

from pathlib import Path

from nlobayes.errors import InputError
from nlobayes.extras import needs_extra

SURROGATES = Path("results/surrogates")


def surrogate_at(given: Path) -> Path:
    """Return the path of a surrogate that is given by it, or by the label of its run.

    A label is that of the summary, as `quickstart`, or a name in the path of one surrogate alone.

    Raises InputError if several surrogates have that name.
    """
    name = str(given)
    if given.exists() or not SURROGATES.is_dir() or len(given.parts) > 1:
        return given
    labelled = {SURROGATES / f"{run}.nc" for run, label in _labels().items() if label == name}
    found = sorted(path for path in labelled if path.is_file())
    if not found:
        written = sorted(SURROGATES.rglob("*.nc"))
        found = [path for path in written if name in path.relative_to(SURROGATES).parts]
    if len(found) > 1:
        raise InputError("commands.several_surrogates", name=name, paths=[*map(str, found)])
    return found[0] if found else given


def _labels() -> dict[str, str]:
    """Label the runs of the study of this folder; none where there is no study."""
    if not Path("config/config.yaml").is_file():
        return {}
    with needs_extra("train"):
        from nlobayes.study.labels import labels, read_whole_study
    return labels(read_whole_study())
