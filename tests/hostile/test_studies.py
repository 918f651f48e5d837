"""Studies and tables of strangers: a number is what everybody reads, and sizes have limits."""

import re
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from nlobayes.data.cells import is_number, parse_cells
from nlobayes.settings.values import MOST
from nlobayes.study.study import (
    MOST_CHAIN_JOBS,
    MOST_RUNS,
    Study,
    load_study,
    override,
    read_presets,
)
from nlobayes.study.yaml_files import parse_yaml, read_yaml
from tests.refusals import refused

CONFIG = Path(__file__).parents[2] / "config"
BASE = override(read_presets(CONFIG / "presets"), read_yaml(CONFIG / "config.yaml"))
SECONDS = 20


def study(text: str) -> Study:
    """Load the default study with changes that are written in YAML."""
    return load_study(override(BASE, parse_yaml(text, "theirs.yaml")))


def refusal(text: str, fault: str) -> str:
    """Expect a study to be refused soon for a fault, and give the one line that says so."""
    began = time.process_time()
    with refused(fault) as caught:
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
    text = f"datasets: {{embedded: {{source: {{points: {said}}}}}}}"
    assert 'in "theirs.yaml", line 1' in refusal(text, "study.yaml_number")


@pytest.mark.parametrize("said", ["yes", "no", "on", "Off", "YES"])
def test_words_that_yaml_takes_for_truth_values_are_refused(said: str) -> None:
    for place in ("seeds: [{}]", "datasets: {{embedded: {{split: {{shuffle: {}}}}}}}"):
        assert refusal(place.format(said), "study.yaml_truth")


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
    assert refusal(place, "study.truth_value")


@pytest.mark.parametrize(
    ("text", "fault", "most"),
    [
        ("datasets: {embedded: {source: {points: 1000000000000000}}}", "less_than_equal", 10**7),
        ("networks: {n32: {hidden: [1000000000000]}}", "less_than_equal", 10_000),
        (f"networks: {{n32: {{hidden: [{listed([1] * 101)}]}}}}", "too_long", 100),
        ("methods: {hmc: {chains: 10000000}}", "less_than_equal", 1000),
        ("methods: {hmc: {segments: 1000000000000}}", "less_than_equal", 10_000),
        ("methods: {hmc: {warmup: {segments: 1000000000000}}}", "less_than_equal", 10_000),
        ("methods: {hmc: {draws_per_segment: 8000000000000}}", "study.above_most", MOST),
        ("pretraining: {adam: {epochs: 1000000000000}}", "study.above_most", MOST),
        ("methods: {hmc: {chains: 1000, segments: 1000}}", "study.too_many_jobs", MOST_CHAIN_JOBS),
        (f"seeds: [{listed(range(90_000))}]", "study.too_many_runs", MOST_RUNS),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_size_that_nobody_could_run_is_refused_with_its_limit(
    text: str, fault: str, most: int
) -> None:
    assert re.search(rf"\b{most}\b", refusal(text, fault))


@pytest.mark.parametrize(
    "cell", ["１５０", "١٥٠", "\u00a0150", "150\u2009", "\x1c150", "1_50", "−150", "0x96", "1,5"]
)
def test_a_cell_is_a_number_in_ascii_or_none(cell: str) -> None:
    assert not is_number(cell)
    assert parse_cells(["1.5", cell]).dtype == object
