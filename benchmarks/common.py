"""What the benchmarks share: the embedded data, processes of their own, tables, slopes.

Nothing here imports JAX: what is measured runs in a fresh process (`isolated`), in which precision
and device are fixed first, as in every job of the workflow, and whose peak of memory is its own.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from math import prod
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import ValidationError

from nlobayes import runtime
from nlobayes.data.dataset_of_table import Choices, make_dataset
from nlobayes.data.selection import Request, select
from nlobayes.data.simulators.simulate import Settings, scan_table
from nlobayes.data.splits import Split
from nlobayes.diagnostics.convergence import ess_bulk, rhat
from nlobayes.kernels import KERNELS
from nlobayes.likelihoods.gaussian import GaussianLikelihood
from nlobayes.methods.mcmc import MCMC
from nlobayes.priors.independent import FanInPrior
from nlobayes.study.jobs import ModelJob
from nlobayes.study.network import Network
from nlobayes.types import Dataset, Table

FEATURES = ("m1", "n11", "n12", "n13", "n14")
HELD_OUT = 500
"""Validation rows, test rows and reference points each."""
SEED = 20240101
FEWEST_DRAWS = 4

Row = dict[str, Any]


class Case(NamedTuple):
    """Sizes of all layers of a network, and its train rows."""

    sizes: tuple[int, ...]
    rows: int

    def __str__(self) -> str:
        """Write the case as it is read."""
        return f"{'-'.join(map(str, self.sizes))}@{self.rows}"

    @property
    def hidden(self) -> tuple[int, ...]:
        """Units of the hidden layers."""
        return self.sizes[1:-1]

    @property
    def parameters(self) -> int:
        """Number of weights and biases."""
        pairs = zip(self.sizes[:-1], self.sizes[1:], strict=True)
        return sum((fan_in + 1) * fan_out for fan_in, fan_out in pairs)


class Cell(NamedTuple):
    """One sampler on one posterior from given starts (chain, parameter), and its CPU seconds."""

    dataset: Dataset
    job: ModelJob
    sampler: MCMC
    start: np.ndarray
    seconds: float
    seed: int


class Outcome(NamedTuple):
    """What one cell gave; seconds are CPU seconds of all chains, without compilation."""

    warmup_steps: int
    draws: int
    warmup_seconds: float
    seconds: float
    warmup_gradients: int
    gradients: int
    fastest_gradient: float
    ess: float
    rhat: float
    acceptance: float
    divergences: int
    exact: bool
    peak_mib: float


def parse_case(text: str) -> Case:
    """Read sizes and train rows, as in `5-20-20-1@12000`; rows are 12 000 where not given."""
    sizes, _, rows = text.partition("@")
    try:
        case = Case(tuple(map(int, sizes.split("-"))), int(rows or 12_000))
    except ValueError:
        case = Case((), 0)
    if len(case.sizes) < 2 or case.sizes[0] != len(FEATURES) or case.sizes[-1] != 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no case; give all layers from 5 to 1 and the rows: 5-20-20-1@12000"
        )
    if case.rows < 1 or prod(case.sizes) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: sizes and rows must be positive")
    return case


def parse_sampler(text: str) -> MCMC:
    """Read a sampler: the name of a kernel, or a preset as JSON."""
    given = json.loads(text) if text.startswith("{") else {"kernel": {"kind": text}}
    kernel = KERNELS.get(str(given.get("kernel", {}).get("kind")))
    chains = max(4, kernel.fewest_chains if kernel else 4)
    try:
        return MCMC.model_validate({"draws_per_segment": 8, "chains": chains, **given})
    except ValidationError as error:
        lines = "; ".join(problem["msg"] for problem in error.errors())
        known = ", ".join(KERNELS)
        raise argparse.ArgumentTypeError(f"{text!r}: {lines}; kernels: {known}") from None


def simulate_rows(rows: int) -> Table:
    """Simulate enough points for this many train rows."""
    settings = Settings(sqrt_s_tev=13.0, squark_mass_gev=3000.0)
    return scan_table(SEED, rows + 2 * HELD_OUT, settings)


def make_embedded(
    table: Table,
    rows: int,
    feature_map: str = "invariants",
    relative_to: Mapping[str, Any] | None = None,
) -> Dataset:
    """Make the dataset of the embedded study with this many train rows of a simulated table."""
    columns = {name: values[: rows + 2 * HELD_OUT] for name, values in table.columns.items()}
    units = {name: table.units[name] for name in ("m1", "sigma_pb")}
    request = Request(FEATURES, ["sigma_pb"], units)
    selection = select(table._replace(columns=columns), request, "simulated")
    choices = Choices(
        feature_map=feature_map,
        standardise_features=True,
        target_scale="log10",
        standardise_target=True,
        split=Split(rows, HELD_OUT, HELD_OUT, shuffle=True, seed=0),
        reference_points=HELD_OUT,
        relative_to=relative_to,
    )
    return make_dataset(selection, FEATURES, ("sigma_pb",), choices)


def model_job(case: Case, sigma: float, device: Literal["cpu", "gpu"] = "cpu") -> ModelJob:
    """State the posterior of a case: tanh, fan-in prior, fixed tolerance, float32."""
    return ModelJob(
        network=Network(hidden=case.hidden),
        prior=FanInPrior(kind="fan_in"),
        likelihood=GaussianLikelihood(kind="gaussian", sigma=sigma),
        precision="float32",
        device=device,
    )


def judge(function: np.ndarray) -> tuple[float, float]:
    """Give the medians of the bulk ESS and the R-hat of f (chain, draw, point); NaN if too few."""
    if function.shape[1] < FEWEST_DRAWS:
        return np.nan, np.nan
    return float(np.median(ess_bulk(function))), float(np.median(rhat(function)))


def isolated(call: str, *arguments: Any, device: str = "cpu", precision: str = "float32") -> Any:
    """Call `module:function` in a fresh process, in which the runtime is configured first."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_enter, call, arguments, device, precision).result()


def _enter(call: str, arguments: Sequence[Any], device: str, precision: str) -> Any:
    runtime.configure(precision, device)
    runtime.choose_device(device)
    module, function = call.split(":")
    return getattr(import_module(module), function)(*arguments)


def fit_slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Fit the slope of log y over log x; NaN where fewer than two points are finite."""
    log_x, log_y = np.log(np.asarray(x, float)), np.log(np.asarray(y, float))
    good = np.isfinite(log_x) & np.isfinite(log_y)
    return float(np.polyfit(log_x[good], log_y[good], 1)[0]) if good.sum() > 1 else np.nan


def print_header(names: Sequence[str]) -> None:
    """Print the head of a table whose rows follow one by one."""
    print(" ".join(f"{name:>{_width(name)}}" for name in names))


def print_row(row: Mapping[str, Any], names: Sequence[str]) -> None:
    """Print one row under its head as soon as it is known."""
    print(" ".join(f"{_text(row.get(name, '')):>{_width(name)}}" for name in names), flush=True)


def print_rows(rows: Iterable[Row], names: Sequence[str]) -> list[Row]:
    """Print a table whose rows come one by one, and keep them."""
    print_header(names)
    kept = []
    for row in rows:
        print_row(row, names)
        kept.append(row)
    return kept


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows with the columns of all of them."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


def _width(name: str) -> int:
    return max(8, len(name))


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
