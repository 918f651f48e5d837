"""The recipe of a run follows the table, and its presets fill what is not chosen."""

from typing import Any

import numpy as np
import pytest

from nlobayes.errors import InputError
from nlobayes.fitting.fits import Fitted, fit_in_turn
from nlobayes.fitting.recipes import MOST_UNEXPLAINED, RECIPES, share_left
from nlobayes.fitting.studies import Choices, attempts, configure, plan_of, recipe_for
from nlobayes.fitting.tables import dataset_of
from nlobayes.study.likelihoods.gaussian import GaussianLikelihood
from nlobayes.study.run import RunSpec
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
    ("share", "recipe"), [(None, "plain"), (0.0, "smooth"), (0.15, "smooth"), (0.151, "plain")]
)
def test_the_recipe_follows_what_polynomials_leave(share: float | None, recipe: str) -> None:
    assert recipe_for(Choices(FREE, share_left=share)) == recipe
    other = "smooth" if recipe == "plain" else "plain"
    assert recipe_for(Choices(FREE, recipe=other, share_left=share)) == other


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
    ],
)
def test_a_choice_of_the_user_leaves_the_plain_recipe(chosen: dict[str, Any]) -> None:
    choices = Choices(**{"network": FREE, "share_left": 0.0, **chosen})
    assert recipe_for(choices) == "plain"


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"share_left": 0.01}, ["smooth", "plain"]),
        ({"share_left": 0.01, "recipe": "smooth"}, ["smooth"]),
        ({"share_left": 0.01, "recipe": "plain"}, ["plain"]),
        ({"share_left": 0.5}, ["plain", "smooth"]),
        ({"share_left": None}, ["plain"]),
        ({"share_left": 0.5, "prior": "fan_in"}, ["plain"]),
    ],
)
def test_the_other_recipe_follows_where_nothing_is_chosen(
    chosen: dict[str, Any], expected: list[str]
) -> None:
    runs = attempts(Choices(FREE, **chosen))
    assert [run.recipe for run in runs] == expected
    for run in runs:
        assert run == Choices(FREE, **{**chosen, "recipe": run.recipe})


@pytest.mark.parametrize(
    ("converged", "rhat", "taken"),
    [
        ([True, True], [1.04, 1.01], 0),
        ([None, True], [None, 1.01], 0),
        ([False, True], [1.01, 1.04], 1),
        ([False, False], [1.06, 1.2], 0),
        ([False, False], [1.3, 1.2], 1),
        ([False, False], [None, 1.2], 1),
    ],
)
def test_the_first_that_converges_is_kept_and_else_the_best(
    converged: list[bool | None], rhat: list[float | None], taken: int
) -> None:
    found = [
        {"converged": one, "rhat_f_p99": two} for one, two in zip(converged, rhat, strict=True)
    ]
    fits = [Fitted(run_of(), one, {}, {}, []) for one in found]
    assert fit_in_turn([0, 1], fits.__getitem__) == (taken, fits[taken])


def test_an_attempt_whose_map_has_no_density_is_skipped() -> None:
    """If all are such, and for any other reason, the error remains."""
    kept = Fitted(run_of(), {"converged": False, "rhat_f_p99": 1.2}, {}, {}, [])

    def attempt(code: str, last: Fitted | None) -> tuple[int, Fitted]:
        def run(number: int) -> Fitted:
            if number == 0 or last is None:
                raise InputError(code)
            return last

        return fit_in_turn([0, 1], run)

    assert attempt("builder.no_density", kept) == (1, kept)
    for code, last in (("builder.no_density", None), ("data.no_column", kept)):
        with pytest.raises(InputError) as error:
            attempt(code, last)
        assert error.value.code == code


def test_the_presets_of_the_smooth_recipe() -> None:
    run = run_of(share_left=0.01)
    assert run.run_id == "t/own/random_features/own/scales/hmc_scales/s1"
    assert (run.network.hidden, run.network.output) == ((128,), "marginalised")
    assert run.precision == "float64"
    assert isinstance(run.likelihood, GaussianLikelihood)
    assert (run.likelihood.sigma, run.likelihood.floor) == (None, 0.002)


def test_the_presets_of_the_plain_recipe() -> None:
    run = run_of(share_left=0.5)
    assert run.run_id == "t/own/fan_in/own/own/hmc_table/s1"  # the batch has all rows
    assert (run.network.hidden, run.network.output) == ((32,), "sampled")
    assert run.precision == "float32"


def test_a_chosen_preset_replaces_that_of_a_chosen_recipe() -> None:
    run = run_of(recipe="smooth", prior="layer_scales", likelihood="tolerance_5")
    assert run.run_id == "t/own/layer_scales/tolerance_5/scales/hmc_scales/s1"
    assert run.network.output == "marginalised"
    assert run_of(recipe="smooth", network={"hidden": [9]}).network.hidden == (9,)
    with refused("study.refused", faults=["study.marginalised_precision"]):
        run_of(recipe="smooth", precision="float32")


def test_an_unknown_recipe_is_refused() -> None:
    with refused("fitting.unknown_recipe", name="rough", known=["auto", "plain", "smooth"]):
        run_of(recipe="rough")


@pytest.mark.parametrize(
    ("rows", "floor"), [(20, 0.002), (560, 0.003), (5000, 0.009), (10**6, 0.1)]
)
def test_few_rows_allow_a_smaller_sigma(rows: int, floor: float) -> None:
    assert RECIPES["smooth"].floor_of(rows, 0.1) == floor


def test_the_share_is_that_of_the_scale_that_is_learned() -> None:
    """The logarithm of the target is linear, the target itself is not."""
    assert READ.dataset["target"]["scale"] == "log10"
    left = share_left(READ.dataset, SMOOTH_TABLE)
    assert left is not None
    assert left < 1e-9
    itself = dataset_of(SMOOTH_TABLE, "t.csv", "y", scale="identity")
    more = share_left(itself.dataset, SMOOTH_TABLE)
    assert more is not None
    assert 1e-3 < more < MOST_UNEXPLAINED


@pytest.mark.parametrize(("name", "low", "high"), [("raw", 1e-4, 1), ("invariants", 0, 1e-9)])
def test_the_share_is_that_of_the_mapped_features(name: str, low: float, high: float) -> None:
    """The target is linear in the invariants ln m and N11^2."""
    m, n11 = RNG.uniform(100, 900, 200), RNG.uniform(-1, 1, 200)
    columns = {"m1": m, "n11": n11, "n12": np.sqrt(1 - n11**2), "n13": 0 * m, "n14": 0 * m}
    table = Table({**columns, "y": np.log(m) + n11**2}, {"m1": "GeV"}, {})
    target = {"column": "y", "scale": "identity"}
    left = share_left({"features": {"columns": [*columns], "map": name}, "target": target}, table)
    assert left is not None
    assert low < left < high


@pytest.mark.parametrize(
    ("settings", "columns"),
    [
        ({"target": {"column": "y", "scale": "classes"}}, {}),
        ({"target": {"column": "z", "scale": "identity"}}, {}),
        ({"features": {"columns": ["zz"], "map": "raw"}}, {}),
        ({"features": {"columns": ["a"], "map": "invariants"}}, {}),
        ({}, {"a": np.array(["x"] * 90, dtype=object)}),
    ],
)
def test_what_the_dataset_refuses_has_no_share(
    settings: dict[str, Any], columns: dict[str, np.ndarray]
) -> None:
    table = Table({**SMOOTH_TABLE.columns, **columns}, {}, {})
    assert share_left({**READ.dataset, **settings}, table) is None


def test_targets_without_a_logarithm_are_not_smooth() -> None:
    table = Table({**SMOOTH_TABLE.columns, "y": SMOOTH - SMOOTH.min()}, {}, {})
    assert share_left(READ.dataset, table) == 1.0
