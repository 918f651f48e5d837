"""Time surrogates of the thesis' five networks: cold process, load, 1, 256 and 4096 points.

    python -m benchmarks.surrogate --tfp env_tfp/bin/python

1000 draws each. `predict` gives sds and quantiles; `numpy`, `jax`, `plain_jax` and `tfp` compute
every draw at every point. `products` are the products of matrices alone, compiled by XLA: the
least that any implementation pays.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from nlobayes.artifacts.contents import write_surrogate
from nlobayes.data.transforms import apply_features, fit_features
from nlobayes.distributions.laws.gaussian import Gaussian
from nlobayes.model.networks import Network
from nlobayes.surrogate.domain import fit_domain
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.train_ranges import fit_limits
from nlobayes.types import Dataset, NoiseTable, SurrogateContent

DRAWS, POINTS, REPEATS = 1000, (1, 256, 4096), 7
NETWORKS = [(5, *([50] * depth), 1) for depth in range(1, 6)]
COLUMNS = ("m1", "n11", "n12", "n13", "n14")
COLD = (
    "import nlobayes; nlobayes.Surrogate.load({path!r}, {engine!r})"
    ".predict([[200.0, 0.1, 0.2, 0.8, 0.5]])"
)
TFP = Path(__file__).parent / "baselines/tfp_surrogate.py"


def points(count: int) -> np.ndarray:
    """Draw neutralinos: masses in GeV and rows of mixings of length one."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(count, 4))
    mixing /= np.linalg.norm(mixing, axis=1, keepdims=True)
    return np.column_stack([rng.uniform(50, 900, count), mixing])


def make_file(sizes: tuple[int, ...], path: Path) -> None:
    """Write a surrogate of random weights."""
    rng, rows = np.random.default_rng(1), points(2000)
    drawn = {}
    for layer, (into, out) in enumerate(pairwise(sizes), 1):
        drawn[f"weights_{layer}"] = rng.normal(size=(DRAWS, into, out)) / np.sqrt(into)
        drawn[f"biases_{layer}"] = rng.normal(size=(DRAWS, out))
    variables = {name: values.astype(np.float32) for name, values in drawn.items()}
    features = fit_features("invariants", rows, np.ones(len(rows), bool), standardise=True)
    train = apply_features(features, rows).astype(np.float32)
    domain = fit_domain(train, train[:200] + 0.1)
    constants = {"mean": features.mean.tolist(), "scale": features.scale.tolist()}
    units = {"m1": "GeV", **dict.fromkeys(COLUMNS[1:], "1"), "sigma_pb": "pb"}
    limits = fit_limits(rows, COLUMNS, units)
    facts = {
        "activation": "tanh",
        "columns": list(COLUMNS),
        "target": "sigma_pb",
        "units": units,
        "transforms": {
            "features": {"map": "invariants", **constants},
            "target": {"scale": "log10", "mean": -2.0, "sd": 1.0},
        },
        "noise": {
            **{"about": "draws", "scale": 0.01, "exponent": 0.0, "reference_sd": 1.0},
            **{"knots": [], "coefficients": [], "spread_range": [], "scale_range": []},
            **{"column": 0, "edges": [], "sd_per_scale": [1.0]},
        },
        "domain": {"inside": domain.inside, "edge": domain.edge, "limits": limits},
        "verdict": {"converged": True},
        "bibtex": "",
    }
    noises = (NoiseTable(*Gaussian(1.0).table()),)
    bounds = np.array([limits.pop(name) for name in COLUMNS])
    exported = SurrogateContent(variables, train, domain.spacing, bounds, rows[0], noises, facts)
    nothing = np.zeros(0)
    labels = Dataset(
        inputs=nothing,
        features=nothing,
        target=nothing,
        observed=nothing,
        split=nothing,
        reference=nothing,
        input_names=COLUMNS,
        feature_names=tuple(f"feature_{i}" for i in range(5)),
        target_names=("sigma_pb",),
        transforms={},
        units=units,
    )
    write_surrogate(path, exported, labels, {})


def best_ms(call: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Give the least milliseconds of several calls, after one that compiles."""
    call()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return 1e3 * min(times)


def compiled(network: Network, variables: dict[str, np.ndarray], activate: bool) -> Any:
    """Write the evaluation in plain JAX, with or without all but the products."""
    import jax
    import jax.numpy as jnp

    layers = range(1, len(network.sizes))
    draws = [
        (jnp.asarray(variables[f"weights_{i}"]), jnp.asarray(variables[f"biases_{i}"]))
        for i in layers
    ]

    @jax.jit
    def evaluate(x: jax.Array) -> jax.Array:
        def one(draw: Any) -> jax.Array:
            hidden = x
            for index, (weights, biases) in enumerate(draw):
                hidden = hidden @ weights
                if activate:
                    hidden = hidden + biases
                    hidden = jnp.tanh(hidden) if index < len(draw) - 1 else hidden
            return hidden[:, 0]

        return jax.lax.map(one, draws, batch_size=16)

    return lambda x: np.asarray(evaluate(jnp.asarray(x, jnp.float32)))


def time_network(sizes: tuple[int, ...], path: Path) -> dict[str, float]:
    """Time one network in every way."""
    on_numpy, on_jax = Surrogate.load(path), Surrogate.load(path, "jax")
    variables = {name: values for name, values in vars(on_numpy)["_evaluate"].args[1].items()}
    network = Network(sizes, "tanh")
    plain, products = (compiled(network, variables, activate) for activate in (True, False))
    row = {"parameters": sum(v[0].size for v in variables.values())}
    row |= {"file_MB": path.stat().st_size / 1e6, "load_ms": best_ms(partial(Surrogate.load, path))}
    for count in POINTS:
        x = points(count)
        features = np.zeros((count, 5), np.float32) + 0.1
        ways: dict[str, Callable[[], Any]] = {
            "predict_numpy": partial(on_numpy.predict, x),
            "numpy": partial(on_numpy.sample, x, noise=False, on="model"),
            "predict_jax": partial(on_jax.predict, x),
            "jax": partial(on_jax.sample, x, noise=False, on="model"),
            "plain_jax": partial(plain, features),
            "products": partial(products, features),
        }
        row |= {f"{way}_{count}_ms": best_ms(call) for way, call in ways.items()}
    return row


def cold_seconds(path: Path, engine: str) -> float:
    """Time a process from its start to its first prediction: the least of five."""
    command = [sys.executable, "-c", COLD.format(path=str(path), engine=engine)]
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        subprocess.run(command, check=True)
        times.append(time.perf_counter() - begin)
    return min(times)


def main() -> None:
    """Print a row per network."""
    parser = argparse.ArgumentParser(description="Time surrogates of 1000 draws.")
    parser.add_argument("--tfp", metavar="PYTHON", help="interpreter that has tensorflow")
    given = parser.parse_args()
    for sizes in NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "surrogate.nc"
            make_file(sizes, path)
            row = time_network(sizes, path)
            row |= {f"cold_{engine}_s": cold_seconds(path, engine) for engine in ("numpy", "jax")}
        if given.tfp:
            done = subprocess.run(
                [given.tfp, TFP, json.dumps(sizes)], capture_output=True, text=True, check=True
            )
            row |= json.loads(done.stdout.splitlines()[-1])
        print("-".join(map(str, sizes)), {name: float(f"{v:.3g}") for name, v in row.items()})


if __name__ == "__main__":
    main()
