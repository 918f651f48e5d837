"""One run: all its presets and settings, and the paths of its results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from nlobayes.likelihoods import Likelihood
from nlobayes.methods import Method
from nlobayes.methods.mcmc import MCMC
from nlobayes.priors import Prior
from nlobayes.settings.values import Frozen, Seed
from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.network import Network
from nlobayes.study.presets import Evaluation, Execution
from nlobayes.study.pretraining import Pretraining

CROSSED = ("dataset", "network", "prior", "likelihood", "pretraining", "method")
"""Kinds of presets that grids cross, in the order of the path of a run."""


class RunSpec(Frozen):
    """All presets and settings of one run."""

    names: dict[str, str]
    dataset: DatasetPreset
    network: Network
    prior: Prior
    likelihood: Likelihood
    pretraining: Pretraining
    method: Method
    evaluation: Evaluation
    seed: Seed
    precision: Literal["float32", "float64"]
    execution: Execution

    @cached_property
    def run_id(self) -> str:
        """Path of the run: its preset names and its seed."""
        return "/".join([*(self.names[kind] for kind in CROSSED), f"s{self.seed}"])

    @cached_property
    def model_id(self) -> str:
        """Path of the sampled model, shared by all samplers: the run without its sampler."""
        return "/".join([*(self.names[kind] for kind in CROSSED[:-1]), f"s{self.seed}"])

    @cached_property
    def starts(self) -> Sequence[int]:
        """Number of the MAP that each chain, or each member of an ensemble, starts from."""
        return self.method.starts

    @cached_property
    def chain_groups(self) -> list[list[int]]:
        """Numbers of the chains of each job; none for methods without chains."""
        return self.method.chain_groups(self.execution.chains_per_job)

    @property
    def mcmc(self) -> MCMC | None:
        """Method if it is one of chains, else None."""
        return self.method if isinstance(self.method, MCMC) else None
