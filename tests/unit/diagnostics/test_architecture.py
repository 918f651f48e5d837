"""Probabilities of sizes with their errors, and what became of the jumps between them."""

import numpy as np
import pytest

from nlobayes.diagnostics.architecture import (
    acceptance_within,
    architecture,
    rhat_of_sizes,
    summarise_jumps,
    summarise_number,
    summarise_sizes,
    visits,
)

CHAINS, DRAWS = 4, 2000


@pytest.mark.statistical
def test_probabilities_lie_within_their_errors() -> None:
    """Independent draws: the error is that of a binomial, and five of them hold the truth."""
    truth = np.array([0.6, 0.3, 0.1])
    drawn = 2.0 + np.random.default_rng(1).choice(3, size=(CHAINS, DRAWS), p=truth)
    found = summarise_sizes({"width_1": drawn})["width_1"]
    assert found["number"] == [2.0, 3.0, 4.0]
    errors = np.array(found["mcse"], float)
    np.testing.assert_allclose(errors, np.sqrt(truth * (1 - truth) / drawn.size), rtol=0.15)
    assert (np.abs(found["probability"] - truth) < 5 * errors).all()


def test_sticky_chains_have_larger_errors_and_still_ones_none() -> None:
    rng = np.random.default_rng(2)
    fast = rng.choice(2, size=(CHAINS, DRAWS)).astype(float)
    sticky = np.repeat(fast[:, : DRAWS // 50], 50, axis=1)
    small, large = (
        np.array(summarise_sizes({"depth": drawn})["depth"]["mcse"], float)
        for drawn in (fast, sticky)
    )
    assert (large > 4 * small).all()
    assert summarise_sizes({"depth": np.ones((CHAINS, DRAWS))})["depth"]["mcse"] == [None]


def test_jumps_are_counted_with_their_acceptance() -> None:
    nan = np.nan
    stats = {
        "jumps_split_1": np.array([[1, 0, 2], [0, 0, 1]]),
        "jump_acceptance_split_1": np.array([[0.5, nan, 0.1], [nan, nan, 0.3]]),
        "jumps_prior_1": np.zeros((2, 3), int),
        "jump_acceptance_prior_1": np.full((2, 3), nan),
        **HAND,
    }
    found = summarise_jumps(stats)
    assert found["split_1"] == {"tried": 4, "acceptance": pytest.approx(1.0 / 4)}
    assert found["prior_1"] == {"tried": 0, "acceptance": None}
    assert found["between_sizes"] == pytest.approx(2 / 4)


def test_a_unit_more_here_and_one_less_there_is_another_size() -> None:
    """Draws have 3 and 2, 2 and 3, 2 and 3 units: the total never changes."""
    stats = {
        "jump_from_width_1": np.array([[[3], [3], [2]]]),
        "jump_to_width_1": np.array([[[4], [2], [1]]]),
        "jump_from_width_2": np.array([[[2], [2], [3]]]),
        "jump_to_width_2": np.array([[[2], [3], [3]]]),
        "jump_accepted": np.array([[[False], [True], [False]]]),
    }
    assert summarise_jumps(stats)["between_sizes"] == pytest.approx(1 / 2)


HAND = {
    "jump_from_width_1": np.array([[[1, 2], [2, 2], [3, 3]], [[2, 1], [1, 1], [1, 2]]]),
    "jump_to_width_1": np.array([[[2, 1], [1, 3], [3, 3]], [[1, 2], [2, 2], [2, 3]]]),
    "jump_accepted": np.array([[[1, 0], [0, 1], [0, 0]], [[1, 0], [0, 0], [1, 0]]], bool),
    "jump_probability": np.array(
        [[[0.9, 0.1], [0.2, 0.8], [0.7, 0.7]], [[0.6, 0.3], [0.4, 0.2], [1.0, 0.5]]]
    ),
    "acceptance_rate": np.array([[0.5, 0.7, 0.9], [0.3, 0.5, 0.8]]),
}
"""Two chains of three draws with two jumps each; those of the last draw of the first chain change
another number."""
COUNTED = [
    # from, to, visits, tried, acceptance
    (1, 1, 3, 0, None),
    (1, 2, 2, 5, (0.9 + 0.3 + 0.4 + 0.2 + 1.0) / 5),
    (2, 1, 1, 3, (0.1 + 0.2 + 0.6) / 3),
    (2, 2, 3, 0, None),
    (2, 3, 1, 2, (0.8 + 0.5) / 2),
]
"""By hand, from the arrays above."""


def test_visits_are_those_counted_by_hand() -> None:
    found = visits(HAND)
    assert set(found["quantity"]) == {"width_1"}
    rows = [
        *zip(*(found[name].tolist() for name in ("from", "to", "visits", "tried")), strict=True)
    ]
    assert rows == [row[:4] for row in COUNTED]
    expected = [np.nan if row[4] is None else row[4] for row in COUNTED]
    np.testing.assert_allclose(found["acceptance"], expected)


def test_acceptance_within_a_size_is_of_the_size_after_the_jumps() -> None:
    """Draws end at 2, 3, 3 and 1, 1, 2."""
    found = acceptance_within(HAND, "width_1")
    assert found == {1: pytest.approx(0.4), 2: pytest.approx(0.65), 3: pytest.approx(0.8)}


def test_nothing_that_jumps_has_no_visits() -> None:
    assert {name: len(column) for name, column in visits({}).items()} == dict.fromkeys(
        ("quantity", "from", "to", "visits", "tried", "acceptance"), 0
    )


def test_chains_at_different_sizes_are_distinguished() -> None:
    """Chains that mix pass; those that each keep to sizes of their own, or never move, do not."""
    rng = np.random.default_rng(3)
    mixing = rng.integers(3, 6, (CHAINS, 200)).astype(float)
    apart = mixing + 3.0 * np.arange(CHAINS)[:, np.newaxis]
    still = np.repeat(np.arange(CHAINS, dtype=float)[:, np.newaxis], 200, axis=1)
    assert 0.99 < (rhat_of_sizes({"width_1": mixing}) or 0) < 1.05
    assert (rhat_of_sizes({"width_1": mixing, "depth": apart}) or 0) > 1.5
    assert rhat_of_sizes({"width_1": still}) == np.inf
    assert rhat_of_sizes({"width_1": np.full((CHAINS, 200), 4.0)}) is None
    assert rhat_of_sizes({"width_1": apart[:, :4]}) is None


def test_a_number_is_summarised_by_its_mode_and_its_quantiles() -> None:
    drawn = np.repeat([[1.0, 2.0, 2.0, 3.0, 9.0]], 20, axis=0).T.reshape(5, 20)
    found = summarise_number(np.sort(drawn.ravel()).reshape(2, 50))
    assert (found["mode"], found["low_90"], found["high_90"]) == (2, 1, 9)
    assert summarise_number(np.full((2, 20), 4.0)) == {
        **{"mode": 4, "low_90": 4, "high_90": 4},
        **{"rhat": None, "ess_bulk": None},
    }
    assert summarise_number(np.repeat([[1.0], [2.0]], 20, axis=1))["rhat"] is None


def test_architecture_joins_the_facts_of_each_number() -> None:
    sizes = {"width_1": np.tile([[2.0, 3.0], [1.0, 2.0]], 10)}
    jumps = {"jumps_split_1": np.ones((2, 3), int), "jump_acceptance_split_1": np.ones((2, 3))}
    found = architecture(sizes, 4 * sizes["width_1"] + 1, {**HAND, **jumps})
    assert found["width_1"]["number"] == [1, 2, 3]
    assert found["width_1"]["acceptance_within"] == pytest.approx([0.4, 0.65, 0.8])
    assert found["width_1"]["visits"]["tried"] == [row[3] for row in COUNTED]
    assert found["width_1"]["visits"]["acceptance"][0] is None
    assert found["parameters"]["mode"] == 9
    assert found["jumps"]["split_1"]["tried"] == 6
