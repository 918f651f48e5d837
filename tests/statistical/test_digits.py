"""Handwritten digits, learned by the network of equal size at least as well as published.

Reference: Berezowski's reversible-jump network on OptDigits, 92.6 % of 2000 test rows right after
500 train rows, its most frequent width 55. Here the width is fixed, on scikit-learn's copy of 1797
rows.
"""

import math
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes import builder
from nlobayes.data.dataset_of_table import Choices, make_dataset
from nlobayes.data.selection import Selection
from nlobayes.data.splits import TEST, Split
from nlobayes.diagnostics.convergence import rhat
from nlobayes.evaluation.scores.classification.classes import classification_scores, predict_classes
from nlobayes.inference import sampling
from nlobayes.inference.adaptation import Untuned
from nlobayes.inference.kernel import Posterior
from nlobayes.inference.warmup import adapt
from nlobayes.methods.mcmc import MCMC
from nlobayes.study.jobs import ModelJob
from nlobayes.study.yaml_files import read_study
from nlobayes.types import Dataset

pytestmark = pytest.mark.statistical

STUDY = Path(__file__).parents[2] / "config/studies/optdigits.yaml"
ACCURACY = 0.926
CHAINS, WARMUP, DRAWS, THIN = 2, 100, 120, 4


@pytest.fixture(scope="module")
def digits() -> Dataset:
    """500 train rows, 97 validation rows and 1200 test rows."""
    reason = "scikit-learn, which brings the digits, is not installed"
    loaded: Any = pytest.importorskip("sklearn.datasets", reason=reason).load_digits()
    names = [f"pixel_{number}" for number in range(64) if number % 8 not in (0, 7)]
    pixels = loaded.data.reshape(-1, 8, 8)[:, :, 1:7].reshape(-1, 48).astype(np.float64)
    selection = Selection(pixels, loaded.target.astype(np.float64), {})
    choices = Choices("raw", True, "classes", True, Split(500, 97, 1200, True, 0), 100)
    return make_dataset(selection, names, ("digit",), choices)


def drawn(digits: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Draw from the posterior of the study, starting at the prior.

    Give the logits at the reference points (chain, draw, quantity) and the probabilities of the
    test rows (draw, point, class).
    """
    study = read_study(STUDY)
    job = ModelJob.model_validate(
        {
            "network": study["networks"]["n55"],
            "prior": {"kind": "fan_in", "scale": 2.0},
            "likelihood": study["likelihoods"]["digits"],
            "precision": "float32",
        }
    )
    sampler = MCMC.model_validate(study["methods"]["hmc_digits"])
    model = builder.build_model(job, digits)
    kernel = sampler.kernel.build(Posterior(model.logdensity_fn))
    warmup = sampler.warmup.model_copy(update={"steps": WARMUP})
    adaptation = warmup.build(Untuned(kernel, sampler.kernel))
    starts = [builder.draw_start(model, "prior", seed=1, chain=chain) for chain in range(CHAINS)]
    keys = {stage: builder.chain_keys(1, stage, range(CHAINS)) for stage in ("warmup", "draw")}
    observe, predict = builder.observer(model, digits), builder.predict_with(model)
    features = jnp.asarray(digits.features[digits.split == TEST], model.density.dtype)

    @jax.jit
    def run(positions: jax.Array) -> sampling.Draws:
        carry = adaptation.start(positions)
        carry, _, _ = adapt(keys["warmup"], adaptation, carry, first=0, steps=WARMUP)
        kept: dict[str, Any] = {"first": 0, "kept": DRAWS // THIN, "thin": THIN}
        finished = adaptation.finish(carry)
        return sampling.draw(keys["draw"], kernel, *finished, observe=observe, **kept)[1]

    draws = run(jnp.stack(starts))
    likelihood: Any = model.likelihood
    positions = draws.kept.reshape(-1, model.density.size)
    probabilities = jax.lax.map(
        lambda position: likelihood.probabilities(predict(position, features), jnp), positions
    )
    logits = np.asarray(draws.observed["f"]).reshape(CHAINS, DRAWS, -1)
    return logits, np.asarray(probabilities)


@pytest.mark.slow
def test_digits_are_told_apart_as_well_as_published(digits: Dataset) -> None:
    """Beyond twice the binomial error, by chains that started apart and agree."""
    logits, probabilities = drawn(digits)
    labels = digits.target[digits.split == TEST]
    scores = classification_scores(predict_classes(probabilities), labels)
    error = math.sqrt(ACCURACY * (1 - ACCURACY) / len(labels))
    assert np.median(rhat(logits)) < 1.02
    assert float(scores["accuracy"]) > ACCURACY + 2 * error
