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
# # Fit your own table
#
# From a table of numbers to predictions with error bars: fit, see whether the chains have
# converged and whether the error bars are calibrated, and draw more where they have not. It takes
# about two minutes on two cores, and needs `pip install 'nlobayes[train]'` or a checkout.
# The same as one command is `nlobayes fit table.csv --target y`
# ([fit your own table](../docs/fitting.md)).

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

from nlobayes import BayesianNetworkRegressor

# %% [markdown]
# ## The table
#
# Yours comes from a file, as `pandas.read_csv("table.csv")`. This one has 300 rows of two inputs,
# and noise of sd 0.1.

# %%
rng = np.random.default_rng(1)
X = rng.uniform(-2, 2, size=(300, 2))
y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.1 * rng.normal(size=300)

# %% [markdown]
# ## Fit
#
# Of the rows 70 % train, 15 % fit the error bars and 15 % test them. Draws come in segments. One
# segment of 40 draws in each of four chains is far too few on purpose, so that the next section has
# something to correct.

# %%
method = {
    "kernel": {"kind": "hmc", "integration_steps": 128, "jitter": 0.2},
    "warmup": {"steps": 300},
    "draws_per_segment": 40,
    "thin": 4,
    "segments": 1,
}
settings = {"hidden": (16,), "random_state": 1, "together": True}
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("ignore")
    warnings.filterwarnings("always", category=UserWarning)
    short = BayesianNetworkRegressor(method=method, **settings).fit(X, y)
for warning in told:
    print(warning.message)

# %% [markdown]
# ## Have the chains converged?
#
# R-hat compares the spread between chains with that inside of them, for the predictions at
# held-out points and for the log density. It is 1 where chains agree, and must be at most 1.01 for
# all of them. The fewest effective draws must be 400.


# %%
def show(regressor: BayesianNetworkRegressor) -> None:
    """Print each check of the chains and of the error bars."""
    for name, check in regressor.diagnostics_["checks"].items():
        print(f"{name:16} {check['value']:8.4g}   {'passed' if check['passed'] else 'FAILED'}")
    for name, check in regressor.evaluation_["calibration_checks"].items():
        print(f"{name:16} {check['value']:8.4g}   {'passed' if check['passed'] else 'FAILED'}")


show(short)

# %% [markdown]
# ## Extend the chains
#
# More segments continue the chains. Draws that were there come again, bit for bit: the same seed
# gives the same chains. `until` ends them as soon as the limits are met. If R-hat stays high
# however long the chains are, the remedy is another one: [what to do when chains do not
# converge](../docs/not_converged.md).

# %%
longer = {**method, "segments": 32}
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("ignore")
    warnings.filterwarnings("always", category=UserWarning)
    regressor = BayesianNetworkRegressor(method=longer, until={}, **settings).fit(X, y)
for warning in told:
    print(warning.message)
show(regressor)

before, after = (each.idata_.posterior["weights_1"] for each in (short, regressor))
print("draws of each chain:", before.sizes["draw"], "and", after.sizes["draw"])
np.testing.assert_array_equal(before, after.isel(draw=slice(before.sizes["draw"])))

# %% [markdown]
# The estimator draws the first segments again, since it keeps no files. A study keeps them:
# `to_study` writes one, and Snakemake computes the new segments alone when its `segments` are
# raised ([samplers](../docs/samplers.md#segments-and-stopping-when-converged)).

# %%
print(regressor.to_study("own_table"))

# %% [markdown]
# ## Are the error bars calibrated?
#
# Coverage is the share of held-out points inside their intervals: 68 % and 95 % are right. With
# few rows it scatters: of 45 rows by 7 % and 3 %, and error bars that 45 others set add as much.
# Here any number of new points can be computed, so take more.

# %%
new = rng.uniform(-2, 2, size=(2000, 2))
truth = np.sin(2 * new[:, 0]) + 0.5 * new[:, 1] ** 2 + 0.1 * rng.normal(size=2000)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # a few points lie outside of the training data
    mean, sd, ends = regressor.predict(new, return_std=True, quantiles=(0.025, 0.16, 0.84, 0.975))
covered_68 = np.mean((ends[1] < truth) & (truth < ends[2]))
covered_95 = np.mean((ends[0] < truth) & (truth < ends[3]))
print(f"coverage {covered_68:.1%} and {covered_95:.1%}")
print(f"mean error bar {sd.mean():.3f}, error of the mean {np.std(truth - mean):.3f}, noise 0.1")

# %% [markdown]
# The same along a line, at the second input 0: the band of 95 % contains the true
# function, and is as wide as the noise.

# %%
x = np.linspace(-1.9, 1.9, 150)
truth = np.sin(2 * x)
mean, sd, (low, high) = regressor.predict(
    np.column_stack([x, 0 * x]), return_std=True, quantiles=(0.025, 0.975)
)
figure, axes = plt.subplots(figsize=(6.5, 3.2))
axes.plot(x, truth, "k--", lw=1, label="true function")
axes.plot(x, mean, color="#0072B2", label="mean")
axes.fill_between(x, low, high, color="#0072B2", alpha=0.2, lw=0, label="95 %")
axes.set(xlabel="first input", ylabel="y")
axes.legend(frameon=False, loc="upper left")
figure.tight_layout()

# %% [markdown]
# ## Keep it
#
# The surrogate is one file, which predicts without what trained it: `Surrogate.load`, `nlobayes
# predict`, `nlobayes serve`.

# %%
regressor.to_surrogate("own_table.nc")
