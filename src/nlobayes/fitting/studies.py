"""Conversion of the choices of one run to the configuration of a study, as users write in YAML."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml

from nlobayes.errors import InputError
from nlobayes.rivals import Rival
from nlobayes.settings.values import NAME, TAKEN
from nlobayes.study.grids import CROSSED, RunSpec
from nlobayes.study.study import SECTIONS, load_study, override, shipped_presets
from nlobayes.untyped import Document, Facts

AUTO = "auto"
Precision = Literal["float32", "float64"]
GRID = "fit"
OWN = "own"
"""Name of a preset that is not in the library."""
LEARNED, LEARNED_LOG, LEARNED_EXACT = "learned_above_10", "learned_log", "learned_exact"
TANH = "tanh"
"""The activation by default."""
CLASSES = "classes"
RIVAL, MOST_ROWS_OF_RIVAL = "gp_matern", 1000
"""Rival that is scored beside a run of numbers, and the most train rows that it learns in seconds.
"""

Configuration = Document
Preset = str | Facts
"""A preset: its name in the library, or its settings."""


class Tightness(NamedTuple):
    """How small a learned sigma may be for chains to agree.

    On targets without noise sigma falls to its floor. Chains agree up to a `limit` of train rows /
    sigma², and with sigma of at least `least_sigma` in units of the target's sd.
    """

    limit: float
    least_sigma: float

    def floor(self, train_rows: int, most: float) -> float:
        """Compute the floor of a learned sigma; few rows allow a smaller one, up to `most`."""
        return min(most, max(self.least_sigma, round((train_rows / self.limit) ** 0.5, 3)))


class Recipe(NamedTuple):
    """Presets that belong together.

    `layer` has the settings of the network that describe its hidden layer. Sigma is learned by the
    preset `learned`, or above the floor of a tightness.
    """

    layer: Facts
    prior: str
    pretraining: str
    method: str
    precision: Precision
    learned: str | Tightness


PLAIN, SMOOTH, WIDE, COSINES = "plain", "smooth", "wide", "cosines"
RECIPES = {
    COSINES: Recipe(
        *({"width": "infinite"}, "scales_cosines", "mode", "emulated_hmc_cosines", "float64"),
        LEARNED_EXACT,
    ),
    WIDE: Recipe({"width": "infinite"}, "scales", "mode", "emulated_hmc", "float64", LEARNED_LOG),
    SMOOTH: Recipe(
        {"hidden": [128], "output": "marginalised"},
        *("random_features", "scales", "hmc_scales", "float64"),
        Tightness(6e7, 0.002),
    ),
    PLAIN: Recipe(
        {"hidden": [32]}, "fan_in", "adam", "hmc_table", "float32", Tightness(1.25e5, 0.03)
    ),
}
MOST_ROWS_OF_WIDE = 2000
"""Most train rows for which `auto` takes recipes of infinite width, whose time grows with their
third power."""
MOST_INPUTS_OF_COSINES = 3
"""Most inputs for which `auto` takes recipe `cosines`. Its chains agree on ten of eleven smooth
tables of one to three inputs, and on three of five of five inputs, where its bars may be small."""


def recipe_of(name: str) -> str:
    """Return the name of a recipe; `auto` is `plain`, which suits any table and any presets."""
    if name not in (AUTO, *RECIPES):
        raise InputError("fitting.unknown_recipe", name=name, known=[AUTO, *RECIPES])
    return PLAIN if name == AUTO else name


class Choices(NamedTuple):
    """Settings of a run; each preset is given by its name or its settings.

    `auto` stands for the preset of the recipe, for its precision, and as `hidden` of the network
    for its layer. The likelihood `auto` learns sigma above the floor of the recipe for the train
    rows, and above 0.1 with several hidden layers, whose chains mix more slowly. `attempts` lists
    the runs of recipe `auto`, each with a recipe; elsewhere `auto` is `plain`.

    `chains` and `until` replace those of the method, and `noise` that of the evaluation. `together`
    runs all chains in one job. If `train_rows` is below the batch size, the batch has all rows.
    """

    network: Preset
    recipe: str = AUTO
    prior: Preset = AUTO
    likelihood: Preset = AUTO
    pretraining: Preset = AUTO
    method: Preset = AUTO
    chains: int | None = None
    until: Facts | None = None
    noise: str = "auto"
    precision: Precision | Literal["auto"] = "auto"
    seed: int = 1
    together: bool = False
    train_rows: int | None = None


def configure(name: str, dataset: Facts, chosen: Choices) -> Configuration:
    """Make the study of one run: its presets, and a grid that names them.

    Raises InputError if a name belongs to no preset, or to no recipe.
    """
    library = shipped_presets()
    chosen = _by_recipe(library, chosen)
    presets = {kind: _preset(kind, getattr(chosen, kind), library) for kind in CROSSED[1:]}
    changes: Document = {"chains": chosen.chains, "until": chosen.until}
    presets["method"] = _changed(presets["method"], changes)
    batch = presets["pretraining"][1].get("batch")
    if isinstance(batch, int) and chosen.train_rows is not None and batch > chosen.train_rows:
        presets["pretraining"] = _changed(presets["pretraining"], {"batch": "full"})
    named = {"dataset": (name, dict(dataset)), **presets}
    sections = {SECTIONS[kind]: {preset: settings} for kind, (preset, settings) in named.items()}
    own: Document = {} if chosen.noise == "auto" else {"noise": chosen.noise}
    if presets["network"][1].get("width"):
        own["export"] = {"rows": "all"}
    evaluation = OWN if own else "default"
    grid: Document = {kind: preset for kind, (preset, _) in named.items()}
    grid |= {} if evaluation == "default" else {"evaluation": evaluation}
    of_numbers = dataset["target"].get("scale") != CLASSES
    if of_numbers and (chosen.train_rows or math.inf) <= MOST_ROWS_OF_RIVAL:
        sections["rivals"] = {RIVAL: dict(library["rivals"][RIVAL])}
        grid["rivals"] = [RIVAL]
    return {
        **sections,
        "evaluation": {evaluation: override(library["evaluation"].get("default", {}), own)},
        "grids": {GRID: grid},
        "targets": [GRID],
        "seeds": [chosen.seed],
        "precision": chosen.precision,
        "execution": {"chains_per_job": "all" if chosen.together else 1},
    }


def attempts(chosen: Choices, inputs: int) -> list[Choices]:
    """Return the runs that are made in turn until one has converged, each with its recipe.

    Recipe `auto` is `cosines` for up to three inputs, `wide`, `smooth` and `plain`, if it is left
    the choice: no units, activation, preset or single precision are chosen. Otherwise it is one
    run. The first two are for up to 2000 train rows; `fits.fit_best` leaves `cosines` out where
    `wide` explains the rows as well.

    Raises InputError if the network or the recipe has an unknown name.
    """
    _, network = _preset("network", chosen.network, shipped_presets())
    presets = (chosen.recipe, chosen.prior, chosen.likelihood, chosen.pretraining, chosen.method)
    is_open = (
        all(preset == AUTO for preset in presets)
        and chosen.precision != "float32"
        and network.get("hidden") == AUTO
        and network.keys() <= {"hidden", "activation"}
        and network.get("activation", TANH) == TANH
    )
    is_small = (chosen.train_rows or 0) <= MOST_ROWS_OF_WIDE
    is_narrow = is_small and inputs <= MOST_INPUTS_OF_COSINES
    in_turn = [*[COSINES] * is_narrow, *[WIDE] * is_small, SMOOTH, PLAIN]
    names = in_turn if is_open else [recipe_of(chosen.recipe)]
    return [chosen._replace(recipe=name) for name in names]


def _by_recipe(library: Facts, chosen: Choices) -> Choices:
    """Replace `auto` by the presets of the recipe."""
    recipe = RECIPES[recipe_of(chosen.recipe)]
    chosen = chosen._replace(network=_network(library, chosen, recipe))
    if chosen.likelihood == AUTO:
        chosen = chosen._replace(likelihood=_learned(library, chosen, recipe))
    names = ("prior", "pretraining", "method", "precision")
    left = {name: getattr(recipe, name) for name in names if getattr(chosen, name) == AUTO}
    return chosen._replace(**left)


def _network(library: Facts, chosen: Choices, recipe: Recipe) -> Preset:
    """Give the network the layer of the recipe, where it leaves it open."""
    _, network = _preset("network", chosen.network, library)
    own = dict(recipe.layer)
    if "width" in own and network.get("activation", TANH) == TANH:
        own["activation"] = "erf"  # nearly tanh, with a closed covariance
    if network.get("hidden") != AUTO:
        own.pop("hidden", None)
    elif "width" in own:
        network.pop("hidden")
    return {**network, **own} if own else chosen.network


def _learned(library: Facts, chosen: Choices, recipe: Recipe) -> Preset:
    """Choose the preset that learns sigma; few rows and one hidden layer allow a smaller floor."""
    if isinstance(recipe.learned, str):
        return recipe.learned
    settings = library[SECTIONS["likelihood"]][LEARNED]
    _, network = _preset("network", chosen.network, library)
    if chosen.train_rows is None or len(network.get("hidden", ())) != 1:
        return LEARNED
    floor = recipe.learned.floor(chosen.train_rows, settings["floor"])
    return LEARNED if floor == settings["floor"] else {**settings, "floor": floor}


def _preset(kind: str, chosen: Preset, library: Facts) -> tuple[str, Document]:
    if isinstance(chosen, Mapping):
        return OWN, _plain(chosen)
    known = library.get(SECTIONS[kind], {})
    if chosen not in known:
        raise InputError("study.unknown_preset", where=kind, name=chosen, known=sorted(known))
    return chosen, dict(known[chosen])


def _changed(preset: tuple[str, Document], changes: Facts) -> tuple[str, Document]:
    """Change settings of a preset, which then has the name `own`."""
    given = {key: _plain(value) for key, value in changes.items() if value is not None}
    return (OWN, override(preset[1], given)) if given else preset


def _plain(value: Any) -> Any:
    """Convert mappings and tuples to dictionaries and lists, which YAML can write."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def plan_of(configuration: Configuration) -> tuple[dict[str, Rival], RunSpec]:
    """Return the rivals and the run of a study, with the errors of a configuration of Snakemake."""
    study = load_study(configuration)
    return {name: study.rivals[name] for name in study.grids[GRID].rivals}, next(study.runs(GRID))


def by_snakemake(study: Path) -> str:
    """Return the command that runs a study from its folder with the workflow of a checkout."""
    return f"snakemake --snakefile CHECKOUT/Snakefile --configfile {study}"


def in_yaml(configuration: Configuration, comment: str) -> str:
    """Write a study as readable YAML, after a comment."""
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    return head + yaml.safe_dump(configuration, sort_keys=False, default_flow_style=None, width=100)


def name_of_dataset(table: Path) -> str:
    """Name a dataset after its table, with the characters that such a name may have.

    A name that is also the name of a folder of results gets the ending `_table`.
    """
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", table.name.split(".")[0]).strip("_-")
    if stem.lower() in TAKEN["datasets"]:
        return f"{stem}_table"
    return stem if NAME.fullmatch(stem) else "table"


def without_climbing(table: Path) -> Path:
    """Return a path without `..`, which studies refuse: below this folder, or absolute."""
    if ".." not in table.parts:
        return table
    whole, here = table.resolve(), Path.cwd().resolve()
    return whole.relative_to(here) if whole.is_relative_to(here) else whole
