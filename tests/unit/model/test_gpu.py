"""On a GPU the log density keeps enough digits for the energy of HMC; skipped without one."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from nlobayes import runtime
precision, device = sys.argv[1:]
runtime.configure(precision, device)
try:
    runtime.choose_device(device)
except Exception as error:
    sys.exit(str(error))
import jax, numpy as np
from nlobayes import builder
from nlobayes.study.network import Network
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset
from nlobayes.likelihoods.gaussian import GaussianLikelihood
from nlobayes.priors.independent import FanInPrior

rng = np.random.default_rng(0)
x, y = rng.normal(size=(3000, 5)), rng.normal(size=3000)
names = tuple("abcde")
target = {"target": {"scale": "identity", "mean": 0.0, "sd": 1.0}}
rows = np.zeros(3000, int), np.arange(5)
dataset = Dataset(x, x, y, y, *rows, names, names, ("y",), target, {})
found = []
for hidden in ((20, 20), (256,)):
    model = builder.build_model(
        ModelJob(
            network=Network(hidden=hidden),
            prior=FanInPrior(kind="fan_in"),
            likelihood=GaussianLikelihood(kind="gaussian", sigma=0.1),
            precision=precision,
            device=device,
        ),
        dataset,
    )
    position = np.random.default_rng(1).normal(size=model.density.size)
    found.append(float(jax.jit(model.logdensity_fn)(position.astype(precision))))
print(json.dumps(found))
"""


def log_densities(precision: str, device: str) -> list[float] | None:
    """The log density of two networks in a separate process; None if the device is missing."""
    environment = {name: value for name, value in os.environ.items() if name != "JAX_PLATFORMS"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, precision, device],
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode and "execution.device" in done.stderr:
        return None
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


@pytest.mark.parametrize("device", [pytest.param("cpu", marks=pytest.mark.slow), "gpu"])
def test_single_precision_keeps_five_digits_of_the_log_density(device: str) -> None:
    single = log_densities("float32", device)
    if single is None:
        pytest.skip("JAX finds no GPU on this machine")
    assert single == pytest.approx(log_densities("float64", "cpu"), rel=1e-5)
