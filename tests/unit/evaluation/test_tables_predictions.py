"""The tables of an evaluation: their columns, their lengths, and which cases they pick."""

import numpy as np
import pytest
from scipy import stats

from nlobayes.evaluation.calibration import calibration
from nlobayes.evaluation.calibration.calibration_checks import check
from nlobayes.evaluation.predictive.predictive_density import predictive_cdf, predictive_moments
from nlobayes.evaluation.scores import of_split as scores
from nlobayes.evaluation.tables import predictions as tables
from nlobayes.types import Columns
from tests.rows import length_of
from tests.unit.evaluation.noises import make_noise

NOISE = make_noise("gaussian", 0.02)
COUNTS = (50, 20, 101)
DRAWS = 30
POINT = [
    "split", "point", "covariate", "distance", "truth", "mean", "posterior_sd", "total_sd",
    "low_68", "high_68", "truth_target", "median_target", "mean_target", "z_epistemic", "z_total",
    "pit", "error_over_scale", "reference",
]  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> tables.Rows:
    """Rows of three splits, mixed, and some of none."""
    rng = np.random.default_rng(3)
    split = rng.permutation(np.repeat([0, 1, 2, -1], [*COUNTS, 9]))
    points = len(split)
    return tables.Rows(
        split=split,
        observed=rng.uniform(-4, 1, points),
        covariate=rng.uniform(50, 1000, points),
        distance=rng.uniform(0, 3, points),
        scale_uncertainty=np.where(rng.random(points) < 0.5, np.nan, 0.1),
    )


@pytest.fixture(scope="module")
def draws(rows: tables.Rows) -> np.ndarray:
    """Predictions (sample, point) whose errors differ from point to point."""
    rng = np.random.default_rng(4)
    centre = rows.observed + rng.normal(0, 0.05, len(rows.observed))
    return centre + rng.normal(0, 0.01, (DRAWS, len(centre)))


@pytest.fixture(scope="module")
def predicted(draws: np.ndarray, rows: tables.Rows) -> Columns:
    return tables.predictions(draws, rows, NOISE, scale="log10")


def test_every_point_of_every_split_is_predicted_once(
    predicted: Columns, rows: tables.Rows, draws: np.ndarray
) -> None:
    assert [*predicted] == POINT
    assert length_of(predicted) == sum(COUNTS)
    for label, (name, count) in enumerate(zip(tables.SPLITS, COUNTS, strict=True)):
        points = predicted["point"][predicted["split"] == name]
        assert len(points) == count
        np.testing.assert_array_equal(points, np.flatnonzero(rows.split == label))
    points = predicted["point"]
    truth, chosen = rows.observed[points], draws[:, points]
    for name, values in (("covariate", rows.covariate), ("distance", rows.distance)):
        np.testing.assert_array_equal(predicted[name], values[points])
    assert rows.scale_uncertainty is not None
    total = np.hypot(chosen.std(axis=0), 0.02)
    residual = truth - chosen.mean(axis=0)
    expected = {
        "truth": truth,
        "mean": chosen.mean(axis=0),
        "posterior_sd": chosen.std(axis=0),
        "total_sd": total,
        "truth_target": 10**truth,
        "median_target": 10 ** np.median(chosen, axis=0),
        "mean_target": (10**chosen).mean(axis=0),
        "z_epistemic": residual / chosen.std(axis=0),
        "z_total": residual / total,
        "pit": stats.norm.cdf((truth - chosen) / 0.02).mean(axis=0),
        "error_over_scale": np.abs(residual) / rows.scale_uncertainty[points],
    }
    for name, values in expected.items():
        np.testing.assert_allclose(predicted[name], values, err_msg=name)


def test_coverage_is_tabulated_for_every_split(
    predicted: Columns, rows: tables.Rows, draws: np.ndarray
) -> None:
    table = tables.coverage(predicted, draws, NOISE)
    assert [*table] == [
        *("split", "k", "own_epistemic", "own_total", "epistemic", "total", "lower", "upper")
    ]
    assert length_of(table) == 150
    assert table["split"].tolist() == [name for name in tables.SPLITS for _ in range(50)]
    np.testing.assert_allclose(table["k"], np.tile(np.linspace(0.1, 5, 50), 3))
    moments = predictive_moments(draws, NOISE)
    distance = np.abs(moments.mean - rows.observed)
    for row in range(0, 150, 7):
        points = rows.split == tables.SPLITS.index(table["split"][row])
        for name, sd in (("total", moments.total_sd), ("epistemic", moments.posterior_sd)):
            within = distance <= table["k"][row] * sd
            assert table[name][row] == pytest.approx(within[points].mean())
        own = calibration.own_coverage(draws[:, points], NOISE, k=table["k"][row : row + 1])
        assert table["own_total"][row] == own.total
        assert table["own_epistemic"][row] == own.epistemic


def test_levels_and_pit_are_tabulated_for_every_split(
    predicted: Columns, rows: tables.Rows, draws: np.ndarray
) -> None:
    levels, pit = tables.levels(predicted), tables.pit(predicted, fitted_to=None)
    assert [*levels] == ["split", "level", "coverage", "lower", "upper"]
    assert [*pit] == ["split", "u", "ecdf", "lower", "upper"]
    assert (length_of(levels), length_of(pit)) == (3 * 99, 3 * 101)
    for label, name in enumerate(tables.SPLITS):
        points = rows.split == label
        values = predictive_cdf(draws[:, points], rows.observed[points], NOISE)
        for table, expected in (
            (levels, calibration.level_table(values, np.arange(1, 100) / 100)),
            (pit, calibration.pit_table(values)),
        ):
            for column, numbers in expected.items():
                np.testing.assert_array_equal(table[column][table["split"] == name], numbers)


def test_rows_of_the_fit_widen_the_band_of_the_test_split_alone(predicted: Columns) -> None:
    alone, both = tables.pit(predicted, fitted_to=None), tables.pit(predicted, fitted_to=20)
    width, wider = (table["upper"] - table["lower"] for table in (alone, both))
    test = alone["split"] == "test"
    assert np.array_equal(width[~test], wider[~test])
    assert (wider[test] >= width[test]).all()
    assert (wider > width).any()


def test_conditional_calibration_is_that_of_the_test_split(
    predicted: Columns, rows: tables.Rows
) -> None:
    table = tables.conditional(predicted)
    intervals = [
        f"{name}{end}"
        for name in ("sigma_z", "coverage_68", "coverage_95")
        for end in ("", "_lower", "_upper")
    ]
    assert [*table] == ["by", "bin", "low", "high", "centre", "points", *intervals]
    assert table["by"].tolist() == ["covariate"] * 5 + ["total_sd"] * 5 + ["distance"] * 5
    assert table["points"].tolist() == [21, 20, 20, 20, 20] * 3
    test = rows.split == 2
    assert table["low"][0] == rows.covariate[test].min()
    assert table["high"][14] == rows.distance[test].max()


def test_checks_are_those_of_the_test_split(predicted: Columns) -> None:
    table = tables.calibration_checks(predicted, fitted_to=20, coverage_tolerance=0.3)
    assert [*table] == ["check", "value", "low", "high", "passed"]
    test = predicted["split"] == "test"
    z_total, pit = predicted["z_total"][test], predicted["pit"][test]
    expected = check(z_total, pit, fitted_to=20, coverage_tolerance=0.3)
    assert table["check"].tolist() == [*expected]
    for name in ("value", "high", "passed"):
        assert table[name].tolist() == [result[name] for result in expected.values()]
    assert np.isnan(table["low"]).tolist() == [False, False, False, True]
    assert table["passed"].dtype == bool


def test_deciles_are_tabulated_for_every_split(draws: np.ndarray, rows: tables.Rows) -> None:
    """Fewer than ten in small splits; the only bin of `val` holds the scores of all its points."""
    student_t = make_noise("student_t", 0.02)
    table = tables.deciles(draws, rows, student_t, np.random.default_rng(5), scale="log10")
    assert table["split"].tolist() == ["train"] * 2 + ["val"] + ["test"] * 5
    assert table["decile"].tolist() == [0, 1, 0, 0, 1, 2, 3, 4]
    assert table["points"].tolist() == [25, 25, 20, 21, 20, 20, 20, 20]
    val = rows.split == 1
    chosen = draws[:, val], rows.observed[val]
    whole = scores.evaluate(*chosen, student_t, np.random.default_rng(6), scale="log10")
    assert [*table] == ["split", "decile", "low", "high", "points", *list(whole)[:-1]]
    for name in ("rmse_log10", "lppd", "coverage_68", "interval_score_95_target", "r2_target_mean"):
        assert table[name][2] == pytest.approx(whole[name])
    assert np.isnan(table["crps_target"]).all()
    assert (table["low"][2], table["high"][2]) == (
        rows.covariate[val].min(),
        rows.covariate[val].max(),
    )


def test_cases_are_a_small_a_typical_and_a_large_pull_of_test(
    rows: tables.Rows, draws: np.ndarray
) -> None:
    """101 test points: 10 pulls are smaller than the good one, 50 and 99 than the others.

    The noise of half of the points is ten times as wide, so that residuals order them otherwise.
    """
    scale = np.where(np.arange(len(rows.split)) % 2, 0.02, 0.2)
    noise = make_noise("gaussian", scale)
    table = tables.cases(draws, rows, noise, np.random.default_rng(0))
    assert [*table] == ["case", "point", "truth", "draw", "mean", "total_sd"]
    assert length_of(table) == 3 * tables.CASE_DRAWS
    test = np.flatnonzero(rows.split == 2)
    sd = np.hypot(draws.std(axis=0), scale)
    pull = np.abs(draws.mean(axis=0) - rows.observed)[test] / sd[test]
    for name, below in (("good", 10), ("typical", 50), ("bad", 99)):
        case = {column: values[table["case"] == name] for column, values in table.items()}
        assert length_of(case) == tables.CASE_DRAWS
        (point,) = set(case["point"].tolist())
        assert int((pull < pull[test == point]).sum()) == below
        assert set(case["truth"].tolist()) == {rows.observed[point]}
        assert case["mean"][0] == pytest.approx(draws[:, point].mean())
        assert case["total_sd"][0] == pytest.approx(sd[point])


def test_cases_are_the_chosen_points(rows: tables.Rows, draws: np.ndarray) -> None:
    chosen = [int(point) for point in np.flatnonzero(rows.split == 2)[[30, 4]]]
    table = tables.cases(draws, rows, NOISE, np.random.default_rng(1), chosen)
    assert length_of(table) == 2 * tables.CASE_DRAWS
    assert set(table["case"].tolist()) == {"chosen"}
    assert [*dict.fromkeys(table["point"].tolist())] == chosen
    for point in chosen:
        case = table["point"] == point
        assert set(table["truth"][case].tolist()) == {rows.observed[point]}
        np.testing.assert_allclose(table["mean"][case], draws[:, point].mean())


@pytest.mark.statistical
def test_draws_of_a_case_spread_as_its_total_uncertainty(
    rows: tables.Rows, draws: np.ndarray
) -> None:
    """2000 draws: the mean to 5 standard errors, the sd to 10 %, six standard errors."""
    table = tables.cases(draws, rows, NOISE, np.random.default_rng(1))
    for name in ("good", "typical", "bad"):
        case = {column: values[table["case"] == name] for column, values in table.items()}
        mean, total_sd = case["mean"][0], case["total_sd"][0]
        assert case["draw"].mean() == pytest.approx(mean, abs=5 * total_sd / np.sqrt(2000))
        assert case["draw"].std() == pytest.approx(total_sd, rel=0.1)
