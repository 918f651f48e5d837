"""What `benchmarks/outside_rivals.py` makes of other environments, played by a script."""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import outside_rivals
from nlobayes.data.splits import TEST
from nlobayes.types import Dataset

PLAYED = """\
#!{python}
import json, sys
import numpy as np

problem, told, drawn = sys.argv[3:]
rows, settings = np.load(problem), json.load(open(told))
assert settings["seed"] == 7
points = len(rows["points"])
centres = np.random.default_rng(settings["seed"]).normal(size=(2, 20, points))
np.savez(drawn, centres=centres, sd=0.5, cpu_seconds=1.5, predict_seconds=0.1, peak_mib=900.0,
         version="bde 0")
"""
Interpreter = Any


@pytest.fixture
def interpreter(tmp_path: Path) -> Interpreter:
    """Write an executable file that plays an interpreter, and give it as the command line does."""

    def write(text: str) -> argparse.Namespace:
        path = tmp_path / "python"
        path.write_text(text.format(python=sys.executable))
        path.chmod(0o755)
        return argparse.Namespace(bde=path, numpyro=None, devices=1)

    return write


def test_what_another_environment_draws_fills_every_column(
    interpreter: Interpreter, dataset: Dataset
) -> None:
    """Two chains of noise agree; their draws are on the model scale, and so is their sd."""
    found = outside_rivals.fit(dataset, "bde_default", 7, interpreter(PLAYED))
    assert found is not None
    target = dataset.transforms["target"]
    assert found.draws.shape == (40, len(dataset.split))
    assert found.draws.mean() == pytest.approx(target["mean"], abs=0.1 * target["sd"])
    np.testing.assert_allclose(found.sd, 0.5 * target["sd"])
    fitted = outside_rivals.with_fitted_bars(dataset, found)
    row = outside_rivals.score(dataset, found) | fitted.scores
    assert {*row} == {*outside_rivals.COLUMNS, "version"} - {"dataset", "rival", "seed"}
    test = dataset.split == TEST
    error = found.draws.mean(axis=0) - np.log10(dataset.observed)
    assert row["RMSE"] == pytest.approx(np.sqrt(np.mean(error[test] ** 2)))
    assert fitted.per_row["log score"].mean() == pytest.approx(row["log score"])
    assert row["R-hat, 50 %"] == pytest.approx(1, abs=0.1)
    assert (row["CPU s"], row["MiB"]) == (1.5, 900)


def test_a_failed_fit_and_a_missing_interpreter_are_reported(
    interpreter: Interpreter, dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = interpreter("#!/bin/sh\necho 'ImportError: no bde' >&2\nexit 1\n")
    assert outside_rivals.fit(dataset, "bde_default", 7, failing) is None
    assert capsys.readouterr().err == "bde_default failed: ImportError: no bde\n"
    assert outside_rivals.fit(dataset, "numpyro_nuts", 7, failing) is None
    assert "--numpyro needs an interpreter with numpyro==" in capsys.readouterr().err
