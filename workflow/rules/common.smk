# The plan of the study, wildcard constraints, figures of the report, and the shell of the jobs.

from pathlib import Path

from nlobayes.code_digest import code_digest
from nlobayes.errors import InputError
from nlobayes.figures import (
    FigureKind,
    names_of,
    tabulated_of_chains,
    tabulated_of_sizes,
)
from nlobayes.workflow.inputs import Inputs
from nlobayes.workflow.needs import Needs
from nlobayes.workflow.parameters import (
    Options,
    Specifications,
    folder_of_outputs,
    option_per_input,
    tables,
)
from nlobayes.workflow.patterns import (
    one_of,
    runs_in_segments,
    runs_made_by,
    runs_of,
    runs_of_chains,
    runs_of_drawn_sizes,
    runs_of_known_scale,
    wildcard_patterns,
)
from nlobayes.workflow.plan import load_plan
from nlobayes.workflow.planning import (
    collect_garbage_again,
    collect_no_garbage,
    shell_prefix,
    start_jobs_at_once,
)
from nlobayes.workflow.sources import Sources
from nlobayes.workflow.targets import outputs_of

if not IS_MODULE:
    collect_no_garbage()

try:
    PLAN = load_plan(config)
except InputError as error:
    refuse(error)


def preview_table(job, path):
    """Read the first rows of a table; the slow import is left to studies with a table."""
    from nlobayes.prepared import preview

    preview(job, path)


inputs, options = Inputs(PLAN), Options(PLAN)
needs = Needs(PLAN, workflow.resource_settings.default_resources or ())
specifications = Specifications(PLAN)
sources = Sources(PLAN, preview_table, workflow.is_main_process, refuse)

# Deployment methods set their own Python; rules of an importing workflow have their own prefix.
if not (IS_MODULE or workflow.deployment_settings.deployment_method):
    shell.prefix(shell_prefix())


onstart:
    collect_garbage_again()
    if workflow.local_exec:
        start_jobs_at_once(workflow.scheduler)
    watch_chains()


wildcard_constraints:
    **wildcard_patterns(PLAN),


def verdict_of(dataset):
    """Return the verdict on a round; Snakemake plans again when it exists."""
    return checkpoints.judge.get(dataset=dataset).output.verdict


def figure(path, category, of):
    """Declare a figure as output that the report shows with its caption, under its label."""
    name = Path(path).stem
    return report(
        path,
        caption=f"../report/{name}.rst",
        category=category,
        subcategory=lambda wildcards: PLAN.label_of(of, wildcards[of]),
        labels={"figure": name.replace("_", " ")},
    )


def figures(category, names, folder="results/figures/{run}", of="run"):
    """Declare figures as outputs: SVG in the report, and PNG."""
    vectors = [figure(f"{folder}/{name}.svg", category, of) for name in names]
    return [*vectors, *(f"{folder}/{name}.png" for name in names)]


def figures_by_category(parts):
    """Declare the figures of a run, given by part of the report."""
    parts = parts.items()
    return [path for category, names in parts for path in figures(category, names)]
