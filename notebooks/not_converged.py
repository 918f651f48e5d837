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
# # Chains that do not converge
#
# What a failed check looks like, how to tell slow chains from chains in different modes, and what
# helps. It takes two minutes on two cores, and needs `pip install 'nlobayes[train]'` or a
# checkout. The page [when chains do not converge](../docs/not_converged.md) has all steps.

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

from nlobayes import BayesianNetworkRegressor

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
rng = np.random.default_rng(3)
X = rng.uniform(-2, 2, size=(200, 1))
y = np.sin(3 * X[:, 0]) + 0.3 * X[:, 0] + 0.01 * rng.normal(size=200)

# %% [markdown]
# ## A fit that fails
#
# Eight units, and a tolerance of 0.01 sd of the target. The warning names the failed checks, and
# the next steps.


# %%
def fitted(sigma: float, segments: int, **more: object) -> BayesianNetworkRegressor:
    """Fit with a fixed tolerance, and with segments of 200 draws in each of four chains."""
    method = {
        "kernel": {"kind": "hmc", "integration_steps": 64, "jitter": 0.2},
        "warmup": {"steps": 300, "target_acceptance": 0.9},
        "draws_per_segment": 200,
        "thin": 2,
        "segments": segments,
    }
    likelihood = {"kind": "gaussian", "sigma": sigma}
    return BayesianNetworkRegressor(8, method=method, likelihood=likelihood, together=True, **more)


with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("ignore")
    warnings.filterwarnings("always", category=UserWarning)
    tight = fitted(0.01, segments=1).fit(X, y)
for warning in told:
    print(warning.message)


# %% [markdown]
# ## Slow, or in different modes?
#
# Two numbers show which. `ess_pooled_over_within` compares the effective draws of all chains
# together with those of each chain alone: below 0.1 the chains are in different modes, above 0.2
# they are slow. `tightness` is tau, the train rows over sigma²: above 4e5 chains are often in
# different modes.


# %%
def show(name: str, regressor: BayesianNetworkRegressor) -> None:
    """Print the numbers that matter, and draw the trace of the log density."""
    found = regressor.diagnostics_
    print(f"{name}: {'converged' if found['converged'] else 'NOT CONVERGED'}")
    print(f"  R-hat of f {found['rhat_f']:.3f}, of the log density {found['rhat_log_density']:.3f}")
    print(f"  pooled over within {found['ess_pooled_over_within']:.2f}")
    print(f"  tau {found['tightness']:.1e}")
    print("  failed:", [name for name, check in found["checks"].items() if not check["passed"]])
    figure, axes = plt.subplots(figsize=(6.5, 2.4))
    for chain, color in zip(regressor.idata_.all_sample_stats["lp"], COLORS, strict=True):
        axes.plot(chain, color=color, lw=0.7)
    axes.set(xlabel="draw", ylabel="log density", title=name)
    figure.tight_layout()


show("tolerance 0.01", tight)

# %% [markdown]
# Each chain has its own level: four modes. More draws do not help, as twice as many show.

# %%
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    longer = fitted(0.01, segments=2).fit(X, y)
show("tolerance 0.01, twice the draws", longer)

# %% [markdown]
# ## Change the posterior
#
# A tolerance of 0.1 sd lowers tau by a factor of 100. Now all chains move around one level, and
# only the number of draws is missing. `until={}` draws segments until the limits are met.

# %%
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    loose = fitted(0.1, segments=20, until={}).fit(X, y)
show("tolerance 0.1, until it has converged", loose)

# %% [markdown]
# ## Or integrate the weights out
#
# Without settings, the estimator takes recipe `wide` for a table of this size: a network of
# infinite width whose weights are integrated out. Its chains sample a few scales, so there are no
# modes of weights, and the tolerance can be small.

# %%
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    wide = BayesianNetworkRegressor().fit(X, y)
show("recipe wide", wide)

# %% [markdown]
# ## What it costs
#
# A larger tolerance has larger errors. The bands are predictive intervals of 95 %.

# %%
grid = np.linspace(-1.9, 1.9, 200)[:, None]
truth = np.sin(3 * grid[:, 0]) + 0.3 * grid[:, 0]
figure, axes = plt.subplots(figsize=(6.5, 3.2))
axes.axhline(0, color="0.5", lw=1)
for name, color, regressor in (("tolerance 0.1", "#D55E00", loose), ("wide", "#0072B2", wide)):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one of these points is outside
        mean, _, (low, high) = regressor.predict(grid, return_std=True, quantiles=(0.025, 0.975))
    axes.plot(grid, mean - truth, color=color, label=name)
    axes.fill_between(grid[:, 0], low - truth, high - truth, color=color, alpha=0.2, lw=0)
    print(f"{name:14} RMSE {np.sqrt(np.mean((mean - truth) ** 2)):.4f}")
axes.set(xlabel="x", ylabel="prediction - true function")
axes.legend(frameon=False)
figure.tight_layout()
