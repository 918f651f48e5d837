"""What thinning costs: against AR(1) chains, whose share of kept information is known."""

import numpy as np
import pytest

from nlobayes.diagnostics.autocorrelation import (
    autocorrelation,
    initial_monotone_sequence,
    integrated_time,
)
from nlobayes.diagnostics.convergence import ess_bulk
from nlobayes.diagnostics.thinning import (
    choose_step,
    kept_ess_share,
    storage_stride,
    thinning_table,
)
from tests.chains import ar1
from tests.refusals import refused


def share_of(rho: np.ndarray, step: int, **settings: int) -> np.ndarray:
    return kept_ess_share(initial_monotone_sequence(rho), step, **settings)


def ar1_share(rho: float, step: int) -> float:
    """tau_1 / (s tau_s), every s-th draw of an AR(1) being an AR(1) with rho^s."""
    time, thinned = (1 + rho) / (1 - rho), (1 + rho**step) / (1 - rho**step)
    return time / (step * thinned)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.95, -0.5])
@pytest.mark.parametrize("step", [1, 2, 7, 40])
def test_share_of_the_exact_autocorrelation(rho: float, step: int) -> None:
    exact = rho ** np.arange(2000)
    assert share_of(exact, step) == pytest.approx(ar1_share(rho, step), rel=1e-6)


@pytest.mark.parametrize("step", [4, 8, 20])
def test_share_relative_to_the_stored_draws(step: int) -> None:
    """A chain of every fourth draw is again an AR(1)."""
    share = share_of(0.9 ** np.arange(2000), step, stored_every=4)
    assert share == pytest.approx(ar1_share(0.9**4, step // 4), rel=1e-6)


@pytest.mark.statistical
@pytest.mark.parametrize("step", [2, 5, 20])
def test_share_of_sampled_chains(step: int) -> None:
    """Median of 40 quantities within 5 %, and as measured by the ESS of what is kept."""
    draws = ar1(0.8, (4, 5000, 40), seed=1)
    share = np.median(share_of(autocorrelation(draws), step))
    assert share == pytest.approx(ar1_share(0.8, step), rel=0.05)
    measured = np.median(ess_bulk(draws[:, step - 1 :: step]) / ess_bulk(draws))
    assert share == pytest.approx(measured, rel=0.1)


def test_every_draw_is_the_whole_and_thinning_adds_nothing() -> None:
    """Not even where noise makes the time of every second draw 0.4, a fifth of that of all."""
    noisy = np.concatenate([[1.0, 0.5, -0.3, 0.35], np.zeros(996)])
    assert share_of(noisy, 2) == 1
    rho = autocorrelation(ar1(0.6, (4, 300, 20), seed=2))
    np.testing.assert_array_equal(share_of(rho, 1), 1.0)
    for step in range(2, 60):
        assert share_of(rho, step).max() <= 1


@pytest.mark.statistical
@pytest.mark.parametrize(("thin", "loss"), [(1, 0.1), (1, 0.3), (4, 0.1), (4, 0.5)])
def test_chosen_step_of_ar1(thin: int, loss: float) -> None:
    """The step from the closed form, or its neighbour where that is within 2 % of the limit."""
    rho = 0.9
    shares = {step: ar1_share(rho, step) / ar1_share(rho, thin) for step in range(thin, 200, thin)}
    chosen = choose_step(ar1(rho, (4, 5000, 40), seed=3), thin=thin, loss=loss)
    assert chosen % thin == 0
    assert shares[chosen] >= 1 - loss - 0.02
    assert shares[chosen + thin] < 1 - loss + 0.02


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("time", "drawn", "strides"),
    [
        (1, 600, (1, 1)),
        (2, 600, (1, 1)),
        (16, 2000, (8, 10)),
        (16, 8000, (14, 14)),
        (2, 6000, (10, 10)),
    ],
)
def test_stored_draws_follow_the_time_of_the_chains(
    time: float, drawn: int, strides: tuple[int, int]
) -> None:
    """At a time of 16 the closed form keeps 90 % at step 9; more draws meet the limit of 2400."""
    draws = ar1((time - 1) / (time + 1), (4, drawn, 40), seed=10)
    stride = storage_stride(draws, most=2400)
    assert strides[0] <= stride <= strides[1]
    stored = draws[:, stride - 1 :: stride]
    assert stored.shape[0] * stored.shape[1] <= 2400
    if drawn <= 2000:
        assert np.median(ess_bulk(stored) / ess_bulk(draws)) > 0.85


@pytest.mark.parametrize(("drawn", "stride"), [(99, 1), (250, 2), (1000, 10), (9000, 90)])
def test_a_hundred_draws_of_a_chain_that_does_not_move_are_stored(drawn: int, stride: int) -> None:
    stuck = np.ones((4, drawn, 3)) * np.arange(4.0)[:, None, None]
    assert storage_stride(stuck, most=2400) == stride


def test_independent_draws_are_not_thinned() -> None:
    draws = ar1(0.0, (4, 500, 10), seed=4)
    assert choose_step(draws, thin=1, loss=0.2) == 1
    assert choose_step(draws, thin=5, loss=0.2) == 5


def spread(draws: np.ndarray) -> dict[str, float]:
    """Scores that identify the draws they were computed from."""
    return {"rmse": float(draws.mean()), "crps": float(len(draws)), "lppd": float(draws[0, 0])}


def test_the_study_of_thinning() -> None:
    function = ar1(0.8, (2, 200, 6), seed=6)
    table = thinning_table(function, spread, thin=2, chosen=6, bytes_per_draw=4000)
    assert [*table] == [
        "step", "draws", "ess_f_median", "ess_share", "rmse", "crps", "lppd", "megabytes", "stored",
        "chosen"
    ]  # fmt: skip
    assert table["step"].tolist() == [1, 2, 4, 6, 8, 16]
    assert table["step"][table["stored"]].tolist() == [2]
    assert table["step"][table["chosen"]].tolist() == [6]
    for row, step in enumerate(table["step"]):
        kept = function[:, step - 1 :: step]
        assert table["draws"][row] == table["crps"][row] == kept.shape[0] * kept.shape[1]
        assert table["megabytes"][row] == pytest.approx(table["draws"][row] * 0.004)
        assert table["ess_f_median"][row] == np.median(ess_bulk(kept))
        assert table["rmse"][row] == pytest.approx(kept.mean())
        assert table["lppd"][row] == function[0, step - 1, 0]
        share = share_of(autocorrelation(function), int(step))
        assert table["ess_share"][row] == np.median(share)
    assert table["ess_share"][0] == 1


@pytest.mark.parametrize(("drawn", "last"), [(64, 8), (63, 4), (8, 1)])
def test_the_study_ends_where_eight_draws_remain(drawn: int, last: int) -> None:
    table = thinning_table(
        ar1(0.5, (2, drawn, 2), seed=7), spread, thin=1, chosen=1, bytes_per_draw=1
    )
    assert table["step"].tolist() == [2**power for power in range(last.bit_length())]


@pytest.mark.parametrize(
    ("thin", "chosen", "fault", "fields"),
    [
        (13, 13, "few_stored_draws", {"fewest": 8, "stored": 7}),
        (2, 3, "chosen_step", {"thin": 2, "step": 3}),
        (2, 14, "chosen_step", {"fewest": 8, "step": 14}),
    ],
)
def test_the_study_refuses_what_leaves_too_few(
    thin: int, chosen: int, fault: str, fields: dict[str, int]
) -> None:
    with refused(f"diagnostics.{fault}", **fields):
        thinning_table(
            ar1(0.5, (2, 100, 2), seed=8), spread,
            thin=thin, chosen=chosen, bytes_per_draw=1,
        )  # fmt: skip


def test_the_share_explains_the_integrated_time() -> None:
    """Where only the first kept draw is correlated with itself, the share is tau / step."""
    draws = ar1(0.3, (4, 1000, 5), seed=9)
    share = share_of(autocorrelation(draws), 900)
    np.testing.assert_allclose(share, integrated_time(draws) / 900, rtol=1e-12)
