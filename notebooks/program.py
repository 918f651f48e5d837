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
# # From a program to a surrogate
#
# A program is called at the points of a design. A surrogate learns its answers, chooses the next
# points, and states which predictions can be trusted. It takes about two minutes on two cores, in a
# checkout. The workflow does the same in jobs, in rounds, and after kills
# ([from your program to a surrogate](../docs/programs.md)).

# %%
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

from nlobayes import BayesianNetworkRegressor
from nlobayes.designs.sobol import SobolDesign
from nlobayes.programs.compute import compute
from nlobayes.proposing.points import next_points
from nlobayes.study.program import Program

# %% [markdown]
# ## The program
#
# Yours takes minutes. This one is awk: a cross section of two masses, with three digits. Their
# rounding is the noise that the surrogate learns.

# %%
program = Program.model_validate(
    {
        "command": [
            "awk",
            'BEGIN {printf "%.3g", 1e3 * exp(-{m1:.9g} / 90) * (1 + 0.3 * sin({m2:.9g} / 200))}',
        ],
        "version": "1",
        "output": {"kind": "number", "column": "sigma", "unit": "pb", "above": 0},
    }
)
ranges = {"m1": {"low": 100, "high": 600}, "m2": {"low": 500, "high": 2000}}
design = SobolDesign.model_validate({"kind": "sobol", "points": 120, "ranges": ranges})

# %% [markdown]
# ## Call it at the points of a design
#
# Answers are kept in a folder, the store: the second call computes nothing.

# %%
folder = TemporaryDirectory()
store = Path(folder.name)
points = {name: np.asarray(values) for name, values in design.compute().items()}
sigma = compute(program, points, store, workers=2).value
assert np.array_equal(sigma, compute(program, points, store).value)
print(len(sigma), "points,", sigma.min(), "to", sigma.max(), "pb")

# %% [markdown]
# ## Learn it
#
# Recipe `smooth` is a network of 128 units that suits smooth tables of few rows.

# %%
X = np.column_stack([*points.values()])
regressor = BayesianNetworkRegressor(scale="log10", recipe="smooth", n_jobs=2, random_state=1)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # 18 held-out rows are too few to test error bars
    regressor.fit(X, sigma)
surrogate = regressor.surrogate_
print("converged:", surrogate.facts["verdict"]["converged"])

# %% [markdown]
# ## The next points
#
# Those that reduce the variance of the prediction most, over random points of the same ranges, and
# a share at random: these are honest validation, because no posterior chose them.

# %%
columns = dict(zip(surrogate.inputs, ranges.values(), strict=True))
region = SobolDesign.model_validate({"kind": "sobol", "points": 120, "ranges": columns})
taken = dict(zip(surrogate.inputs, X.T, strict=True))
proposal = next_points(surrogate, region, taken, count=10, share=0.2)
for chosen, *values in zip(proposal.chosen, *proposal.points.values(), strict=True):
    print(f"{chosen:9}", *(f"{value:8.1f}" for value in values))

# %% [markdown]
# ## Are predictions right?
#
# At new random points, which the program computes for this test.

# %%
new = design.random(40, seed=5)
truth = compute(program, new, store, workers=2).value
predicted = surrogate.predict(np.column_stack([*new.values()]))
error = np.abs(predicted.median / truth - 1)
print(f"half of them within {np.median(error):.2e}, 95 % within {np.quantile(error, 0.95):.2e}")
assert np.quantile(error, 0.95) < 0.02

# %% [markdown]
# Errors against what the surrogate states. Points left of the line are better than stated.

# %%
stated = surrogate.stated_errors(np.column_stack([*new.values()]))
figure, axes = plt.subplots(figsize=(5, 4))
axes.loglog(error, stated, "o", color="#0072B2", ms=4)
axes.axline((1e-4, 1e-4), (1e-3, 1e-3), color="0.5", lw=1)
axes.set(xlabel="relative error", ylabel="stated error (68 %)")
figure.tight_layout()

# %%
folder.cleanup()
