"""Job specifications with only the sections that a job needs, so no other change reruns it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from nlobayes.errors import InputError
from nlobayes.methods import ApproximationSettings
from nlobayes.methods.pymc import PyMC
from nlobayes.rivals import Rival
from nlobayes.settings.values import Frozen
from nlobayes.study import jobs
from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.grids import RunSpec
from nlobayes.study.jobs_of_runs import SpeedJob, TimedRun, WatchedRun, WatchJob
from nlobayes.study.rounds import Rounds
from nlobayes.study.sources.program import ProgramSource
from nlobayes.untyped import Document


def simulate_job(dataset: DatasetPreset) -> jobs.SimulateJob:
    """Build the job of `simulate` from the source of a dataset."""
    return jobs.SimulateJob(**dataset.source.job())


def ingest_job(dataset: DatasetPreset) -> jobs.IngestJob:
    """Build the job of `ingest` with the request to the files; their folder is an input."""
    return jobs.IngestJob(**dataset.source.job())


def design_job(dataset: DatasetPreset) -> jobs.DesignJob:
    """Build the job of `design` from the source of a dataset, a program."""
    source = dataset.source
    assert isinstance(source, ProgramSource), source.kind
    rounds = source.rounds
    held_out = {"held_out": rounds.held_out, "seed": rounds.seed} if rounds else {}
    return jobs.DesignJob(design=source.design, **held_out)


def judge_job(dataset: DatasetPreset) -> jobs.JudgeJob:
    """Build the job of `judge` from the source of a dataset, a program with rounds."""
    source, rounds = _program_in_rounds(dataset)
    return jobs.JudgeJob(
        design=source.design, target=rounds.target, looks=rounds.most + 1, seed=rounds.seed
    )


def choose_job(dataset: DatasetPreset) -> jobs.ChooseJob:
    """Build the job of `choose` from the source of a dataset, a program in a further round."""
    source, rounds = _program_in_rounds(dataset)
    settings = rounds.model_dump(include={"points", "random", "seed"})
    return jobs.ChooseJob(design=source.design, round=source.round, **settings)


def _program_in_rounds(dataset: DatasetPreset) -> tuple[ProgramSource, Rounds]:
    source = dataset.source
    assert isinstance(source, ProgramSource), source.kind
    assert source.rounds is not None
    return source, source.rounds


def run_program_job(dataset: DatasetPreset) -> jobs.RunProgramJob:
    """Build the job of `run_program` from the source of a dataset, a program."""
    return jobs.RunProgramJob(**dataset.source.job())


def prepare_job(dataset: DatasetPreset) -> jobs.PrepareJob:
    """Build the job of `prepare` with the columns to read from the table."""
    return jobs.PrepareJob(
        features=dataset.features,
        target=dataset.whole_target,
        split=dataset.split,
        reference_points=dataset.reference_points,
        groups=dataset.groups,
        rows=dataset.rows,
        process=dataset.process,
        **dataset.source.reading(),
    )


def rival_job(rival: Rival) -> jobs.RivalJob:
    """Build the job of `rival` from its settings."""
    return jobs.RivalJob(rival=rival)


def run_jobs(run: RunSpec) -> dict[str, Frozen]:
    """Build the jobs of a run by verb, each with the sections that it needs."""
    model = _model_job(run)
    of_method = JOBS_UP_TO[run.method.stage](run, model)
    return {
        "pretrain": jobs.PretrainJob(
            model=_model_job(run, "pretrain"), pretraining=run.pretraining, seed=run.seed
        ),
        **of_method,
        "posterior_predictive": jobs.PosteriorPredictiveJob(model=model),
        "landscape": jobs.LandscapeJob(model=model, seed=run.seed),
        "prior_predictive": jobs.PriorPredictiveJob(
            model=model.model_copy(update={"device": "cpu", "shards": 1}),
            covariate=run.dataset.features.along,
            seed=run.seed,
        ),
        "evaluate": jobs.EvaluateJob(
            noise=run.evaluation.noise,
            calibration=run.evaluation.calibration,
            covariate=run.dataset.features.along,
            seed=run.seed,
            combine="equal" if run.method.approximate else run.evaluation.combine,  # no chains
            scores=run.evaluation.scores,
            left_out=run.network.width is not None,
        ),
        "tabulate": jobs.TabulateJob(
            covariate=run.dataset.features.along,
            calibration=run.evaluation.calibration,
            seed=run.seed,
            image=run.dataset.image,
            cases=run.evaluation.figures.cases,
        ),
        "export": jobs.ExportJob(
            network=run.network,
            export=run.evaluation.export,
            temperature=getattr(run.likelihood, "temperature", 1.0),
            likelihood=None if run.network.width is None else run.likelihood,
        ),
    }


def _chain_jobs(run: RunSpec, model: jobs.ModelJob) -> dict[str, Frozen]:
    assert run.mcmc is not None
    chains = run.mcmc
    given: Document = {"model": model, "seed": run.seed}
    given |= {"kernel": chains.kernel, "warmup": chains.warmup}
    found: dict[str, Frozen] = {
        "warmup": jobs.WarmupJob(**given),
        "draw": jobs.DrawJob(draws=chains.draws_per_segment, thin=chains.thin, **given),
        "diagnose": jobs.DiagnoseJob(
            likelihood=run.likelihood,
            kernel=chains.kernel,
            thresholds=run.evaluation.thresholds,
            thinning_loss=run.evaluation.thinning_loss,
            superchains=chains.superchains,
            energy_variance=chains.warmup.aimed_energy_variance,
        ),
        "tabulate_chains": _tabulate_chains_job(run),
    }
    if run.network.varies:
        along = run.dataset.features.along
        found["tabulate_sizes"] = jobs.TabulateSizesJob(network=run.network, covariate=along)
    if chains.until:
        found["check_convergence"] = jobs.CheckConvergenceJob(until=chains.until)
    return found


def _tabulate_chains_job(run: RunSpec) -> jobs.TabulateChainsJob:
    shown = run.evaluation.figures
    return jobs.TabulateChainsJob(
        covariate=run.dataset.features.along,
        weight_planes=shown.weight_planes,
        marginals=shown.marginals,
    )


def _approximation_jobs(run: RunSpec, model: jobs.ModelJob) -> dict[str, Frozen]:
    assert isinstance(run.method, ApproximationSettings)
    return {
        "approximate": jobs.ApproximateJob(model=model, method=run.method, seed=run.seed),
        "diagnose": _diagnosed_alone(run),
    }


def _sampled_jobs(run: RunSpec, model: jobs.ModelJob) -> dict[str, Frozen]:
    """Build the job of PyMC, which always samples in double precision on the CPU."""
    assert isinstance(run.method, PyMC)
    yardstick = model.model_copy(update={"precision": "float64", "device": "cpu", "shards": 1})
    return {
        "sample": jobs.SampleJob(model=yardstick, method=run.method, seed=run.seed),
        "diagnose": _diagnosed_alone(run),
        "tabulate_chains": _tabulate_chains_job(run),
    }


def _diagnosed_alone(run: RunSpec) -> jobs.DiagnoseJob:
    return jobs.DiagnoseJob(
        likelihood=run.likelihood,
        thresholds=run.evaluation.thresholds,
        thinning_loss=run.evaluation.thinning_loss,
    )


JOBS_UP_TO: dict[str, Callable[[RunSpec, jobs.ModelJob], dict[str, Frozen]]] = {
    "assemble": _chain_jobs,
    "approximate": _approximation_jobs,
    "sample": _sampled_jobs,
}
"""Builders of the jobs of a method, by the stage that writes its posterior."""


def check_earlier(run: RunSpec) -> None:
    """Refuse a run whose prior names a missing file of earlier data.

    Raises InputError if the file does not exist.
    """
    earlier = run.prior.earlier
    if earlier is not None and not earlier.sha256:
        place = f"priors.{run.names['prior']}.earlier"
        raise InputError("study.no_earlier", where=place, file=earlier.file)


def speed_job(runs: Sequence[RunSpec]) -> SpeedJob:
    """Build the job of `speed` with the networks to time."""
    return SpeedJob(runs=tuple(map(_timed_run, runs)))


def _timed_run(run: RunSpec) -> TimedRun:
    """Return the network of a run to time, with the cost of one draw of its chains."""
    chains = run.mcmc
    steps = chains.kernel.fixed_integration_steps if chains else None
    most = chains.gradients_per_draw if chains and not steps else None
    return TimedRun(
        run=run.run_id, model=_model_job(run), integration_steps=steps, most_gradients=most
    )


def _model_job(run: RunSpec, verb: str = "draw") -> jobs.ModelJob:
    check_earlier(run)
    device, shards = run.execution.place_of(verb)
    return jobs.ModelJob(
        network=run.network,
        prior=run.prior,
        likelihood=run.likelihood,
        precision=run.precision,
        device=device,
        shards=shards,
    )


def watch_job(runs: Iterable[RunSpec], labels: Mapping[str, str]) -> WatchJob:
    """Build the job of `watch` with the planned lengths of the labelled runs, in their order."""
    known = {run.run_id: run for run in runs}
    return WatchJob(runs=tuple(_watched(known[path], labels[path]) for path in labels))


def _watched(run: RunSpec, label: str) -> WatchedRun:
    watched = WatchedRun(run=run.run_id, model=run.model_id, label=label, maps=len({*run.starts}))
    if run.mcmc is None:
        return watched
    return watched.model_copy(
        update={
            "chain_groups": tuple(len(chains) for chains in run.chain_groups),
            "warmup_steps": run.mcmc.warmup.steps,
            "segments": run.mcmc.segments,
            "draws_per_segment": run.mcmc.draws_per_segment,
        }
    )
