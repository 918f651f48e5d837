# A study is checked before Snakemake reads it: its own reader runs templates and lets the last of
# two equal keys win. A file of --configfile it has read already; what is no plain study still stops.

import sys

from nlobayes.workflow.checks import check_study_files, refuse_results_without_records

check_study_files(workflow.overwrite_configfiles)

if workflow.is_main_process:
    refuse_results_without_records(sys.argv)
