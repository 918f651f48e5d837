"""Sensitivity of predictions to prior and likelihood, compared with a linear model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.special import rel_entr
from scipy.stats import norm

from nlobayes.commands.tools.sensitivity import SENSITIVE, sensitivity
from nlobayes.data.splits import TEST
from nlobayes.types import Dataset
from tests.unit.commands import linear

CHAINS, DRAWS, POWER = 4, 5000, 1.01
COMPONENTS = ("prior", "likelihood")
STRONG = {"scale": 0.3, "sigma": 0.8}
"""Scale of a prior that the data contradict."""
MODEL = {
    **linear.MODEL,
    "prior": {"kind": "fan_in", "scale": STRONG["scale"]},
    "likelihood": {"kind": "gaussian", "sigma": STRONG["sigma"]},
}
ALLOWED = 0.06
"""In units of the sd of f: the standard error of a derivative from 20000 draws is 0.01."""
PRINTED = re.compile(
    r"(\w+): ([\d.]+)% of the test rows are sensitive \(distance above 0.05\); doubling its power "
    r"moves the median row by ([\d.]+) epistemic sd; Pareto k (-?[\d.]+)"
)


class Result(NamedTuple):
    """The written table and the printed lines of the command."""

    table: pd.DataFrame
    lines: list[str]


@pytest.fixture(scope="module")
def drawn(dataset: Dataset) -> np.ndarray:
    """20000 independent draws of the posterior."""
    return linear.posterior(dataset, **STRONG).draw(CHAINS * DRAWS, seed=2)


@pytest.fixture(scope="module")
def thinned(dataset: Dataset, drawn: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """These draws in a file, as four chains."""
    path = tmp_path_factory.mktemp("sensitivity") / "thinned.nc"
    return linear.write_thinned(path, dataset, drawn.reshape(CHAINS, DRAWS, -1), MODEL)


@pytest.fixture
def result(
    thinned: Path, dataset_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Result:
    sensitivity(thinned, dataset_path, tmp_path / "table.csv")
    return Result(pd.read_csv(tmp_path / "table.csv"), capsys.readouterr().out.splitlines())


def at_power(dataset: Dataset, component: str, power: float) -> tuple[np.ndarray, np.ndarray]:
    """Give mean and sd of f at the test rows with one component raised to a power."""
    powered = {f"{component}_power": power}
    mean, sd = linear.posterior(dataset, **STRONG, **powered).of_f(dataset)
    return mean[dataset.split == TEST], sd[dataset.split == TEST]


Moments = tuple[float, float]


def distance(one: Moments, other: Moments, f: np.ndarray) -> float:
    """Give the cumulative Jensen-Shannon distance of two Gaussians where there are draws."""
    grid, found = np.linspace(f.min(), f.max(), 4001), []
    for law in (norm.cdf, norm.sf):
        p, q = law(grid, *one), law(grid, *other)
        middle = (p + q) / 2
        divergence = (rel_entr(p, middle) + rel_entr(q, middle)).sum() / np.log(2)
        found.append(divergence / (p + q).sum())
    return float(np.sqrt(max(found)))


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_table_has_the_derivatives_of_the_closed_form(
    result: Result, dataset: Dataset, drawn: np.ndarray, component: str
) -> None:
    """The derivative is with respect to the power's logarithm to base 2."""
    powers = (1.0, 1 / POWER, POWER)
    here, lower, upper = (at_power(dataset, component, power) for power in powers)
    doublings, sd = 2 * np.log2(POWER), here[1]
    for place, name in enumerate(("mean", "sd")):
        expected = (upper[place] - lower[place]) / doublings / sd
        found = result.table[f"{component}_{name}"] / sd
        np.testing.assert_allclose(found, expected, rtol=0, atol=ALLOWED)
        assert np.abs(expected).max() > 2 * ALLOWED
    apart = [
        distance(h, a, f) + distance(h, b, f)
        for h, a, b, f in zip(
            *(zip(*moments, strict=True) for moments in (here, lower, upper)),
            linear.f_of(drawn, dataset)[:, dataset.split == TEST].T,
            strict=True,
        )
    ]
    found = result.table[f"{component}_distance"]
    np.testing.assert_allclose(found, np.array(apart) / doublings, rtol=0.15)


def test_what_is_printed_sums_up_the_table(result: Result, dataset: Dataset) -> None:
    sd = linear.posterior(dataset, **STRONG).of_f(dataset)[1][dataset.split == TEST]
    *lines, last = result.lines
    assert "no fault: what counts is how far the median row moves" in last
    for component, line in zip(COMPONENTS, lines, strict=True):
        match = PRINTED.fullmatch(line)
        assert match
        assert match[1] == component
        share = 100 * np.mean(result.table[f"{component}_distance"] > SENSITIVE)
        assert float(match[2]) == pytest.approx(share, abs=0.051)
        moved = np.median(np.abs(result.table[f"{component}_mean"]) / sd)
        assert float(match[3]) == pytest.approx(moved, rel=0.03, abs=0.006)
        assert float(match[4]) < 0.7
