"""The vocabulary of a study: every preset, its keys, its defaults and their limits.

These models are the only place where defaults live. All are frozen and refuse unknown keys.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from nlobayes.study.values import (
    Fraction,
    Frozen,
    Names,
    Positive,
    PositiveInt,
    Rows,
    Seed,
    Seeds,
)


class SimulatedSource(Frozen):
    """NLO cross sections of p p -> chi0_1 chi0_1 from the embedded engine."""

    kind: Literal["simulate"]
    points: PositiveInt = 4000
    """Number of parameter points."""
    seed: Seed = 20240101
    """Seed of the parameter sampling."""
    sqrt_s_tev: Annotated[float, Field(ge=7, le=14)] = 13.0
    """Centre-of-mass energy in TeV."""
    squark_mass_gev: Annotated[float, Field(ge=2000, allow_inf_nan=False)] = 3000.0
    """Common squark mass in GeV."""


class TableSource(Frozen):
    """A CSV or parquet table of the user."""

    kind: Literal["table"]
    path: str
    """Path of the table, relative to the working directory."""
    units: dict[str, str] = {}
    """Unit of each column that does not name its own (`m1: GeV`)."""

    @field_validator("path")
    @classmethod
    def _stays_inside(cls, path: str) -> str:
        parts = PurePosixPath(path).parts
        if not parts or ".." in parts:
            raise ValueError(f"must name a file without climbing out by '..', got {path!r}")
        return path


Source = Annotated[SimulatedSource | TableSource, Field(discriminator="kind")]


class Features(Frozen):
    """Which columns are read and how they enter the network."""

    columns: tuple[str, ...] = ("m1", "n11", "n12", "n13", "n14")
    """Columns of the table, in the order of the network's inputs."""
    map: Literal["invariants", "threshold_invariants", "raw"] = "invariants"
    """`invariants`: ln m, N11^2, N12^2, N13^2-N14^2, N11 N12; chains do not converge on `raw`."""
    units: dict[str, str] = {"m1": "GeV"}
    """Unit in which a column enters; a column that names another is converted."""
    standardise: bool = True
    """Centre and scale each feature with the train rows."""


class Target(Frozen):
    """Which column is learned and on which scale."""

    column: str = "sigma_pb"
    """Column of the table."""
    unit: str = "pb"
    """Unit in which the cross section is stored and reported."""
    scale: Literal["log10"] = "log10"
    """Scale on which the network learns."""
    standardise: bool = True
    """Centre and scale the target with the train rows."""


class Split(Frozen):
    """Rows of each split: numbers of rows, or fractions that sum to one."""

    train: Rows
    validation: Rows
    test: Rows
    shuffle: bool = True
    """Draw the rows at random; otherwise take them in order."""
    seed: Seed = 0
    """Seed of the shuffle."""

    @model_validator(mode="after")
    def _fits_the_table(self) -> Split:
        share = sum(size for size in (self.train, self.validation, self.test) if size < 1)
        if share > 1 + 1e-9:
            raise ValueError(f"fractions sum to {share:g}, must sum to at most 1")
        return self


SPLIT_PRESETS = {"thesis": Split(train=0.8, validation=0.05, test=0.15, shuffle=False)}


class DatasetPreset(Frozen):
    """A table with its features, target and splits."""

    source: Source
    """Where the table comes from."""
    features: Features = Features()
    """Inputs of the network."""
    target: Target = Target()
    """What is learned."""
    split: Split
    """Row numbers or fractions, or the name of a split preset (`thesis`)."""
    reference_points: PositiveInt = 500
    """Held-out rows at which convergence is judged."""

    @field_validator("split", mode="before")
    @classmethod
    def _named_split(cls, split: Any) -> Any:
        if isinstance(split, str) and split not in SPLIT_PRESETS:
            raise ValueError(f"unknown split {split!r}; known: {sorted(SPLIT_PRESETS)}")
        return SPLIT_PRESETS[split] if isinstance(split, str) else split


class Network(Frozen):
    """A dense multilayer perceptron with one linear output."""

    hidden: tuple[PositiveInt, ...]
    """Units of each hidden layer; empty for a linear model."""
    activation: Literal["tanh", "relu", "sigmoid", "swish"] = "tanh"
    """Activation of every hidden layer."""


class FanInPrior(Frozen):
    """Weights N(0, scale^2 / fan_in), hidden biases N(0, scale^2), output bias N(0, 1).

    Sampled whitened, in units of the prior sd.
    """

    kind: Literal["fan_in"]
    scale: Positive = 1.0
    """Factor s of all sds except that of the output bias."""


class GaussianPrior(Frozen):
    """All weights and biases N(0, 1 / precision)."""

    kind: Literal["gaussian"]
    precision: Positive = 1.0
    """Inverse variance of every weight and bias."""
    whitened: bool = True
    """Sample the weights in units of their prior sd."""


Prior = Annotated[FanInPrior | GaussianPrior, Field(discriminator="kind")]


class ToleranceLikelihood(Frozen):
    """Gaussian with a fixed sigma: a declared tolerance for noise-free targets."""

    kind: Literal["tolerance"]
    sigma: Positive
    """In the units of the network's target (its sd on train rows if standardised)."""


class LearnedNoiseLikelihood(Frozen):
    """Gaussian with a learned sigma, half-normal; on noise-free targets chains rarely mix."""

    kind: Literal["learned_noise"]
    scale: Positive = 1.0
    """Scale of the half-normal prior of sigma, in the units of the network's target."""


Likelihood = Annotated[ToleranceLikelihood | LearnedNoiseLikelihood, Field(discriminator="kind")]


class Pretraining(Frozen):
    """Minibatch Adam from a prior draw to one MAP per chain."""

    epochs: PositiveInt = 1000
    """Passes through the train rows."""
    batch: PositiveInt = 100
    """Rows per minibatch."""
    learning_rate: Positive = 0.01
    """Peak of the cosine schedule."""
    patience: PositiveInt | None = None
    """Epochs without a better validation error before stopping; null never stops early."""
    start: Literal["prior", "standard_normal"] = "prior"
    """Distribution of the independent starting points."""


class HMCKernel(Frozen):
    """Hamiltonian Monte Carlo with a fixed number of leapfrog steps."""

    kind: Literal["hmc"]
    integration_steps: PositiveInt = 256
    """Leapfrog steps per draw."""
    jitter: Annotated[float, Field(ge=0, lt=1)] = 0.2
    """The number of steps is uniform within this share around `integration_steps`."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""


class NUTSKernel(Frozen):
    """The no-U-turn sampler (iterative, multinomial)."""

    kind: Literal["nuts"]
    max_depth: Annotated[int, Field(ge=1, le=20)] = 9
    """Largest number of doublings: at most 2^max_depth - 1 leapfrog steps."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""


Kernel = Annotated[HMCKernel | NUTSKernel, Field(discriminator="kind")]


class Warmup(Frozen):
    """Adaptation of step size (dual averaging) and mass matrix, frozen before the first draw."""

    steps: PositiveInt = 400
    """Draws before sampling; they are not kept, their stats are."""
    adaptation_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the steps that adapt; the rest is burn-in with everything frozen."""
    mass_matrix: Literal["diagonal", "identity"] = "diagonal"
    """Learn a diagonal mass matrix in windows, or keep the identity."""
    target_acceptance: Fraction = 0.7
    """Mean acceptance that dual averaging aims at; it ends above it."""
    initial_step_size: Positive = 1e-3
    """Where dual averaging starts; small is safe."""


class Sampler(Frozen):
    """How the posterior is sampled."""

    kernel: Kernel
    """Kernel and its settings."""
    warmup: Warmup = Warmup()
    """Adaptation before sampling."""
    chains: int = 4
    """At least two: convergence cannot be shown with one."""
    segments: PositiveInt = 1
    """Jobs in a row per chain; raising it extends a finished run."""
    draws_per_segment: PositiveInt
    """Draws of one job."""
    keep_every: PositiveInt = 8
    """Weights of every n-th draw are stored; diagnostics use every draw."""

    @field_validator("chains")
    @classmethod
    def _more_than_one(cls, chains: int) -> int:
        if chains < 2:
            raise ValueError(
                f"got {chains}, must be at least 2: one chain cannot show convergence; use 4"
            )
        return chains

    @model_validator(mode="after")
    def _keeps_whole_draws(self) -> Sampler:
        if self.draws_per_segment % self.keep_every:
            raise ValueError(
                f"draws_per_segment ({self.draws_per_segment}) must be a multiple of "
                f"keep_every ({self.keep_every})"
            )
        return self


class Thresholds(Frozen):
    """When convergence is called shown; each is recorded with its value and verdict."""

    rhat_f_median: Positive = 1.01
    """Largest median over reference points of the R-hat of f."""
    rhat_f_p99: Positive = 1.05
    """Largest 99th percentile of it."""
    ess_f_bulk_min: Positive = 100.0
    """Smallest bulk effective sample size of f at any reference point."""
    ebfmi_min: Positive = 0.3
    """Smallest E-BFMI of any chain."""
    max_divergences: Annotated[int, Field(ge=0)] = 0
    """Most divergent draws of all chains."""


class Evaluation(Frozen):
    """How a posterior is judged; never resamples."""

    thresholds: Thresholds = Thresholds()
    """Limits of the convergence checks."""
    noise: Literal["gaussian", "student_t"] = "gaussian"
    """Family of the predictive noise fitted on validation rows.

    `student_t` (4 degrees of freedom) is sharper in the centre, `gaussian` covers the tails.
    """


class Grid(Frozen):
    """Preset names to cross into runs."""

    dataset: Names
    """Names of dataset presets; one name may stand alone."""
    network: Names
    """Names of network presets; one name may stand alone."""
    prior: Names
    """Names of prior presets; one name may stand alone."""
    likelihood: Names
    """Names of likelihood presets; one name may stand alone."""
    pretraining: Names
    """Names of pretraining presets; one name may stand alone."""
    sampler: Names
    """Names of sampler presets; one name may stand alone."""
    evaluation: str = "default"
    """Name of the evaluation preset of all its runs."""
    seed: Seeds | None = None
    """Seeds of the runs; the study's `seeds` where not given."""

    @field_validator(
        "dataset", "network", "prior", "likelihood", "pretraining", "sampler", "seed", mode="before"
    )
    @classmethod
    def _one_is_many(cls, names: Any) -> Any:
        return [names] if isinstance(names, str | int) else names
