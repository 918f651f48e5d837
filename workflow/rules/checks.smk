# These rules check a study before Snakemake reads it, as Snakemake's reader runs templates and
# accepts repeated keys. It has already read a file of --configfile, but an error still stops here.
# If another workflow imports this one, its files, results and process are neither checked nor
# changed.

import sys

from snakemake.exceptions import WorkflowError

from nlobayes.workflow.planning import (
    check_study_files,
    refuse_results_without_records,
    stop,
)

IS_MODULE = not workflow.modifier.is_main_snakefile()


def refuse(fault):
    """End this process, or raise an error in the workflow that imports this one."""
    if IS_MODULE:
        raise WorkflowError(f"nlobayes: error: {fault}")
    stop(fault)


if not IS_MODULE:
    check_study_files(workflow.overwrite_configfiles)

if workflow.is_main_process and not IS_MODULE:
    refuse_results_without_records(sys.argv)
