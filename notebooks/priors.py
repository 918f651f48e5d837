# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     name: python3
#     display_name: Python 3
#     language: python
# ---

# %% [markdown]
# # Compare priors
#
# Which functions a prior allows before the data, and what is left of it afterwards. It takes a
# minute on two cores, and needs `pip install 'nlobayes[train]'` or a checkout. Measurements on
# several tables are in [priors and likelihoods](../docs/studies/priors_likelihoods.md).

# %%
import logging
import warnings

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm

from nlobayes import BayesianNetworkRegressor

logging.getLogger("pymc").setLevel(logging.WARNING)  # no lines of progress
rng = np.random.default_rng(1)
X = np.sort(rng.uniform(-2, 2, size=(120, 1)), axis=0)
y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=120)
PRIORS = {"fan_in": "#0072B2", "student_t": "#009E73", "gaussian": "#D55E00"}

# %% [markdown]
# ## Fit with each
#
# `fan_in` has weights of sd 1 over the root of the inputs of a unit, `student_t` heavy tails of the
# same spread, and `gaussian` an sd of 1 whatever the width.

# %%
method = {
    "kernel": {"kind": "hmc", "integration_steps": 64, "jitter": 0.2},
    "warmup": {"steps": 400},
    "draws_per_segment": 800,
    "thin": 4,
    "segments": 1,
}
runs = {}
for prior in PRIORS:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs[prior] = BayesianNetworkRegressor(
            16, prior=prior, likelihood="learned", method=method, together=True
        ).fit(X, y)
    found = runs[prior].diagnostics_
    print(f"{prior:10} R-hat of f {found['rhat_f']:.3f}, divergences {found['divergences']}")

# %% [markdown]
# ## Before the data
#
# Functions that each prior draws, with the data in units of their sd. A prior suits the data if
# sizes and slopes are alike. `pymc_model_` has the prior of a run.


# %%
def prior_draws(model: pm.Model, features: np.ndarray, count: int) -> np.ndarray:
    """Draw networks of one hidden layer from the prior: f (row, draw)."""
    names = ("weights_1", "biases_1", "weights_2", "biases_2")
    drawn = pm.draw([model[name] for name in names], count, random_seed=1)
    networks = zip(*drawn, strict=True)
    return np.hstack([np.tanh(features @ w1 + b1) @ w2 + b2 for w1, b1, w2, b2 in networks])


def panels() -> tuple[plt.Figure, np.ndarray]:
    """Begin a figure with a panel for each prior."""
    figure, axes = plt.subplots(1, len(PRIORS), figsize=(9, 3), sharex=True, sharey=True)
    for each, prior in zip(axes, PRIORS, strict=True):
        each.set(title=prior, xlabel="x", ylim=(-4, 4))
    axes[0].set_ylabel("y / sd")
    return figure, axes


x, standardised = X[:, 0], (y - y.mean()) / y.std()
figure, axes = panels()
for each, (prior, color) in zip(axes, PRIORS.items(), strict=True):
    each.plot(x, prior_draws(runs[prior].pymc_model_, X / X.std(), 15), color=color, lw=0.8)
    each.plot(x, standardised, "k.", ms=2)
figure.tight_layout()

# %% [markdown]
# ## After the data
#
# 95 % intervals of predictions. Where there are rows, priors hardly differ; beyond the rows, on
# both sides, they do.

# %%
grid = np.linspace(-3, 3, 120)
figure, axes = panels()
for each, (prior, color) in zip(axes, PRIORS.items(), strict=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these points are outside on purpose
        ends = runs[prior].predict(grid[:, None], return_std=True, quantiles=(0.025, 0.975))[2]
    each.fill_between(grid, *((ends - y.mean()) / y.std()), color=color, alpha=0.3, lw=0)
    each.plot(x, standardised, "k.", ms=2)
figure.tight_layout()

# %% [markdown]
# ## Which predicts best?
#
# The leave-one-out score of each (`elpd`), with the standard error of its difference to the best
# (`dse`). Differences within two of these may be chance.

# %%
az.compare({prior: run.idata_ for prior, run in runs.items()})
