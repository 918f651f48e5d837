"""The content of `diagnostics.json`: its keys, their types and their meaning.

"f" is the network output at the held-out reference points. None marks a number that does not exist
or is not finite.
"""

from typing import Any, NotRequired, TypedDict

from nlobayes.checks import ConvergenceCheck


class Verdict(TypedDict):
    """The verdict."""

    converged: bool | None
    """Whether all checks passed; null for draws that are no chains, whose other numbers of chains
    are null too."""
    checks: dict[str, ConvergenceCheck]
    """By name: `value`, `threshold`, `passed`."""
    exact: bool
    """Whether the sampler leaves the posterior invariant."""


class Agreement(TypedDict):
    """R-hat and effective draws that are checked."""

    rhat_f: float | None
    """R-hat of f, the largest over the points."""
    rhat_log_density: float | None
    """R-hat of the log density."""
    rhat_noise: float | None
    """R-hat of the noise, where it is learned."""
    rhat_hyperparameters: float | None
    """The largest R-hat of what prior and likelihood learn, such as the scale of each input; of the
    stored draws."""
    ess_f: float | None
    """Effective sample size of f of all chains, in the bulk or in the tails: the smallest."""
    ess_log_density: float | None
    """The same of the log density."""
    ess_noise: float | None
    """The same of the noise."""
    ess_hyperparameters: float | None
    """The same of what prior and likelihood learn."""


class FunctionNumbers(TypedDict):
    """Other numbers of f."""

    rhat_f_median: float | None
    """The median R-hat over the points."""
    rhat_f_share_below_1_01: float | None
    """The share of points whose R-hat is below 1.01."""
    rhat_f_gelman_rubin_p99: float | None
    """The version of R-hat of 1998, its 99th percentile."""
    ess_f_bulk_median: float | None
    """Effective sample size in the bulk, the median over the points."""
    ess_f_bulk_min: float | None
    """The smallest in the bulk."""
    ess_f_tail_min: float | None
    """The smallest in the tails."""
    mcse_f_mean_over_sd_max: float | None
    """The largest Monte-Carlo error of the mean, in posterior sd."""
    mcse_f_q2_5_over_sd_max: float | None
    """The same of the 2.5 % quantile."""
    mcse_f_q97_5_over_sd_max: float | None
    """The same of the 97.5 % quantile."""
    ess_pooled_over_within: float | None
    """Effective draws of all chains together over the sum of those of each: near 1 for one region,
    near 0 for different modes."""
    between_chain_variance_share: float | None
    """Share of the variance between the chain means."""
    autocorrelation_time_f_median: float | None
    """In draws."""


class ChainNumbers(TypedDict):
    """Chains and weights."""

    rhat_f_nested_p99: float | None
    """Nested R-hat of f of groups of chains that share a start, its 99th percentile."""
    rhat_weights_median: float | None
    """R-hat of the weights, for contrast."""
    more_draws: float | None
    """How many times as many draws are needed, if the chains are
    [only too short](statistics.md#what-converged-chains-show); null if they pass or disagree."""
    log_density_spread_over_sd: float | None
    """Largest minus smallest chain mean of the log density, in sd within chains."""


class SamplerNumbers(TypedDict):
    """The sampler."""

    divergences: int | None
    """Number of divergent transitions."""
    acceptance_rate: float | None
    """The mean over the draws."""
    max_depth_share: float | None
    """Share of trees that end at the largest depth; of kernels with trees."""
    ebfmi_min: float | None
    """The smallest E-BFMI; of kernels with an energy."""
    energy_variance: float | None
    """Of unadjusted kernels."""
    gradients_total: int | None
    """Gradients that were computed, warm-up included."""
    gradients_per_draw: float | None
    """The same without the warm-up."""


class DivergencesAt(TypedDict):
    """Where divergent draws are."""

    reference_point: int
    """The reference point at which f of these draws is furthest from its mean."""
    deviation: float
    """That distance in sd."""


class WeightSpread(TypedDict):
    """`weight_spread`: 100 evenly spaced quantiles of the weights."""

    weight: list[float]
    """Of all weights in all draws."""
    sd: list[float]
    """Of the sd of each weight over the draws."""


class StillChains(TypedDict):
    """Where chains fail."""

    still_chains: int | None
    """Number of chains that stay at one point for half of their draws."""
    divergences_at: DivergencesAt | None
    """The reference point at which f of divergent draws is furthest from its mean, and that
    distance in sd."""
    still_chains_at: list[int] | None
    """The chains that stand still, from 0."""


class OfChains(Agreement, FunctionNumbers, ChainNumbers, SamplerNumbers, StillChains):
    """Keys that exist for chains only; null for other draws."""


class Run(TypedDict):
    """The run."""

    thinning_step: int
    """Of draws, every so many is one of nearly independent draws."""
    tightness: float | None
    """tau = train rows / sigma² ([the two noises](statistics.md#the-two-noises))."""
    chains: int
    """Number of chains."""
    draws_per_chain: int
    """Draws of each chain, stored or not."""
    weight_spread: NotRequired[WeightSpread | None]
    """Quantiles of the weights; null where the size of the network is drawn."""
    log_evidence: NotRequired[list[float]]
    """Of each MAP, in nats; of an approximation that knows it."""
    architecture: NotRequired[dict[str, Any]]
    """Where the size of the network is drawn. `width_1` ..., `depth`: the posterior of this number:
    lists `number`, `probability`, `mcse`, `acceptance_within` (of the moves that change no size);
    `mode`, `low_90`, `high_90`, `rhat`, `ess_bulk`; `visits` with lists `from`, `to`, `visits`
    (jumps that led there, to the same number where they were rejected), `tried`, `acceptance`.
    `parameters`: of the parameters in use `mode` to `ess_bulk`. `jumps`: the acceptance of each
    kind, and `between_sizes`, the share of draws that change the size."""


class Diagnostics(Verdict, OfChains, Run):
    """The content of `diagnostics.json`."""
