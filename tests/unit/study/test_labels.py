"""Runs are labelled by their grid and by what distinguishes them."""

from pathlib import Path

import pytest
import yaml

from nlobayes.study.labels import labels, read_whole_study, shortened


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Write the default study with a grid of two networks and two seeds that overlaps it."""
    monkeypatch.chdir(Path(__file__).parents[3])
    grid = {
        "dataset": "embedded_k",
        "network": ["n16", "n32"],
        "prior": "fan_in",
        "likelihood": "tolerance_10",
        "pretraining": "adam",
        "method": "hmc_check",
        "seed": [1, 2],
    }
    path = tmp_path / "changes.yaml"
    path.write_text(yaml.safe_dump({"grids": {"shapes": grid}, "targets": ["shapes", "check"]}))
    return read_whole_study([path])


def test_a_label_is_the_grid_and_what_differs_in_it(study: object) -> None:
    model = "embedded_k/{}/fan_in/{}/adam/{}/s{}".format
    found = labels(study, ["quickstart", "check", "shapes"])  # type: ignore[arg-type]
    assert found[model("n32", "tolerance_3_5", "hmc_k", 1)] == "quickstart"
    assert found[model("n16", "tolerance_10", "hmc_check", 1)] == "check hmc_check"
    assert found[model("n16", "tolerance_10", "hmc_check", 2)] == "shapes n16 s2"
    assert len({*found.values()}) == len(found) == 6


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([], []),
        (["a/n4/hmc/s1"], ["a"]),
        (["a/n4/hmc/s1", "a/n8/hmc/s1"], ["a n4", "a n8"]),
        (["a/n4/hmc/s1", "b/n4/hmc/s2"], ["a s1", "b s2"]),
        (["a/s1", "a/n4/s1"], ["a/s1", "a/n4/s1"]),
    ],
)
def test_other_paths_keep_what_differs(paths: list[str], expected: list[str]) -> None:
    assert [*shortened(paths).values()] == expected
