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
    block=r"\d+",
    piece=r"\d+",
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


def starts_of_block(wildcards):
    """List the MAPs of a block's chains, for the first piece of its warm-up."""
    chains = RUNS[wildcards.run].blocks[int(wildcards.block)]
    first = int(wildcards.piece) == 0
    return [f"results/pretrain/{wildcards.run}/{c}.nc" for c in chains if first]


def before_warmup(wildcards):
    """Find the piece of the warm-up before a piece: none before the first."""
    piece, folder = int(wildcards.piece), f"results/chains/{wildcards.run}"
    return [f"{folder}/{wildcards.block}/warmup_{piece - 1}.nc"] if piece else []


def last_warmup(run):
    """Number the last piece of the warm-up of a run."""
    return RUNS[run].sampler.warmup.segments - 1


def per_block(name, count):
    """List the pieces of all blocks of a run, block by block in order."""

    def files(wildcards):
        run = RUNS[wildcards.run]
        return [
            f"results/chains/{wildcards.run}/{block}/{name}_{piece}.nc"
            for block in range(len(run.blocks))
            for piece in range(count(wildcards))
        ]

    return files


all_warmups = per_block("warmup", lambda wildcards: last_warmup(wildcards.run) + 1)
all_segments = per_block(
    "segment", lambda wildcards: RUNS[wildcards.run].sampler.segments
)
segments_so_far = per_block("segment", lambda wildcards: int(wildcards.segment) + 1)


def before_segment(wildcards):
    """Find what a segment continues from."""
    folder = f"results/chains/{wildcards.run}/{wildcards.block}"
    segment = int(wildcards.segment)
    before = (
        f"segment_{segment - 1}" if segment else f"warmup_{last_warmup(wildcards.run)}"
    )
    return f"{folder}/{before}.nc"


def verdict_before(wildcards):
    """Find the verdict that a segment waits for: none before the first, or without `until`."""
    segment, until = int(wildcards.segment), RUNS[wildcards.run].sampler.until
    folder = f"results/chains/{wildcards.run}"
    return [f"{folder}/verdict_{segment - 1}.json"] if segment and until else []


def gpus(wildcards):
    """Count the GPUs of a job."""
    execution = RUNS[wildcards.run].execution
    return execution.shards if execution.device == "gpu" else 0


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
