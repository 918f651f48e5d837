"""Surrogates by their labels: `nlobayes predict quickstart points.csv`."""

from importlib.util import find_spec
from pathlib import Path

from nlobayes.errors import InputError

SURROGATES = Path("results/surrogates")


def surrogate_at(given: Path) -> Path:
    """Return the path of a surrogate that is given by it, or by the label of its run.

    A label is that of the summary, as `quickstart`, or a name in the path of one surrogate alone.

    Raises InputError if several surrogates have that name.
    """
    name = str(given)
    is_path = given.suffix == ".nc" or len(given.parts) > 1
    if is_path or given.exists() or not SURROGATES.is_dir():
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
    """Label the runs of the study of this folder; none without a study, or without pydantic."""
    if not Path("config/config.yaml").is_file() or find_spec("pydantic") is None:
        return {}
    from nlobayes.study.labels import labels, read_whole_study

    return labels(read_whole_study())
