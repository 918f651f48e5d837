"""The gallery shows the figures that its commands make, with the captions of the report."""

from pathlib import Path

import yaml

from benchmarks import gallery
from nlobayes.study.study import load_study, override, read_presets
from nlobayes.workflow.plan import Plan
from nlobayes.workflow.targets import ROUNDS, grid_outputs

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config"
MOST_BYTES = 3_000_000


def planned(path: Path) -> set[str]:
    """Name the figures that the default study with the changes of a file makes, at its targets."""
    default = yaml.safe_load((CONFIG / "config.yaml").read_text())
    base = override(read_presets(CONFIG / "presets"), default)
    study = load_study(override(base, yaml.safe_load(path.read_text())))
    plan = Plan(study)
    grids = [grid for grid in study.targets if not plan.rounds_of(grid)]
    paths = [path for grid in grids for path in grid_outputs(plan, grid)]
    return {Path(path).stem for path in paths} | (
        {ROUNDS} if len(grids) < len(study.targets) else set()
    )


def test_the_page_is_that_of_the_captions() -> None:
    """`python -m benchmarks.gallery > docs/gallery.md` writes it."""
    assert (ROOT / "docs/gallery.md").read_text() == gallery.page()


def test_every_figure_has_a_picture_and_all_are_small() -> None:
    names = [figure.name for figure in gallery.shown()]
    pictures = {path.stem: path for path in gallery.PICTURES.iterdir()}
    assert pictures.keys() == {*names}
    assert len(names) >= 40
    assert sum(path.stat().st_size for path in pictures.values()) < MOST_BYTES


def test_commands_make_their_figures() -> None:
    made = {"make run": planned(CONFIG / "config.yaml")}
    for command in gallery.FROM:
        made[command] = planned(ROOT / command.split()[-1])
    for figure in gallery.shown():
        command = gallery.command_of(figure.name)
        assert figure.name in made[command], (figure.name, command)
