# The study, its runs, and the questions that the graph asks about them.

import atexit
import gc
import json
import re
import shlex
import sys
from functools import lru_cache
from pathlib import Path

from nlobayes.code_digest import code_digest
from nlobayes.errors import InputError
from nlobayes.figures import (
    Of,
    VERDICTS,
    by_category,
    names_of,
    tables_of,
    tabulated,
)
from nlobayes.study.assignments import (
    ingest_job,
    prepare_job,
    run_jobs,
    simulate_job,
    speed_job,
)
from nlobayes.study.comparison import compare_job
from nlobayes.study.grid import CROSSED, load_study
from nlobayes.study.labels import labels, model_labels
from nlobayes.study.library import override, read_presets
from nlobayes.study.sources import SlhaSource, TableSource
from nlobayes.study.values import NAME

# A graph only grows: look for what could be freed once it is built, take nothing apart at the end.
gc.disable()
atexit.register(gc.freeze)


def stop(fault):
    """Say in one line why nothing is planned."""
    sys.stderr.write(f"nlobayes: error: {fault}\n")
    sys.exit(2)


try:
    STUDY = load_study(override(read_presets(Path("config/presets")), config))
    COMPARED = {
        grid: compare_job(STUDY, grid)
        for grid in STUDY.grids
        if STUDY.grids[grid].outputs not in ("speed", "prior")
        and len([*STUDY.runs(grid)]) > 1
    }
except InputError as error:
    stop(error)


class OfStudy(dict):
    """What the study has of a kind, by path; the patterns of the rules match others too."""

    def __missing__(self, name):
        raise InputError(f"{name} is no path of this study; ask for one that it has")


RUNS = OfStudy((run.run_id, run) for grid in STUDY.grids for run in STUDY.runs(grid))
SIMULATED = [
    name
    for name, dataset in STUDY.datasets.items()
    if not isinstance(dataset.source, TableSource | SlhaSource)
]
INGESTED = [
    name
    for name, dataset in STUDY.datasets.items()
    if isinstance(dataset.source, SlhaSource)
]

OF_CLASSES = [
    name
    for name, dataset in STUDY.datasets.items()
    if dataset.target.scale == "classes"
]

MODELS = OfStudy((run.model_id, run) for run in RUNS.values())
TIMED = [name for name, grid in STUDY.grids.items() if grid.outputs == "speed"]
PRIORS = [name for name, grid in STUDY.grids.items() if grid.outputs == "prior"]

FIGURES = by_category(Of.RUNS, Of.NUMBERS)
FIGURES_OF_CLASSES = by_category(Of.RUNS, Of.CLASSES)
VERDICTS_OF_RUN = {
    "--verdict": "verdict.csv",
    "--calibration": "calibration_checks.csv",
}
PLANE = 3  # MAPs
LANDSCAPE_FIGURES = names_of(Of.MAPS)
PRIOR = "prior_predictive"
COMPARISON_FIGURES = names_of(Of.GRIDS, Of.SETTINGS)


def find_rivals():
    """Group the runs of each grid that differ in their sampler alone."""
    groups = {}
    for grid in STUDY.grids:
        for run in STUDY.runs(grid):
            groups.setdefault(f"{grid}/{run.model_id}", []).append(run.run_id)
    return OfStudy((name, runs) for name, runs in groups.items() if len(runs) > 1)


RIVALS = find_rivals()
LABELS = {"run": labels(STUDY), "model": model_labels(STUDY)}

# Jobs find the same Python as Snakemake, however it was started, unless they bring their own.
if not workflow.deployment_settings.deployment_method:
    shell.prefix(
        f"set -euo pipefail; export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH; "
    )


onstart:
    gc.freeze()
    gc.enable()


def one_of(names):
    """Spell the pattern of one of some names, each meant letter by letter; nothing fits no name."""
    return "|".join(map(re.escape, names)) or "(?!)"


def path_of(names):
    """Spell the pattern of the path of any run: so many names, and a seed."""
    return rf"({NAME.pattern}/){{{names}}}s\d+"


RUN_OF_CLASSES = f"({one_of(OF_CLASSES)})/{path_of(len(CROSSED) - 1)}"
RUN_OF_NUMBERS = f"(?!({one_of([PRIOR, *OF_CLASSES])})/){path_of(len(CROSSED))}"


wildcard_constraints:
    dataset=one_of(STUDY.datasets),
    run=path_of(len(CROSSED)),
    model=path_of(len(CROSSED) - 1),
    grid=one_of(STUDY.grids),
    rivals=path_of(len(CROSSED)),
    chain=r"\d+",
    block=r"\d+",
    piece=r"\d+",
    segment=r"\d+",


@lru_cache
def told(run):
    """Tell each verb of a run its own sections; Snakemake asks for one after the other."""
    return run_jobs(RUNS[run])


def job(verb):
    """Give the specification of a verb of a run: its own sections only."""

    def specification(wildcards):
        return told(wildcards.run)[verb].model_dump_json()

    return specification


def model_job(verb):
    """Give the specification of a verb that no sampler matters to."""

    def specification(wildcards):
        return told(MODELS[wildcards.model].run_id)[verb].model_dump_json()

    return specification


def dataset_job(build):
    """Give the specification of a verb of a dataset."""

    def specification(wildcards):
        return build(STUDY.datasets[wildcards.dataset]).model_dump_json()

    return specification


def code_of(verb, specification):
    """Digest the code that a job of a verb runs through: that which its specification chooses."""

    def digest(wildcards):
        return code_digest(verb, json.loads(specification(wildcards)))

    return digest


def dataset_path(run):
    """Name the file of the dataset of a run."""
    return f"results/data/{run.names['dataset']}.nc"


def dataset_of(wildcards):
    """Find the dataset of a run."""
    return dataset_path(RUNS[wildcards.run])


def map_path(run, start):
    """Name the file of a MAP of a run."""
    return f"results/pretrain/{run.model_id}/{start}.nc"


def all_starts(wildcards):
    """List the MAPs of a run, each once."""
    run = RUNS[wildcards.run]
    return [map_path(run, start) for start in sorted(set(run.starts))]


def starts_of_plane(wildcards):
    """List the MAPs that span the plane in which the energy is surveyed."""
    return [map_path(MODELS[wildcards.model], start) for start in range(PLANE)]


def starts_of_block(wildcards):
    """List the MAP of each chain of a block, for the first piece of its warm-up."""
    run, first = RUNS[wildcards.run], int(wildcards.piece) == 0
    chains = run.blocks[int(wildcards.block)] if first else []
    return [map_path(run, run.starts[chain]) for chain in chains]


def begin_warmup(wildcards, input):
    """Spell what a piece of a warm-up begins with: MAPs and chains, or the piece before."""
    if input.previous:
        return repeat_option("--previous", input.previous)
    chains = RUNS[wildcards.run].blocks[int(wildcards.block)]
    starts = zip(input.starts, chains)
    return " ".join(f"--start {shlex.quote(str(s))} --chain {c}" for s, c in starts)


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


def has_plane(run):
    """Tell whether a run has the MAPs that span a plane."""
    return len(set(run.starts)) >= PLANE


def figures_of(run):
    """List the figures of a run: those of every run, and those that its data allow."""
    if run.names["dataset"] in OF_CLASSES:
        return sum(FIGURES_OF_CLASSES.values(), ())
    bands = ["bands"] if len(run.dataset.features.columns) == 1 else []
    scale = ["scale_ratio"] if run.dataset.target.scale_variations else []
    return [*sum(FIGURES.values(), ()), *bands, *scale]


def run_metrics(run):
    """List the scores of a run."""
    folder = f"results/metrics/{run.run_id}"
    return [f"{folder}/evaluation.json", f"{folder}/diagnostics.json"]


def run_figures(run):
    """List the figures of a run as files, and those of the MAPs that it starts from."""
    surveyed = LANDSCAPE_FIGURES if has_plane(run) else ()
    return [
        *expand("results/figures/{run}/{n}.svg", run=run.run_id, n=figures_of(run)),
        *expand("results/figures/landscape/{m}/{n}.svg", m=run.model_id, n=surveyed),
    ]


def rival_posteriors(wildcards):
    """List the posteriors of one model, one per sampler."""
    return [f"results/posterior/{run_id}.nc" for run_id in RIVALS[wildcards.rivals]]


def outputs_of(*grids):
    """Give the function that lists what grids end with, called for a target alone."""
    return lambda wildcards: [path for grid in grids for path in grid_outputs(grid)]


def grid_outputs(grid):
    """List what a grid ends with."""
    if grid in TIMED:
        return [f"timings/speed/{grid}/speed.svg"]
    runs = [*STUDY.runs(grid)]
    if grid in PRIORS:
        models = dict.fromkeys(run.model_id for run in runs)
        return expand("results/figures/prior_predictive/{m}/{n}.svg", m=models, n=PRIOR)
    outputs = []
    if grid not in COMPARED:  # what compares runs asks for their scores
        outputs += [path for run in runs for path in run_metrics(run)]
    if STUDY.grids[grid].outputs == "figures":
        outputs += [path for run in runs for path in run_figures(run)]
        outputs += [
            f"results/surrogates/{run.run_id}.nc"
            for run in runs
            if run.names["dataset"] not in OF_CLASSES
        ]
    if grid in COMPARED:
        settings = {run.setting for run in COMPARED[grid].runs}
        names = COMPARISON_FIGURES if len(settings) > 1 else ["scan"]
        outputs += [f"results/figures/comparison/{grid}/{name}.svg" for name in names]
    rivals = [name for name in RIVALS if name.split("/")[0] == grid]
    return outputs + [f"results/metrics/agreement/{name}.json" for name in rivals]


def grid_metrics(wildcards):
    """List the scores of all runs of a grid."""
    return [path for run in STUDY.runs(wildcards.grid) for path in run_metrics(run)]


def grid_datasets(wildcards):
    """List the dataset of each run of a grid."""
    return [dataset_path(run) for run in STUDY.runs(wildcards.grid)]


def repeat_option(option, paths):
    """Spell an option once per path."""
    return " ".join(f"{option} {shlex.quote(str(path))}" for path in paths)


def figure(path, category, of):
    """Declare a figure as an output that the report shows with its caption, below its label."""
    name = Path(path).stem
    words = {"figure": name.replace("_", " ")}
    caption = f"../report/{name}.rst"
    return report(
        path, caption=caption, category=category, subcategory=label_of(of), labels=words
    )


def label_of(kind):
    """Give the function that calls a run, a model or a grid as people read it."""
    names = LABELS.get(kind, {})
    return lambda wildcards: names.get(wildcards[kind], wildcards[kind])


def figures(category, names, folder="results/figures/{run}", of="run"):
    """Declare figures as outputs, in the report and as bitmaps."""
    vectors = [figure(f"{folder}/{name}.svg", category, of) for name in names]
    return [*vectors, *(f"{folder}/{name}.png" for name in names)]


def table_files(*names):
    """List tables of a run."""
    return expand("results/plots/{{run}}/{table}.csv", table=names)


def folder_of_tables(wildcards, input):
    """Find the folder of the tables of a figure."""
    return Path(input[0]).parent.as_posix()


def folder_of_figures(wildcards, output):
    """Find the folder of figures."""
    return Path(output[0]).parent.as_posix()


def verdict_beside_tables(wildcards, input):
    """Name the verdicts on the run that the tables belong to: its chains, its calibration."""
    folder = Path(input[0]).parent
    return " ".join(
        repeat_option(option, [folder / table])
        for option, table in VERDICTS_OF_RUN.items()
    )


def name_of_run(wildcards):
    """Say what the figures of a run show: the run, and the target that it learned."""
    target = ", ".join(RUNS[wildcards.run].dataset.target.columns)
    return f"run {wildcards.run}, target {target}"
