"""Studies and tables of strangers: a number is what everybody reads, and sizes have limits."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from nlobayes.data.csv_text import is_number, parse_cells
from nlobayes.errors import InputError
from nlobayes.study.files import parse_yaml, read_yaml
from nlobayes.study.grid import MOST_CHAIN_JOBS, MOST_RUNS, Study, load_study
from nlobayes.study.library import override, read_presets

CONFIG = Path(__file__).parents[2] / "config"
BASE = override(read_presets(CONFIG / "presets"), read_yaml(CONFIG / "config.yaml"))
SECONDS = 20


def study(text: str) -> Study:
    """Load the default study with changes that are written in YAML."""
    return load_study(override(BASE, parse_yaml(text, "theirs.yaml")))


def refusal(text: str) -> str:
    """The one line that refuses a study, which must come soon."""
    began = time.process_time()
    with pytest.raises(InputError) as caught:
        study(text)
    assert time.process_time() - began < SECONDS
    assert "\n" not in str(caught.value)
    return str(caught.value)


def listed(values: Iterable[int]) -> str:
    return ", ".join(map(str, values))


@pytest.mark.parametrize(
    "said",
    [
        *("0454", "08", "5:00", "190:20:30.5", "3_00", "1_000", "0x10", "0b1", "00.5", "1e999"),
        *(".inf", ".nan", "nan", "Infinity", "１５０", "١٥٠", "'3_00'", '"１５０"', "9" * 900),
    ],
)
def test_a_number_that_readers_take_for_others_is_refused(said: str) -> None:
    message = refusal(f"datasets: {{embedded: {{source: {{points: {said}}}}}}}")
    assert "is no plain finite number; write it in digits 0-9" in message
    assert 'in "theirs.yaml", line 1' in message


@pytest.mark.parametrize("said", ["yes", "no", "on", "Off", "YES"])
def test_words_that_yaml_takes_for_truth_values_are_refused(said: str) -> None:
    for place in ("seeds: [{}]", "datasets: {{embedded: {{split: {{shuffle: {}}}}}}}"):
        assert "is read as a truth value; write true or false" in refusal(place.format(said))


@pytest.mark.parametrize(
    "place",
    [
        "datasets: {embedded: {source: {points: true}}}",
        "seeds: [true]",
        "networks: {n32: {hidden: [false]}}",
        "likelihoods: {tolerance_5: {sigma: true}}",
        "methods: {hmc: {warmup: {segments: true}}}",
    ],
)
def test_a_truth_value_is_no_number(place: str) -> None:
    assert "must be no truth value" in refusal(place)


@pytest.mark.parametrize(
    ("said", "value"), [("0.05", 0.05), (".05", 0.05), ("5e-2", 0.05), ("+1", 1.0), ("2.", 2.0)]
)
def test_a_plain_number_is_read(said: str, value: float) -> None:
    likelihood = study(f"likelihoods: {{mine: {{kind: gaussian, sigma: {said}}}}}")
    assert likelihood.likelihoods["mine"].sigma == value  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("datasets: {embedded: {source: {points: 1000000000000000}}}", "equal to 10000000"),
        ("networks: {n32: {hidden: [1000000000000]}}", "equal to 10000"),
        (f"networks: {{n32: {{hidden: [{listed([1] * 101)}]}}}}", "at most 100 items"),
        ("methods: {hmc: {chains: 10000000}}", "equal to 1000"),
        ("methods: {hmc: {segments: 1000000000000}}", "equal to 10000"),
        ("methods: {hmc: {warmup: {segments: 1000000000000}}}", "equal to 10000"),
        ("methods: {hmc: {draws_per_segment: 8000000000000}}", "must be at most 1000000000"),
        ("pretraining: {adam: {epochs: 1000000000000}}", "must be at most 1000000000"),
        (
            "methods: {hmc: {chains: 1000, segments: 1000}}",
            f"at most {MOST_CHAIN_JOBS} are planned",
        ),
        (f"seeds: [{listed(range(90_000))}]", f"runs, at most {MOST_RUNS} are planned"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_size_that_nobody_could_run_is_refused_with_its_limit(text: str, said: str) -> None:
    assert said in refusal(text)


@pytest.mark.parametrize(
    "cell", ["１５０", "١٥٠", "\u00a0150", "150\u2009", "\x1c150", "1_50", "−150", "0x96", "1,5"]
)
def test_a_cell_is_a_number_in_ascii_or_none(cell: str) -> None:
    assert not is_number(cell)
    assert parse_cells(["1.5", cell]).dtype == object


@pytest.mark.parametrize("cell", ["150", " 150", "150 ", "\t150", "1.5e2", "+150.", "15.e1"])
def test_a_plain_cell_is_a_number(cell: str) -> None:
    assert is_number(cell)
    np.testing.assert_array_equal(parse_cells([cell]), [150.0])
