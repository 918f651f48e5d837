# The study, its runs, and the questions that the graph asks about them.

import shlex
import sys
from pathlib import Path

from nlobayes.errors import InputError
from nlobayes.provenance import code_digest
from nlobayes.study.grid import CROSSED, load_study
from nlobayes.study.jobs import prepare_job, run_jobs, simulate_job
from nlobayes.study.library import override, read_presets
from nlobayes.study.presets import SimulatedSource

try:
    STUDY = load_study(override(read_presets(Path("config/presets")), config))
except InputError as error:
    sys.stderr.write(f"nlobayes: error: {error}\n")
    sys.exit(2)

RUNS = {run.run_id: run for grid in STUDY.grids for run in STUDY.runs(grid)}
SIMULATED = [
    name
    for name, dataset in STUDY.datasets.items()
    if isinstance(dataset.source, SimulatedSource)
]

FIGURES = (
    "trace",
    "convergence",
    "autocorrelation",
    "loss",
    "predicted_vs_true",
    "residuals",
    "pulls",
    "coverage",
    "cases",
)


def find_rivals():
    """Group the runs of each grid that differ in their sampler alone."""
    groups = {}
    for grid in STUDY.grids:
        for run in STUDY.runs(grid):
            same = [run.names[kind] for kind in CROSSED if kind != "sampler"]
            name = Path(grid, *same, f"s{run.seed}").as_posix()
            groups.setdefault(name, []).append(run.run_id)
    return {name: runs for name, runs in groups.items() if len(runs) > 1}


RIVALS = find_rivals()

# Jobs find the same Python as Snakemake, however it was started, unless they bring their own.
if not workflow.deployment_settings.deployment_method:
    shell.prefix(
        f"set -euo pipefail; export PATH={Path(sys.executable).parent}:$PATH; "
    )


wildcard_constraints:
    dataset="|".join(STUDY.datasets),
    run="|".join(RUNS),
    rivals="|".join(RIVALS) or "none",
    chain=r"\d+",
    segment=r"\d+",


def job(verb):
    """Give the specification of a verb of a run: its own sections only."""

    def specification(wildcards):
        return run_jobs(RUNS[wildcards.run])[verb].model_dump_json()

    return specification


def dataset_job(build):
    """Give the specification of a verb of a dataset."""

    def specification(wildcards):
        return build(STUDY.datasets[wildcards.dataset]).model_dump_json()

    return specification


def dataset_of(wildcards):
    """Find the dataset of a run."""
    return f"results/data/{RUNS[wildcards.run].names['dataset']}.nc"


def table_of(wildcards):
    """Find the table of a dataset: simulated here or given by the user."""
    source = STUDY.datasets[wildcards.dataset].source
    if isinstance(source, SimulatedSource):
        return f"results/tables/{wildcards.dataset}.parquet"
    return source.path


def per_chain(pattern):
    """Expand a pattern over the chains of a run."""

    def files(wildcards):
        chains = range(RUNS[wildcards.run].sampler.chains)
        return expand(pattern, run=wildcards.run, chain=chains)

    return files


def all_segments(wildcards):
    """List the segments of a run, chain by chain in order."""
    sampler = RUNS[wildcards.run].sampler
    return [
        f"results/chains/{wildcards.run}/{chain}/segment_{segment}.nc"
        for chain in range(sampler.chains)
        for segment in range(sampler.segments)
    ]


def before_segment(wildcards):
    """Find what a segment continues from."""
    folder = f"results/chains/{wildcards.run}/{wildcards.chain}"
    segment = int(wildcards.segment)
    return f"{folder}/segment_{segment - 1}.nc" if segment else f"{folder}/warmup.nc"


def run_outputs(run_id):
    """List what a run ends with."""
    return [
        f"results/metrics/{run_id}/evaluation.json",
        f"results/metrics/{run_id}/diagnostics.json",
        *expand("results/figures/{run}/{figure}.svg", run=run_id, figure=FIGURES),
    ]


def rival_posteriors(wildcards):
    """List the posteriors of one model, one per sampler."""
    return [f"results/posterior/{run_id}.nc" for run_id in RIVALS[wildcards.rivals]]


def grid_outputs(grid):
    """List what a grid ends with."""
    outputs = [path for run in STUDY.runs(grid) for path in run_outputs(run.run_id)]
    agreements = [
        f"results/metrics/agreement/{name}.json"
        for name in RIVALS
        if name.split("/")[0] == grid
    ]
    return outputs + agreements


def repeat_option(option, paths):
    """Spell an option once per path."""
    return " ".join(f"{option} {shlex.quote(str(path))}" for path in paths)
