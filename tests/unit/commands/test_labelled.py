"""A surrogate is found by the label of its run, by a name in its path, or by its path."""

from pathlib import Path

import pytest

from nlobayes.commands.labelled import SURROGATES, surrogate_at
from tests.refusals import refused

CONFIG = Path(__file__).parents[3] / "config"
QUICKSTART = "embedded_k/n32/fan_in/tolerance_3_5/adam/hmc_k/s1"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two surrogates, which stay empty here."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").symlink_to(CONFIG)
    for run in (QUICKSTART, "slow_1/infinite/scales/learned_log/mode/emulated_hmc/s1"):
        path = tmp_path / SURROGATES / f"{run}.nc"
        path.parent.mkdir(parents=True)
        path.touch()
    return tmp_path


def test_by_the_label_of_the_summary(folder: Path) -> None:
    assert surrogate_at(Path("quickstart")) == SURROGATES / f"{QUICKSTART}.nc"


def test_by_a_name_in_one_path(folder: Path) -> None:
    assert surrogate_at(Path("slow_1")).is_relative_to(SURROGATES / "slow_1")


def test_a_name_of_several_is_refused(folder: Path) -> None:
    (SURROGATES / "slow_1/s2.nc").touch()
    with refused("commands.several_surrogates", name="slow_1"):
        surrogate_at(Path("slow_1"))


@pytest.mark.parametrize("name", ["mine.nc", "unknown", "results/surrogates/none.nc"])
def test_other_paths_stay_as_they_are(folder: Path, name: str) -> None:
    (folder / "mine.nc").touch()
    assert surrogate_at(Path(name)) == Path(name)
