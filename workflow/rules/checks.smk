# A study is checked before Snakemake reads it: its own reader runs templates and lets the last of
# two equal keys win. A file of --configfile it has read already; what is no plain study still stops.
# A workflow that imports this one keeps its own files, results and process: of these nothing is
# checked, stopped or changed.

import sys

from snakemake.exceptions import WorkflowError

from nlobayes.workflow.checks import check_study_files, refuse_results_without_records
from nlobayes.workflow.process import stop

IS_MODULE = not workflow.modifier.is_main_snakefile()


def refuse(fault):
    """Plan nothing: end this process, or raise in the workflow that imports this one."""
    if IS_MODULE:
        raise WorkflowError(f"nlobayes: error: {fault}")
    stop(fault)


if not IS_MODULE:
    check_study_files(workflow.overwrite_configfiles)

if workflow.is_main_process and not IS_MODULE:
    refuse_results_without_records(sys.argv)
