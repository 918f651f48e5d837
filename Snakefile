"""nlobayes: a table of points goes in, a calibrated surrogate comes out."""

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/inference.smk"
include: "workflow/rules/assessment.smk"
include: "workflow/rules/surrogate.smk"
include: "workflow/rules/report.smk"


rule all:
    """Build every target grid of the study."""
    default_target: True
    input:
        [grid_outputs(grid) for grid in STUDY.targets],
