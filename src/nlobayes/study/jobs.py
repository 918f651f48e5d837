"""Specifications of the jobs of a run; `job_builder` builds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, RootModel, Tag, model_validator

from nlobayes.adaptations import Warmup
from nlobayes.designs import Design
from nlobayes.errors import InputError
from nlobayes.kernels import Kernel
from nlobayes.likelihoods import Likelihood
from nlobayes.methods import Approximation
from nlobayes.methods.pymc import PyMC
from nlobayes.priors import Prior
from nlobayes.rivals import Rival
from nlobayes.settings.agreement import Agreement
from nlobayes.settings.values import THIN_WAS, Fraction, Frozen, Positive, PositiveInt, Seed
from nlobayes.study.accuracy import Accuracy
from nlobayes.study.datasets import AnySplit, Features, GroupColumn, Image, KeptRows, StatedProcess
from nlobayes.study.evaluation import (
    CalibrationTolerances,
    Case,
    Combine,
    CustomScore,
    Export,
    NoiseFamily,
    Thresholds,
)
from nlobayes.study.network import Network
from nlobayes.study.pretraining import Pretraining
from nlobayes.study.program import Program
from nlobayes.study.sources import SOURCES, Source
from nlobayes.study.sources.slha import Spectra
from nlobayes.study.sources.table import Sums
from nlobayes.study.target import Target

PRIOR_DRAWS = 500
"""Draws of a prior predictive check; about a dozen of them are outside each of the 2.5 and 97.5 %
quantiles."""


class ModelJob(Frozen):
    """Statistical model of a run: network, prior and likelihood."""

    network: Network
    prior: Prior
    likelihood: Likelihood
    precision: Literal["float32", "float64"]
    device: Literal["cpu", "gpu"] = "cpu"
    shards: PositiveInt = 1


class SimulateJob(Frozen):
    """Specification of one simulated table."""

    source: Source

    @model_validator(mode="after")
    def _is_computed(self) -> SimulateJob:
        if self.source.made_by != "simulate":
            computed = [kind for kind, one in SOURCES.items() if one.made_by == "simulate"]
            raise InputError("study.not_computed", kind=self.source.kind, computed=computed)
        return self


class IngestJob(Frozen):
    """One table from a folder of SLHA files."""

    spectra: Spectra


class DesignJob(Frozen):
    """The points of one design, and random ones that are held out."""

    design: Design
    held_out: Annotated[int, Field(ge=0, exclude_if=lambda count: count == 0)] = 0
    seed: Annotated[Seed, Field(exclude_if=lambda seed: seed == 0)] = 0


class RunProgramJob(Frozen):
    """One program at points, in chunks of so many rows."""

    program: Program
    store: str
    rows: PositiveInt


class PrepareJob(Frozen):
    """One dataset from its table."""

    features: Features
    target: Target
    split: AnySplit
    reference_points: PositiveInt
    units: dict[str, str]
    duplicates: Literal["reject", "keep"] = "reject"
    most_mb: PositiveInt | None = None
    names: tuple[str, ...] = ()
    sums: Sums = {}
    groups: GroupColumn = None
    rows: KeptRows = None
    process: StatedProcess = None


class JudgeJob(Frozen):
    """Verdict on the accuracy of a round."""

    design: Design
    target: Accuracy
    looks: PositiveInt
    seed: Seed


class ChooseJob(Frozen):
    """Points of a further round."""

    design: Design
    round: PositiveInt
    points: PositiveInt
    random: Fraction
    seed: Seed


class RivalJob(Frozen):
    """One rival, fitted to the train rows of a dataset."""

    rival: Rival


class PretrainJob(Frozen):
    """One MAP."""

    model: ModelJob
    pretraining: Pretraining
    seed: Seed


class WarmupJob(Frozen):
    """One segment of the warm-up of a group of chains."""

    model: ModelJob
    kernel: Kernel
    warmup: Warmup
    seed: Seed


class DrawJob(Frozen):
    """One segment of a group of chains."""

    RENAMED: ClassVar[Mapping[str, str]] = THIN_WAS

    model: ModelJob
    kernel: Kernel
    warmup: Warmup
    draws: PositiveInt
    thin: PositiveInt | None
    seed: Seed

    @model_validator(mode="after")
    def _keeps_whole_draws(self) -> DrawJob:
        if self.thin is not None and self.draws % self.thin:
            raise InputError("study.uneven_thin", key="draws", draws=self.draws, thin=self.thin)
        return self


class ApproximateJob(Frozen):
    """One posterior by an approximate method."""

    model: ModelJob
    method: Approximation
    seed: Seed


class SampleJob(Frozen):
    """All chains of one posterior, sampled by PyMC."""

    model: ModelJob
    method: PyMC
    seed: Seed


def _maker(spec: Any) -> str:
    """Return the tag of the job that made a posterior, from its keys."""
    method = spec.get("method") if isinstance(spec, dict) else getattr(spec, "method", None)
    kind = method.get("kind") if isinstance(method, dict) else getattr(method, "kind", None)
    return "chains" if method is None else "pymc" if kind == "pymc" else "method"


class PosteriorJob(
    RootModel[
        Annotated[
            Annotated[DrawJob, Tag("chains")]
            | Annotated[ApproximateJob, Tag("method")]
            | Annotated[SampleJob, Tag("pymc")],
            Discriminator(_maker),
        ]
    ]
):
    """Job that made a posterior, as its thinned draws store it: chains, or one other job."""


class DiagnoseJob(Frozen):
    """Convergence of one posterior; a method of one job has no kernel."""

    likelihood: Likelihood
    kernel: Kernel | None = None
    thresholds: Thresholds
    thinning_loss: Fraction
    superchains: PositiveInt | None = None
    energy_variance: Positive | None = None


class CheckConvergenceJob(Frozen):
    """Check whether the segments so far suffice."""

    until: Agreement


class PosteriorPredictiveJob(Frozen):
    """The predictions of one posterior and of its baseline."""

    model: ModelJob


class LandscapeJob(Frozen):
    """The surface of the energy around the MAPs of one run."""

    model: ModelJob
    seed: Seed


class PriorPredictiveJob(Frozen):
    """Draws of f from the prior of one model, before any data."""

    model: ModelJob
    covariate: str
    draws: PositiveInt = PRIOR_DRAWS
    seed: Seed


class EvaluateJob(Frozen):
    """The scores of one run's predictions."""

    noise: NoiseFamily
    calibration: CalibrationTolerances
    covariate: str
    seed: Seed
    combine: Combine = "equal"
    scores: dict[str, CustomScore] = {}
    left_out: Annotated[bool, Field(exclude_if=lambda given: not given)] = False
    """Whether predictions of train rows are leave-one-out, as of an infinitely wide network."""


class TabulateChainsJob(Frozen):
    """The tables behind the figures of the chains of one run."""

    covariate: str
    weight_planes: tuple[tuple[str, str], ...] = ()
    marginals: tuple[str, ...] = ()


class TabulateSizesJob(Frozen):
    """The tables behind the figures of the size of a network that is drawn."""

    network: Network
    covariate: str


class TabulateJob(Frozen):
    """The tables behind the other figures of one run."""

    covariate: str
    calibration: CalibrationTolerances
    seed: Seed
    image: Image = None
    cases: tuple[Case, ...] = ()


class ExportJob(Frozen):
    """The surrogate of one run."""

    network: Network
    export: Export
    temperature: Annotated[Positive, Field(exclude_if=lambda value: value == 1)] = 1.0
    """Divisor of the logits of classes."""
    likelihood: Annotated[Likelihood | None, Field(exclude_if=lambda value: value is None)] = None
    """Noise of the train rows, on which an infinitely wide network is conditioned."""
