# A study is checked before Snakemake reads it: its own reader runs templates and lets the last of
# two equal keys win. A file of --configfile it has read already; what is no plain study still stops.

import sys
from pathlib import Path

from nlobayes.errors import InputError
from nlobayes.study.files import read_study

DEFAULT_STUDY = Path("config/config.yaml")

try:
    for path in (DEFAULT_STUDY, *workflow.overwrite_configfiles):
        read_study(path)
except InputError as error:
    sys.stderr.write(f"nlobayes: error: {error}\n")
    sys.exit(2)

MENDING = {"--cleanup-metadata", "--lint", "--touch", "-t", "--unlock"}


def refuse_results_without_records():
    """Stop where results lie that Snakemake, without its records, would take for current."""
    if not workflow.is_main_process or MENDING & {*sys.argv}:
        return
    kept = (Path(".snakemake", name) for name in ("metadata", "incomplete"))
    if any(path.is_file() for folder in kept for path in folder.rglob("*")):
        return
    for path in Path("results").rglob("[!.]*"):
        if path.is_file():
            sys.stderr.write(
                f"nlobayes: error: {path} is there, but .snakemake/metadata, which tells what is "
                "up to date, is not; restore it with `dvc pull` without a path (`dvc checkout` "
                "if it was pulled before), or move results/ away to begin anew\n"
            )
            sys.exit(2)


refuse_results_without_records()
