"""The tables that other commands write are those that the figures need."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.artifacts.files import write_csv
from nlobayes.commands.pipeline.diagnose import diagnose
from nlobayes.commands.pipeline.evaluate import evaluate
from nlobayes.commands.pipeline.plot import plot
from nlobayes.commands.pipeline.tabulate import tabulate
from nlobayes.commands.pipeline.tabulate_chains import tabulate_chains
from nlobayes.commands.pipeline.thin import thin
from nlobayes.figures import FigureKind, names_of
from nlobayes.types import Dataset
from tests.refusals import refused

DIAGNOSE = json.dumps(
    {
        "likelihood": {"kind": "gaussian", "sigma": 0.1},
        "kernel": {"kind": "hmc"},
        "thresholds": {},
        "thinning_loss": 0.1,
    }
)
TABULATE_CHAINS = '{"covariate": "m1"}'
TABULATE = '{"covariate": "m1", "calibration": {}, "seed": 1}'
EVALUATE = '{"noise": "gaussian", "calibration": {}, "covariate": "m1", "seed": 1}'
SOME = ["trace", "pulls", *names_of(FigureKind.KNOWN_SCALE)]
"""The others are drawn by tests/workflow/test_results.py."""
SIGNATURES = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml"}


@pytest.fixture(scope="module")
def tables(
    run: Any,
    make_predictions: Callable[..., tuple[Path, Path]],
    dataset: Dataset,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Tables that `tabulate` and `thin` wrote."""
    folder = tmp_path_factory.mktemp("plot")
    diagnostics, scored, written = folder / "d.json", folder / "e.json", folder / "tables"
    diagnose(DIAGNOSE, run.posterior, diagnostics)
    thin(run.posterior, diagnostics, run.dataset, folder / "thin.nc", written / "thinning.csv")
    known = dataset._replace(scale_uncertainty=np.full(len(dataset.observed), 0.1))
    predictions, path = make_predictions(folder, known)
    evaluate(EVALUATE, predictions, path, scored)
    tabulate(TABULATE, diagnostics, predictions, scored, path, run.starts, written)
    tabulate_chains(TABULATE_CHAINS, run.posterior, path, written)
    return written


def test_figures_of_a_run_are_drawn_in_both_formats(tables: Path, tmp_path: Path) -> None:
    plot(tables, tmp_path / "figures", SOME)
    found = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert found == sorted(f"{name}{kind}" for name in SOME for kind in SIGNATURES)
    for path in (tmp_path / "figures").iterdir():
        assert path.read_bytes().startswith(SIGNATURES[path.suffix])


@pytest.mark.parametrize(
    ("content", "code", "name"),
    [
        (None, "artifacts.not_csv", "path"),
        ("", "artifacts.not_csv", "path"),
        ("chain,draw\n0,1\n", "plots.no_column", "table"),
    ],
)
def test_a_table_that_is_missing_or_lacks_columns_is_refused(
    tables: Path, tmp_path: Path, content: str | None, code: str, name: str
) -> None:
    copied = Path(shutil.copytree(tables, tmp_path / "tables"))
    path = copied / "trace.csv"
    path.unlink()
    if content is not None:
        path.write_text(content)
    with refused(code, **{name: path if name == "path" else "trace"}):
        plot(copied, tmp_path / "figures", ["trace"])
    assert not (tmp_path / "figures").exists()


def test_the_run_and_failed_verdicts_are_written_on_every_figure(
    tables: Path, tmp_path: Path
) -> None:
    """Warnings of convergence and of calibration appear where these failed."""
    warnings = {"NOT CONVERGED: R-hat of f", "CALIBRATION FAILED: R-hat of f"}
    bad, good = tmp_path / "bad.csv", tmp_path / "good.csv"
    for path in (bad, good):
        checks = {"check": ["rhat_f", "divergences"], "passed": [path == good, True]}
        write_csv(path, checks)
    for verdict, calibration, count in ((bad, bad, 2), (good, bad, 1), (None, None, 0)):
        out = tmp_path / "out"
        plot(tables, out, ["pulls", "coverage"], verdict, calibration, name="run a/s1")
        for each in ("pulls", "coverage"):
            svg = (tmp_path / "out" / f"{each}.svg").read_text()
            assert sum(words in svg for words in warnings) == count
            assert "run a/s1" in svg
