"""The list of all commands, in the groups of their folders, and the facts of pipeline stages.

The help of the command line, the resources of jobs, the specifications that `nlobayes verify` knows
and the table in docs/stages.md derive from it. Planning and `verify` run without the libraries of
stages and do not import them, so the model of a specification stands here and in a signature. Tests
compare both, and the list with the rules and with the Slurm profile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from nlobayes.stages.definitions import Command, Place, Stage

PIPELINE = {
    "simulate": Stage(
        help="Compute a table with the embedded NLO engine.",
        job="SimulateJob",
        outputs=(Place.TABLE,),
        base_mb=300,
        numbers=lambda size: size.data,
        group="data",
    ),
    "ingest": Stage(
        help="Turn a folder of SLHA files into a table.",
        job="IngestJob",
        inputs=("{folder}",),
        outputs=(Place.TABLE,),
        base_mb=300,
        numbers=lambda size: 100 * size.rows,
        seconds=lambda size: size.reading_seconds,
        group="data",
    ),
    "design": Stage(
        help="Choose the points at which a program is called.",
        job="DesignJob",
        outputs=(Place.POINTS,),
        base_mb=300,
        numbers=lambda size: size.data,
        group="data",
    ),
    "run_program": Stage(
        help="Call a program at one chunk of points.",
        job="RunProgramJob",
        outputs=(Place.CHUNK,),
        base_mb=300,
        numbers=lambda size: size.data + 1e6 * size.called_mb / 8,
        seconds=lambda size: size.calling_seconds,
    ),
    "gather": Stage(
        help="Join chunks of points into a table; list the points that failed.",
        outputs=(Place.TABLE, "results/points/{dataset}/failures.csv"),
        base_mb=300,
        numbers=lambda size: size.data,
        group="data",
    ),
    "prepare": Stage(
        help="Turn a table into a dataset: features, target, splits.",
        job="PrepareJob",
        outputs=(Place.DATASET,),
        base_mb=300,
        numbers=lambda size: size.data,
        group="data",
    ),
    "describe": Stage(
        help="Tabulate rows of a dataset for its figure.",
        outputs=("results/plots/data/{dataset}/{table}.csv",),
        base_mb=300,
        numbers=lambda size: size.data,
        group="data",
    ),
    "rival": Stage(
        help="Fit a rival to the train rows, and predict all rows.",
        job="RivalJob",
        outputs=(Place.RIVAL, "timings/rivals/{dataset}/{rival}.json"),
        base_mb=900,
        numbers=lambda size: size.data + 50 * size.rows + size.process,
        seconds=lambda size: size.rival_seconds,
    ),
    "pretrain": Stage(
        help="Fit the MAP that one chain starts from.",
        job="PretrainJob",
        outputs=(Place.START,),
        base_mb=1100,
        numbers=lambda size: size.data + 100 * size.weights,
        seconds=lambda size: size.pretrain_seconds,
        on_gpu=True,
    ),
    "warmup": Stage(
        help="Adapt a group of chains before the first draw.",
        job="WarmupJob",
        outputs=(Place.WARMUP,),
        base_mb=1300,
        numbers=lambda size: (
            size.data + size.chain_group * (20 * size.matrix + size.marginal + 100 * size.warmup)
        ),
        seconds=lambda size: size.chain_group * size.warmup * size.draw_seconds,
        on_gpu=True,
    ),
    "draw": Stage(
        help="Draw one segment of a group of chains.",
        job="DrawJob",
        outputs=(Place.SEGMENT,),
        base_mb=1100,
        numbers=lambda size: (
            size.data + size.chain_group * (size.matrix + size.marginal) + 3 * size.segment_drawn
        ),
        seconds=lambda size: size.chain_group * size.segment * size.draw_seconds,
        on_gpu=True,
    ),
    "check_convergence": Stage(
        help="Check whether the chains have converged so far.",
        job="CheckConvergenceJob",
        outputs=(Place.VERDICT,),
        base_mb=500,
        numbers=lambda size: 8 * size.drawn,
    ),
    "approximate": Stage(
        help="Make a posterior by an approximate method.",
        job="ApproximateJob",
        outputs=(Place.POSTERIOR,),
        base_mb=1300,
        numbers=lambda size: size.data + size.matrix + size.marginal + 2 * size.drawn,
        seconds=lambda size: size.prediction_seconds + size.draws * size.draw_seconds,
        on_gpu=True,
    ),
    "sample": Stage(
        help="Sample a posterior by the NUTS of PyMC, in one job.",
        job="SampleJob",
        outputs=(Place.POSTERIOR,),
        base_mb=1500,
        numbers=lambda size: size.data + 4 * size.drawn,
        seconds=lambda size: size.draws * size.draw_seconds,
    ),
    "assemble": Stage(
        help="Join all chains into one posterior.",
        job="DrawJob",
        outputs=(Place.POSTERIOR,),
        base_mb=300,
        numbers=lambda size: size.data + 5 * size.drawn,
        group="scores",
    ),
    "diagnose": Stage(
        help="Compute the convergence diagnostics of a posterior.",
        job="DiagnoseJob",
        outputs=(Place.DIAGNOSTICS,),
        base_mb=600,
        numbers=lambda size: size.data + 8 * size.drawn,
        group="scores",
    ),
    "thin": Stage(
        help="Keep as many draws as are nearly independent.",
        job="PosteriorJob",
        outputs=(Place.THINNED, "results/plots/{run}/thinning.csv"),
        base_mb=600,
        numbers=lambda size: size.data + 6 * size.drawn,
        group="scores",
    ),
    "posterior_predictive": Stage(
        help="Evaluate a posterior and its baseline at every point.",
        job="PosteriorPredictiveJob",
        outputs=(Place.PREDICTIONS,),
        base_mb=600,
        numbers=lambda size: size.data + 2 * size.drawn + 3 * size.predicted,
        seconds=lambda size: size.prediction_seconds,
        group="scores",
    ),
    "evaluate": Stage(
        help="Score predictions and their error bars.",
        job="EvaluateJob",
        outputs=(Place.EVALUATION,),
        base_mb=700,
        numbers=lambda size: size.data + 5 * size.predicted,
        group="scores",
    ),
    "tabulate_chains": Stage(
        help="Tabulate what the figures of chains show.",
        job="TabulateChainsJob",
        outputs=("results/plots/{run}/{table}.csv",),
        base_mb=700,
        numbers=lambda size: size.data + 8 * size.drawn,
        group="scores",
    ),
    "tabulate_sizes": Stage(
        help="Tabulate the sizes of a network whose size is drawn.",
        job="TabulateSizesJob",
        outputs=("results/plots/{run}/{table}.csv",),
        base_mb=1000,
        numbers=lambda size: size.data + 8 * size.drawn + 5 * size.predicted,
        group="scores",
    ),
    "tabulate": Stage(
        help="Tabulate what the figures of a run show.",
        job="TabulateJob",
        outputs=("results/plots/{run}/{table}.csv",),
        base_mb=700,
        numbers=lambda size: size.data + 5 * size.predicted,
        group="scores",
    ),
    "export": Stage(
        help="Write the surrogate of a run: one file that predicts.",
        job="ExportJob",
        outputs=(Place.SURROGATE,),
        base_mb=500,
        numbers=lambda size: size.data + 6 * size.drawn + 3 * size.predicted,
        seconds=lambda size: size.prediction_seconds,
        group="scores",
    ),
    "judge": Stage(
        help="Judge whether a program's surrogate is accurate enough.",
        job="JudgeJob",
        outputs=(Place.ROUND, "results/plots/rounds/{dataset}/rounds.csv"),
        base_mb=600,
        numbers=lambda size: size.data + 3 * size.predicted,
    ),
    "choose": Stage(
        help="Choose the points of a further round of a program.",
        job="ChooseJob",
        outputs=(Place.POINTS,),
        base_mb=1500,
        numbers=lambda size: size.data,
    ),
    "landscape": Stage(
        help="Survey the energy around the MAPs.",
        job="LandscapeJob",
        outputs=("results/plots/landscape/{model}/{table}.csv",),
        base_mb=1100,
        numbers=lambda size: size.data + 100 * size.weights,
        seconds=lambda size: size.survey_seconds,
        on_gpu=True,
        group="landscape",
    ),
    "prior_predictive": Stage(
        help="Tabulate prior draws of f, before any data.",
        job="PriorPredictiveJob",
        outputs=("results/plots/prior_predictive/{model}/{table}.csv",),
        base_mb=1000,
        numbers=lambda size: size.data + size.prior_draws * (size.weights + 10 * size.reference),
        group="prior",
    ),
    "agree": Stage(
        help="Compare several samplers of one posterior.",
        outputs=("results/metrics/agreement/{samplers}.json",),
        base_mb=600,
        numbers=lambda size: 8 * size.drawn,
    ),
    "fidelity": Stage(
        help="Compare approximate posteriors with the exact one.",
        job="FidelityJob",
        outputs=(
            "results/metrics/fidelity/{approximated}.json",
            "timings/fidelity/{approximated}/fidelity.csv",
        ),
        base_mb=700,
        numbers=lambda size: 2 * size.drawn + 3 * size.predicted,
    ),
    "plot": Stage(
        help="Draw figures from their tables.",
        inputs=("{folder}/{table}.csv",),
        outputs=("{folder}/{figure}.svg", "{folder}/{figure}.png"),
        base_mb=500,
        numbers=lambda size: 100 * size.rows,
        group="scores",
    ),
    "compare": Stage(
        help="Compare runs, with paired differences.",
        job="CompareJob",
        inputs=(Place.EVALUATION, Place.DIAGNOSTICS),
        outputs=(
            "results/plots/comparison/{grid}/{table}.csv",
            "results/plots/comparison/{grid}/table.md",
        ),
        base_mb=500,
        group="comparison",
    ),
    "speed": Stage(
        help="Time networks: gradients, predictions, loading.",
        inputs=(Place.DATASET,),
        outputs=("timings/speed/{grid}/speed.csv", "timings/speed/{grid}/loadings.csv"),
    ),
}
TOOLS = {
    "fit": Command(
        "Fit a table: from a CSV file to a surrogate with error bars.",
        example="nlobayes fit table.csv --target sigma",
    ),
    "propose": Command(
        "Propose the points to compute next, and say whether enough are.",
        example="nlobayes propose table.csv --target sigma --points 20 --out next.csv",
    ),
    "predict": Command(
        "Predict the points of a table with a surrogate.",
        example="nlobayes predict surrogate.nc points.csv -o out.csv",
    ),
    "onnx": Command(
        "Write a surrogate as an ONNX model.",
        example="nlobayes onnx surrogate.nc -o surrogate.onnx",
    ),
    "bundle": Command(
        "Bundle surrogates of many processes in one folder.",
        example="nlobayes bundle one.nc two.nc --out pairs",
    ),
    "serve": Command(
        "Serve a surrogate on this machine: a web page and an HTTP API.",
        example="nlobayes serve surrogate.nc",
    ),
    "summary": Command(
        "Print the table of a study's runs.",
        example="nlobayes summary",
    ),
    "watch": Command(
        "Show how far runs are, by their results and logs.",
        example="nlobayes watch",
    ),
    "reweight": Command(
        "Move a posterior to another prior or likelihood by weights.",
        "ReweightJob",
        example="nlobayes reweight thinned.nc --dataset data.nc --prior laplace --out moved.nc",
    ),
    "sensitivity": Command(
        "Measure how predictions depend on prior and likelihood.",
        example="nlobayes sensitivity thinned.nc --dataset data.nc",
    ),
    "condense": Command(
        "Condense the posterior of f into a file for the prior of a later run.",
        "CondenseJob",
        example="nlobayes condense thinned.nc --dataset data.nc --out earlier.nc",
    ),
}
AUDIT = {
    "show": Command(
        "Print what an artifact holds and what made it.",
        example="nlobayes show surrogate.nc",
    ),
    "verify": Command(
        "Verify artifacts, what they were made from, and by which code.",
        example="nlobayes verify",
    ),
    "provenance": Command(
        "Export what made every file: PROV-JSON and RO-Crate.",
        example="nlobayes provenance --out provenance.json",
    ),
    "record": Command(
        "Record in dvc.lock what Snakemake made.",
        example="nlobayes record",
    ),
}
GROUPS: dict[str, Mapping[str, Command]] = {"tools": TOOLS, "pipeline": PIPELINE, "audit": AUDIT}


def module_of(command: str) -> str:
    """Name the module of a command; raise KeyError if there is no such command."""
    for group, commands in GROUPS.items():
        if command in commands:
            return f"nlobayes.commands.{group}.{command}"
    raise KeyError(command)


def function_of(command: str) -> Callable[..., None]:
    """Import the function of a command; raise KeyError if there is no such command."""
    function: Callable[..., None] = getattr(import_module(module_of(command)), command)
    return function


def inputs_of(stage: str) -> tuple[str, ...]:
    """List patterns of the paths that a stage may read; import its function if that tells them."""
    stated = PIPELINE[stage].inputs
    if stated is not None:
        return stated
    places: dict[str, tuple[str, ...]] = {place.name.lower(): (place,) for place in Place}
    places["previous"] = (Place.WARMUP, Place.SEGMENT)
    return tuple(path for kind in vars(function_of(stage))["reads"] for path in places[kind])
