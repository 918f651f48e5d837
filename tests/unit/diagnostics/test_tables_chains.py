"""The tables of the chains: their columns, their lengths, and which draws they pick."""

import numpy as np
import pytest

from nlobayes.diagnostics import convergence
from nlobayes.diagnostics import tables as chains
from nlobayes.diagnostics.autocorrelation import autocorrelation, integrated_time, sokal_time
from nlobayes.diagnostics.draws import ChainDraws
from tests.rows import length_of


def normal(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def numbered(chain: int, stored: int, weights: int) -> tuple[np.ndarray, list[str]]:
    """Weights that encode chain, stored draw and weight: in units of 1 000 000, 1000 and 1."""
    axes = np.meshgrid(np.arange(chain), np.arange(stored), np.arange(weights), indexing="ij")
    return 1e6 * axes[0] + 1e3 * axes[1] + axes[2], [f"w[{i}]" for i in range(weights)]


@pytest.mark.parametrize(
    ("drawn", "step"), [(1, 1), (499, 1), (500, 1), (501, 2), (999, 2), (1000, 2), (1001, 3)]
)
def test_a_trace_has_at_most_500_draws_of_each_chain(drawn: int, step: int) -> None:
    values = np.arange(2.0 * drawn).reshape(2, drawn)
    table = chains.trace(values, noise=10 * values)
    assert [*table] == ["chain", "draw", "log_density", "noise"]
    kept = np.arange(0, drawn, step)
    assert len(kept) <= 500
    assert length_of(table) == 2 * len(kept)
    np.testing.assert_array_equal(table["draw"], np.tile(kept, 2))
    np.testing.assert_array_equal(table["log_density"], values[table["chain"], table["draw"]])
    np.testing.assert_array_equal(table["noise"], 10 * table["log_density"])


def test_a_fixed_noise_is_missing() -> None:
    table = chains.trace(np.zeros((2, 10)), noise=None)
    assert np.isnan(table["noise"]).all()
    assert length_of(table) == 20
    table = chains.correlations(normal(2, 10, 3), normal(2, 10), None)
    assert np.isnan(table["noise"]).all()
    assert length_of(table) == 10


def test_convergence_is_tabulated_per_reference_point() -> None:
    function, covariate = normal(4, 50, 7), np.linspace(100, 700, 7)
    table = chains.per_point(function, covariate)
    split = convergence.variance_split(function)
    expected = {
        "reference_point": np.arange(7),
        "covariate": covariate,
        "rhat": convergence.rhat(function),
        "rhat_gelman_rubin": convergence.gelman_rubin(function),
        "ess_bulk": convergence.ess_bulk(function),
        "ess_tail": convergence.ess_tail(function),
        "mcse_mean": convergence.mcse_mean(function),
        "mcse_q2_5": convergence.mcse_quantile(function, 0.025),
        "mcse_q97_5": convergence.mcse_quantile(function, 0.975),
        "between_chain_variance": function.mean(axis=1).var(axis=0),
        "within_chain_variance": function.var(axis=1).mean(axis=0),
        "variance_share": split.between / (split.between + split.within),
        "autocorrelation_time": integrated_time(function),
        "autocorrelation_time_sokal": sokal_time(function),
    }
    assert [*table] == [*expected]
    assert length_of(table) == 7
    for name, column in expected.items():
        np.testing.assert_allclose(table[name], column, err_msg=name)


@pytest.mark.parametrize("learned", [True, False])
def test_every_quantity_has_a_row(learned: bool) -> None:
    """Five points, shifted apart in one chain by more and more: R-hat grows with the number."""
    function = normal(4, 60, 5)
    function[0] += np.array([0.0, 3.0, 1.0, 4.0, 2.0])
    scalars = {"log_density": normal(4, 60, seed=2)}
    noise = scalars["noise"] = normal(4, 60, seed=3)
    if not learned:
        del scalars["noise"]
    scalars["prior_scale"] = normal(4, 60, seed=4)
    scalars["slow"] = normal(4, 12, seed=5).cumsum(axis=1)
    draws = ChainDraws(
        function=function,
        log_density=scalars["log_density"],
        noise=noise if learned else None,
        weights=np.zeros((4, 12, 1)),
        hyperparameters={name: scalars[name] for name in ("prior_scale", "slow")},
    )
    table = chains.quantities(draws, convergence.rhat(function))
    assert [*table] == [
        "quantity", "mean", "sd", "mcse_mean", "mcse_q2_5", "mcse_q97_5", "rhat",
        "rhat_gelman_rubin", "ess_bulk", "ess_tail", "autocorrelation_time",
        "autocorrelation_time_sokal",
    ]  # fmt: skip
    scalars |= {"f_worst": function[:, :, 3], "f_median": function[:, :, 4]}
    assert table["quantity"].tolist() == [*scalars]
    for row, (name, values) in enumerate(scalars.items()):
        one = values[..., None]
        expected = {
            "mean": values.mean(),
            "sd": values.std(ddof=1),
            "mcse_mean": convergence.mcse_mean(one)[0],
            "mcse_q2_5": convergence.mcse_quantile(one, 0.025)[0],
            "mcse_q97_5": convergence.mcse_quantile(one, 0.975)[0],
            "rhat": convergence.rhat(one)[0],
            "rhat_gelman_rubin": convergence.gelman_rubin(one)[0],
            "ess_bulk": convergence.ess_bulk(one)[0],
            "ess_tail": convergence.ess_tail(one)[0],
            "autocorrelation_time": integrated_time(values) * (5 if name == "slow" else 1),
            "autocorrelation_time_sokal": sokal_time(values) * (5 if name == "slow" else 1),
        }
        for column, value in expected.items():
            assert table[column][row] == pytest.approx(value), (name, column)


@pytest.mark.parametrize(("drawn", "lags"), [(20, 20), (100, 100), (250, 100)])
def test_correlations_are_tabulated_over_reference_points(drawn: int, lags: int) -> None:
    function, density, noise = normal(3, drawn, 11), normal(3, drawn, seed=2), normal(3, drawn)
    table = chains.correlations(function, density, noise)
    assert [*table] == ["lag", "f_mean", "f_p10", "f_p90", "log_density", "noise"]
    assert length_of(table) == lags
    np.testing.assert_array_equal(table["lag"], np.arange(lags))
    assert table["f_mean"][0] == table["f_p10"][0] == table["log_density"][0] == 1
    ordered = np.sort(autocorrelation(function)[:lags], axis=1)
    np.testing.assert_allclose(table["f_mean"], ordered.mean(axis=1))
    np.testing.assert_allclose(table["f_p10"], ordered[:, 1])  # the second of eleven
    np.testing.assert_allclose(table["f_p90"], ordered[:, 9])
    np.testing.assert_allclose(table["log_density"], autocorrelation(density)[:lags])
    np.testing.assert_allclose(table["noise"], autocorrelation(noise)[:lags])


@pytest.mark.parametrize(("stored", "lags"), [(30, 30), (130, 100)])
def test_correlations_of_all_weights_are_in_draws(stored: int, lags: int) -> None:
    """601 weights: in pieces of 256 as in one."""
    weights = normal(2, stored, 601).cumsum(axis=1)
    table = chains.weight_correlations(weights, thin=5)
    assert [*table] == ["lag", "mean", "p10", "p90"]
    np.testing.assert_array_equal(table["lag"], 5 * np.arange(lags))
    rho = np.sort(autocorrelation(weights)[:lags], axis=1)
    np.testing.assert_allclose(table["mean"], rho.mean(axis=1))
    np.testing.assert_allclose(table["p10"], rho[:, 60])  # of 601, 60 lie below
    np.testing.assert_allclose(table["p90"], rho[:, 540])


@pytest.mark.parametrize(
    ("count", "chosen"),
    [(1, [0]), (4, [0, 1, 2, 3]), (6, [0, 1, 2, 3, 4, 5]), (60, [5, 15, 25, 35, 45, 55])],
)
@pytest.mark.parametrize(("stored", "step"), [(3, 1), (300, 1), (301, 2)])
def test_the_history_of_weights_spread_over_the_vector(
    count: int, chosen: list[int], stored: int, step: int
) -> None:
    """The draw that was stored third of every tenth is number 29."""
    weights, names = numbered(2, stored, count)
    table = chains.history(weights, names, thin=10)
    assert [*table] == ["weight", "chain", "draw", "value"]
    kept = np.arange(0, stored, step)
    assert length_of(table) == len(chosen) * 2 * len(kept)
    assert sorted(set(table["draw"].tolist())) == (10 * kept + 9).tolist()
    number = np.array([int(name[2:-1]) for name in table["weight"]])
    assert sorted(set(number.tolist())) == chosen
    expected = 1e6 * table["chain"] + 1e3 * (table["draw"] // 10) + number
    np.testing.assert_array_equal(table["value"], expected)


@pytest.mark.parametrize(
    ("count", "pairs"),
    [
        (2, [(0, 1)]),
        (5, [(0, 2), (1, 3)]),
        (80, [(5, 45), (15, 55), (25, 65), (35, 75)]),
    ],
)
@pytest.mark.parametrize(("stored", "step"), [(400, 1), (401, 2)])
def test_planes_pair_weights_of_both_halves(
    count: int, pairs: list[tuple[int, int]], stored: int, step: int
) -> None:
    weights, names = numbered(3, stored, count)
    table = chains.weight_planes(weights, names)
    assert [*table] == ["pair", "x_name", "y_name", "chain", "x", "y"]
    kept = np.arange(0, stored, step)
    assert length_of(table) == len(pairs) * 3 * len(kept)
    for pair, indices in enumerate(pairs):
        rows = table["pair"] == pair
        for axis, index in zip("xy", indices, strict=True):
            assert set(table[f"{axis}_name"][rows].tolist()) == {f"w[{index}]"}
            values = 1e6 * table["chain"][rows] + 1e3 * np.tile(kept, 3) + index
            np.testing.assert_array_equal(table[axis][rows], values)


def test_divergences_are_tabulated_per_reference_point() -> None:
    function, covariate = normal(2, 40, 3), np.array([1.0, 2.0, 3.0])
    diverging = np.zeros((2, 40), dtype=bool)
    table = chains.divergences(function, diverging, covariate)
    assert [*table] == ["reference_point", "covariate", "deviation", "expected"]
    assert np.isnan(table["deviation"]).all()
    diverging[1, 3] = True
    table = chains.divergences(function, diverging, covariate)
    z = np.abs(function - function.mean(axis=(0, 1))) / function.std(axis=(0, 1))
    np.testing.assert_allclose(table["deviation"], z[1, 3])
    np.testing.assert_allclose(table["expected"], (z.sum(axis=(0, 1)) - z[1, 3]) / 79)
    np.testing.assert_array_equal(table["covariate"], covariate)


def test_losses_of_chains_of_any_length_follow_each_other() -> None:
    losses, errors = [np.array([3.0, 2.0, 1.0]), np.array([5.0])], [np.arange(3.0), np.ones(1)]
    table = chains.losses(losses, errors)
    assert {name: column.tolist() for name, column in table.items()} == {
        "chain": [0, 0, 0, 1],
        "epoch": [1, 2, 3, 1],
        "train_loss": [3.0, 2.0, 1.0, 5.0],
        "validation_rmse": [0.0, 1.0, 2.0, 1.0],
    }


def test_chosen_weights_span_the_planes() -> None:
    weights, names = numbered(2, 10, 6)
    table = chains.weight_planes(weights, names, [(5, 0), (1, 1)])
    pairs = dict.fromkeys(zip(table["x_name"].tolist(), table["y_name"].tolist(), strict=True))
    assert [*pairs] == [("w[5]", "w[0]"), ("w[1]", "w[1]")]
    np.testing.assert_array_equal(table["y"][:20], weights[:, :, 0].ravel())


@pytest.mark.parametrize(("stored", "bins"), [(8, 10), (50, 10), (125, 25), (1000, 40)])
def test_marginals_are_the_densities_of_each_chain(stored: int, bins: int) -> None:
    """Over the range of all chains; R-hat as of the table of quantities."""
    draws = {"a": normal(3, stored), "b": 5 + normal(3, stored, seed=2)}
    table = chains.marginals(draws)
    assert length_of(table) == 2 * 3 * bins
    for name, values in draws.items():
        for chain in range(3):
            rows = (table["parameter"] == name) & (table["chain"] == chain)
            edges = np.linspace(values.min(), values.max(), bins + 1)
            expected, _ = np.histogram(values[chain], edges, density=True)
            np.testing.assert_allclose(table["low"][rows], edges[:-1])
            np.testing.assert_allclose(table["high"][rows], edges[1:])
            np.testing.assert_allclose(table["density"][rows], expected)
            rhat = float(convergence.rhat(values[..., np.newaxis])[0])
            described = {"mean": values.mean(), "sd": values.std(ddof=1), "rhat": rhat}
            for key, value in described.items():
                np.testing.assert_allclose(table[key][rows], value)


def test_marginals_of_few_draws_have_no_rhat_and_still_ones_a_density() -> None:
    assert np.isnan(chains.marginals({"a": normal(2, 7)})["rhat"]).all()
    still = chains.marginals({"a": np.ones((2, 20))})
    assert np.isinf(still["rhat"]).all()
    assert np.isfinite(still["density"]).all()
