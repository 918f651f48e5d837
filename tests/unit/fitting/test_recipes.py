"""The recipe of a run follows the table, and its presets fill what is not chosen."""

from typing import Any

import numpy as np
import pytest

from nlobayes.fitting.studies import Choices, attempts, configure, plan_of
from nlobayes.fitting.table_settings import dataset_of
from nlobayes.likelihoods.gaussian import GaussianLikelihood
from nlobayes.study.grids import RunSpec
from nlobayes.types import Table
from tests.refusals import refused

RNG = np.random.default_rng(2)
A, B = RNG.uniform(size=(2, 90))
SMOOTH = np.exp(2 * A - B)
SMOOTH_TABLE = Table({"a": A, "b": B, "y": SMOOTH}, {}, {})
READ = dataset_of(SMOOTH_TABLE, "t.csv", "y")


FREE = {"hidden": "auto"}
"""A network whose units are those of the recipe."""


def run_of(**choices: Any) -> RunSpec:
    chosen = {"network": FREE, "train_rows": 63, **choices}
    return plan_of(configure("t", READ.dataset, Choices(**chosen)))[1]


@pytest.mark.parametrize(
    "chosen",
    [
        {"prior": "fan_in"},
        {"likelihood": "learned"},
        {"pretraining": "adam"},
        {"method": "nuts"},
        {"precision": "float32"},
        {"network": {"hidden": [32]}},
        {"network": "n20x2"},
        {"network": {"hidden": []}},
        {"network": {"hidden": "auto", "output": "sampled"}},
        {"network": {"hidden": "auto", "activation": "relu"}},
    ],
)
def test_a_choice_of_the_user_leaves_the_plain_recipe(chosen: dict[str, Any]) -> None:
    choices = Choices(**{"network": FREE, **chosen})
    assert attempts(choices, inputs=2) == [choices._replace(recipe="plain")]


@pytest.mark.parametrize(
    ("rows", "inputs", "first"),
    [
        (None, 3, ["cosines", "wide"]),
        (2000, 3, ["cosines", "wide"]),
        (2000, 4, ["wide"]),
        (2001, 3, []),
    ],
)
def test_smooth_and_plain_follow_infinite_width_of_up_to_2000_rows(
    rows: int | None, inputs: int, first: list[str]
) -> None:
    tried = attempts(Choices(FREE, train_rows=rows), inputs)
    assert [run.recipe for run in tried] == [*first, "smooth", "plain"]


def test_the_presets_of_the_wide_recipe() -> None:
    """Its surrogate is conditioned on all rows, which that of no other recipe can be."""
    run = run_of(recipe="wide")
    assert run.run_id == "t/own/scales/learned_log/mode/emulated_hmc/s1"
    assert (run.network.hidden, run.network.width) == ((), "infinite")
    assert (run.network.activation, run.precision) == ("erf", "float64")
    assert (run.evaluation.export.rows, run_of().evaluation.export.rows) == ("all", "train")
    cosines = run_of(recipe="cosines")
    assert cosines.run_id == "t/own/scales_cosines/learned_exact/mode/emulated_hmc_cosines/s1"
    assert cosines.network == run.network
    rectified = run_of(recipe="wide", network={"hidden": "auto", "activation": "relu"})
    assert rectified.network.activation == "relu"
    with refused("study.refused", faults=["study.infinite_with_others"]):
        run_of(recipe="wide", network={"hidden": [9]})


def test_the_presets_of_the_smooth_recipe() -> None:
    run = run_of(recipe="smooth")
    assert run.run_id == "t/own/random_features/own/scales/hmc_scales/s1"
    assert (run.network.hidden, run.network.output) == ((128,), "marginalised")
    assert run.precision == "float64"
    assert isinstance(run.likelihood, GaussianLikelihood)
    assert (run.likelihood.sigma, run.likelihood.floor) == (None, 0.002)


def test_a_chosen_preset_replaces_that_of_a_chosen_recipe() -> None:
    run = run_of(recipe="smooth", prior="layer_scales", likelihood="tolerance_5")
    assert run.run_id == "t/own/layer_scales/tolerance_5/scales/hmc_scales/s1"
    assert run.network.output == "marginalised"
    assert run_of(recipe="smooth", network={"hidden": [9]}).network.hidden == (9,)
    with refused("study.refused", faults=["study.marginalised_precision"]):
        run_of(recipe="smooth", precision="float32")


def test_an_unknown_recipe_is_refused() -> None:
    known = ["auto", "cosines", "wide", "smooth", "plain"]
    with refused("fitting.unknown_recipe", name="rough", known=known):
        run_of(recipe="rough")
