"""nlobayes: a table of points goes in, a calibrated surrogate comes out."""

from snakemake.utils import min_version

min_version("9.27")


include: "workflow/rules/checks.smk"


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/terminal.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/inference.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/surrogate.smk"
include: "workflow/rules/report.smk"


rule all:
    """Build every target grid of the study."""
    default_target: True
    input:
        outputs_of(PLAN, *PLAN.study.targets),
