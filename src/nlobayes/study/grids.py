"""Grids, the runs that they cross, and how runs are executed.

All defaults are here; unknown keys are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import field_validator

from nlobayes.likelihoods import Likelihood
from nlobayes.methods import Method
from nlobayes.methods.mcmc import MCMC
from nlobayes.priors import Prior
from nlobayes.settings.values import Frozen, Names, NamesOrNone, PositiveInt, Seed, Seeds
from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.evaluation import Evaluation
from nlobayes.study.network import Network
from nlobayes.study.pretraining import Pretraining


class Execution(Frozen):
    """Device of the densities, and how chains share jobs; belongs in the profile of a machine."""

    device: Literal["cpu", "gpu"] = "cpu"
    """Kind of device; a job stops where it is missing."""
    pretraining_device: Literal["cpu", "gpu"] | None = None
    """Kind of device of the MAPs; `device` where not given. Cores are faster for minibatches."""
    chains_per_job: PositiveInt | Literal["all"] = 1
    """Chains that one job computes together, vectorised; `all` puts a run into one job."""
    shards: PositiveInt = 1
    """Devices of one job that share the rows of the train split."""

    def place_of(self, verb: str) -> tuple[Literal["cpu", "gpu"], int]:
        """Return the device and the shards of a stage; MAPs elsewhere have one shard."""
        if verb == "pretrain" and self.pretraining_device not in (None, self.device):
            return self.pretraining_device, 1
        return self.device, self.shards

    def gpus_of(self, verb: str) -> int:
        """Count the GPUs of a job of a stage that uses one."""
        device, shards = self.place_of(verb)
        return shards if device == "gpu" else 0


CROSSED_OR_SEEDED = (
    *("dataset", "network", "prior", "likelihood", "pretraining", "method", "seed"),
)


class Grid(Frozen):
    """Preset names to cross into runs; a single name needs no list."""

    RENAMED: ClassVar[Mapping[str, str]] = {"sampler": "method"}

    dataset: Names
    """Names of dataset presets."""
    network: Names
    """Names of network presets."""
    prior: Names
    """Names of prior presets."""
    likelihood: Names
    """Names of likelihood presets."""
    pretraining: Names
    """Names of pretraining presets."""
    method: Names
    """Names of method presets."""
    evaluation: str = "default"
    """Name of the evaluation preset of all its runs."""
    seed: Seeds | None = None
    """Seeds of the runs; the study's `seeds` where not given."""
    outputs: Literal["figures", "surrogates", "metrics", "speed", "prior"] = "figures"
    """Final outputs: figures, scores and surrogates; scores and surrogates; scores; timings of
    untrained networks; or prior draws before any data."""
    rivals: NamesOrNone = ()
    """Names of rival presets, scored beside every run. They need one target that is a number."""

    @field_validator(*CROSSED_OR_SEEDED, "rivals", mode="before")
    @classmethod
    def _one_is_many(cls, names: Any) -> Any:
        return [names] if isinstance(names, str | int) else names


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
