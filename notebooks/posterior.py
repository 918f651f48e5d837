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
# # ArviZ and PyMC on a posterior
#
# The draws of a fit in ArviZ, and the same model sampled by PyMC's NUTS. It takes a minute on two
# cores, and needs `pip install 'nlobayes[train]'` or a checkout. Runs of the workflow have
# the same objects: [ArviZ and PyMC](../docs/arviz.md).

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
X = rng.uniform(-2, 2, size=(150, 1))
y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=150)

# %% [markdown]
# ## Fit
#
# One layer of eight units whose weights are all sampled, and a learned noise.

# %%
method = {
    "kernel": {"kind": "hmc", "integration_steps": 64, "jitter": 0.2},
    "warmup": {"steps": 500},
    "draws_per_segment": 1000,
    "thin": 4,
    "segments": 1,
}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # 22 rows are too few to test error bars
    regressor = BayesianNetworkRegressor(8, likelihood="learned", method=method, together=True)
    regressor.fit(X, y)
print("converged:", regressor.diagnostics_["converged"])

# %% [markdown]
# ## Groups
#
# `idata_` is a DataTree. Weights are of every fourth draw, f at reference points and stats of every
# draw.

# %%
draws = regressor.idata_
for name, group in draws.children.items():
    print(f"{name:26}", dict(group.sizes))

# %% [markdown]
# ## Convergence
#
# Networks with permuted units are the same function, so weights are not compared: f and the noise
# are.

# %%
points = {"reference_point": draws.predictions.reference_point[:4]}
az.summary(draws, group="predictions", coords=points)

# %%
az.plot_trace_dist(draws, var_names=["noise"])
plt.show()

# %%
az.plot_rank(draws, group="predictions", coords=points)
plt.show()

# %% [markdown]
# ## Does the model fit?
#
# Replicates of the data against the data, the leave-one-out score, and the probability integral
# transform of each row. Its p is small if the curve is not that of a uniform distribution, and the
# rows that cause it are black.

# %%
az.plot_ppc_dist(draws, num_samples=50)
plt.show()

# %%
az.plot_loo_pit(draws, var_names=["target"])
plt.show()
az.loo(draws)

# %% [markdown]
# ## The same model in PyMC
#
# `pymc_model_` is the model with its data. PyMC's NUTS samples it on its own.

# %%
with regressor.pymc_model_:
    by_pymc = pm.sample(draws=500, tune=500, chains=2, random_seed=1, progressbar=False)

# %% [markdown]
# The noise is a parameter of both, with the same meaning in all modes of the weights.

# %%
figure, axes = plt.subplots(figsize=(6.5, 3))
bins = np.linspace(0.2, 0.45, 40)
for name, found, color in (("nlobayes", draws, "#0072B2"), ("PyMC", by_pymc, "#D55E00")):
    noise = found.posterior["noise"].to_numpy().ravel()
    axes.hist(noise, bins, density=True, histtype="step", color=color, label=name)
    error = az.mcse(found, var_names=["noise"])["noise"].item()
    print(f"{name:9} noise {noise.mean():.4f} +- {error:.4f}")
axes.set(xlabel="sd of the noise / sd of the target", ylabel="density")
axes.legend(frameon=False)
figure.tight_layout()
