"""Names become folders and patterns: none may leave its folder, hide another or be cut off."""

from typing import Any

import pytest
from snakemake.io import PeriodicityDetector

from nlobayes.study.study import SECTIONS
from tests.refusals import refused
from tests.unit.study.small import make_study

LIKE_ASCII = ["n\u0430", "\uff4e4", "n\u200b4", "ne\u0301", "\u202en4"]
"""Cyrillic, full width, a space without width, a combined accent, from right to left."""
HOSTILE = [
    "../../x",
    "..",
    ".",
    ".hidden",
    "/etc/x",
    "a/b",
    "a\\b",
    "a\0b",
    "a\nb",
    "a\n",
    "a b",
    "a{run}",
    "a*",
    "a|b",
    "-rf",
    "$(touch hacked)",
    "`id`",
    "",
    "x" * 101,
    "x" * 5000,
    *LIKE_ASCII,
]


def refusal(changes: dict[str, Any], fault: str, place: str) -> str:
    """Expect the error at the place, and return its text, which is printable."""
    with refused(fault) as caught:
        make_study(changes)
    assert caught.value.fields["places"][0] == place
    message = str(caught.value)
    assert message.isprintable()
    return message


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_name_that_is_no_plain_folder_is_refused(name: str) -> None:
    some = make_study().networks["n4"].model_dump()
    message = refusal({"networks": {name: some}}, "study.name", "networks")
    assert f"name {name!r} " in message


@pytest.mark.parametrize("section", [*SECTIONS.values(), "grids"])
def test_names_of_every_section_are_checked(section: str) -> None:
    some = next(iter(getattr(make_study(), section).values())).model_dump()
    for name, fault in (("../../x", "study.name"), ("ab" * 20, "study.name_repeats")):
        assert refusal({section: {name: some}}, fault, section)


@pytest.mark.parametrize("name", ["run_" + "0" * 20, "x" + "-" * 20, "ab" * 20])
def test_a_name_that_snakemake_takes_for_endless_is_refused(name: str) -> None:
    """Snakemake searches for a text that is repeated twenty times, and stops with a traceback."""
    assert PeriodicityDetector().is_periodic(name)
    assert not PeriodicityDetector().is_periodic(name[:-3])
    some = make_study().networks["n4"].model_dump()
    assert refusal({"networks": {name: some}}, "study.name_repeats", "networks")


@pytest.mark.parametrize("name", ["landscape", "Comparison", "agreement", "Prior_predictive"])
def test_a_dataset_does_not_take_the_folder_of_other_results(name: str) -> None:
    dataset = {"source": {"kind": "simulate"}, "split": "thesis"}
    assert refusal({"datasets": {name: dataset}}, "study.name_taken", "datasets")
    assert make_study({"networks": {name: {"hidden": [4]}}})


def test_names_that_differ_by_case_alone_are_refused() -> None:
    changes = {"networks": {"N4": {"hidden": [9]}}}
    assert refusal(changes, "study.names_by_case", "networks")


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        *((path, "study.path_climbs") for path in ("../x.csv", "data/../../x.csv", "", ".")),
        *((f"a{odd}b.csv", "study.path_not_printable") for odd in "\0\n\t\u202e"),
    ],
    ids=ascii,
)
def test_a_path_of_a_table_that_leaves_its_place_is_refused(path: str, fault: str) -> None:
    changes = {"datasets": {"mine": {"source": {"path": path}}}}
    assert refusal(changes, fault, "datasets.mine.source.table.path")


def test_a_refusal_does_not_repeat_what_is_huge() -> None:
    changes = {"seeds": ["x" * 10_000] * 3}
    assert len(refusal(changes, "int_parsing", "seeds.0")) < 2000


def test_many_seeds_are_compared_at_once() -> None:
    grid = {"network": "n4", "method": "hmc"}
    changes = {"seeds": [*range(50_000), 7], "grids": {"small": grid}}
    assert "7 is given twice" in refusal(changes, "study.twice", "seeds")
