"""The workflow, where its repository lies; from elsewhere it is deployed (docs/workflow.md)."""


include: "workflow/Snakefile"


# Snakemake forgets the default target of a file that is included.
workflow.default_target = "all"
