"""The tables that the other verbs write are the tables that the figures need."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nlobayes.errors import InputError
from nlobayes.plots.registry import FIGURES
from nlobayes.types import Dataset
from nlobayes.verbs.diagnose import diagnose
from nlobayes.verbs.evaluate import evaluate
from nlobayes.verbs.plot import plot

DIAGNOSE = json.dumps(
    {
        "likelihood": {"kind": "tolerance", "sigma": 0.1},
        "kernel": {"kind": "hmc"},
        "keep_every": 4,
        "thresholds": {},
    }
)
SIGNATURES = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml"}


@pytest.fixture(scope="module")
def tables(
    run: Any,
    make_predictions: Callable[..., tuple[Path, Path]],
    dataset: Dataset,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Tables as `diagnose` and `evaluate` leave them."""
    folder = tmp_path_factory.mktemp("plot")
    diagnose(DIAGNOSE, run.posterior, run.starts, folder / "d.json", folder / "tables")
    predictions, path = make_predictions(folder, dataset)
    spec = '{"noise": "gaussian", "seed": 1}'
    evaluate(spec, predictions, path, folder / "e.json", folder / "tables")
    return folder / "tables"


def test_every_figure_is_drawn_in_both_formats(tables: Path, tmp_path: Path) -> None:
    plot(tables, tmp_path / "figures")
    found = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert found == sorted(f"{name}{kind}" for name in FIGURES for kind in SIGNATURES)
    for path in (tmp_path / "figures").iterdir():
        assert path.read_bytes().startswith(SIGNATURES[path.suffix])


@pytest.mark.parametrize("content", [None, "", "chain,draw\n0,1\n"])
def test_a_table_that_is_missing_or_lacks_columns_is_refused(
    tables: Path, tmp_path: Path, content: str | None
) -> None:
    copied = Path(shutil.copytree(tables, tmp_path / "tables"))
    (copied / "trace.csv").unlink()
    if content is not None:
        (copied / "trace.csv").write_text(content)
    with pytest.raises(InputError, match="trace"):
        plot(copied, tmp_path / "figures")
    assert not (tmp_path / "figures").exists()
