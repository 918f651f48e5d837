"""A new family of predictive noise is one new file: the settings know it, a fit finds it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nlobayes

FILE = '''
"""Laplace about every draw."""

from nlobayes.distributions.laws.laplace import Laplace
from nlobayes.evaluation.predictive.fitted import FittedNoise
from nlobayes.evaluation.predictive.scale_search import fit_scale

ABOUT_MEAN = False


def fit(points):
    """Fit the scale."""
    return FittedNoise("laplace", fit_scale(points, Laplace).scale, None)


def law(fitted, scale, bins):
    """Give the Laplace distribution of a scale."""
    return Laplace(scale)
'''
PROGRAM = """
import numpy as np

from nlobayes import code_digest
from nlobayes.evaluation.predictive.density import log_predictive_density, predictive_quantiles
from nlobayes.evaluation.predictive.noise_fit import at_points, fit_noise, standard_law
from nlobayes.study.presets import (Evaluation)

assert Evaluation(noise="laplace").noise == "laplace"
residual = np.random.default_rng(1).laplace(scale=0.3, size=1000)
draws = np.zeros((2, 1000))
fitted = fit_noise(draws, residual, family="laplace")
assert abs(fitted.scale / np.abs(residual).mean() - 1) < 1e-3, fitted
noise = at_points(fitted, draws)
assert np.isfinite(log_predictive_density(draws, residual, noise)).all()
low, high = predictive_quantiles(draws, noise, [0.16, 0.84])
assert 0.6 < np.mean((low < residual) & (residual < high)) < 0.76
assert len(standard_law(fitted).table()) == 2
name = "nlobayes.evaluation.predictive.noises.laplace"
assert name in code_digest.modules_of("nlobayes.commands.pipeline.evaluate", {})
print("known")
"""


def test_one_file_is_a_family_of_noise(tmp_path: Path) -> None:
    source = Path(nlobayes.__file__).parent
    ignore = shutil.ignore_patterns("__pycache__", "web", "plots")
    copied = Path(shutil.copytree(source, tmp_path / "nlobayes", ignore=ignore))
    new = copied / "evaluation/predictive/noises/laplace.py"
    assert not new.exists()
    new.write_text(FILE)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
    )
    assert done.stdout.strip() == "known", done.stderr
