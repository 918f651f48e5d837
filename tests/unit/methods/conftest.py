"""A network without hidden layers, whose posterior is known, and what a Gaussian is."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes import builder
from nlobayes.inference.gaussians import Gaussian
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset
from tests.unit.commands.linear import MODEL


class Exact(NamedTuple):
    """Mean and precision of a Gaussian posterior's positions, and the log evidence."""

    mean: np.ndarray
    precision: np.ndarray
    log_evidence: float


def solve(model: builder.Model) -> Exact:
    """Solve a model whose log density is quadratic."""
    density, zero = model.logdensity_fn, jnp.zeros(model.density.size)
    precision = -np.asarray(jax.jit(jax.hessian(density))(zero))
    mean = np.linalg.solve(precision, jax.jit(jax.grad(density))(zero))
    size, determinant = len(mean), np.linalg.slogdet(precision)[1]
    top = float(density(jnp.asarray(mean)))
    return Exact(mean, precision, top + (size * np.log(2 * np.pi) - determinant) / 2)


def covariance_of(about: Gaussian) -> np.ndarray:
    root = jax.jit(jax.vmap(about.spread))(jnp.eye(about.mean.size))
    return np.asarray(root.T @ root)


@pytest.fixture(scope="module")
def model(dataset: Dataset) -> builder.Model:
    return builder.build_model(ModelJob.model_validate(MODEL), dataset)


@pytest.fixture(scope="module")
def exact(model: builder.Model) -> Exact:
    return solve(model)
