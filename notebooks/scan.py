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
# # A scan with error bars
#
# A surrogate predicts cross sections of a folder of SLHA files. This notebook plots them with
# error bars, and marks the points that lie outside of what the surrogate has learned. It takes
# seconds.
#
# It needs a surrogate; `make run` in a checkout makes this one. To install what predicts, see
# [using](../docs/using.md#install).

# %%
import os
import subprocess
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from made_up.spectra import Spectra, write_slha

from nlobayes import Surrogate

if Path.cwd().name == "notebooks":  # where Jupyter starts
    os.chdir("..")
PATH = "results/surrogates/embedded_k/n32/fan_in/tolerance_3_5/adam/hmc_k/s1.nc"
surrogate = Surrogate.load(PATH)
surrogate

# %% [markdown]
# **Look before you trust.** `failed_checks` must be empty, and `conditions` names what was held
# fixed: here the squarks.

# %%
print("failed checks:", surrogate.failed_checks)
print("learned from:", ", ".join(surrogate.inputs))
print("held fixed:", ", ".join(map(str, surrogate.conditions)) or "nothing is stated")

# %% [markdown]
# ## The scan
#
# Your spectrum generator writes these files. Here tree-level masses replace it: the higgsino
# mass mu goes from 100 GeV to 600 GeV past a bino of 300 GeV, so that the lightest neutralino
# turns from a higgsino into a bino.

# %%
mu = np.linspace(100, 600, 41)
write_slha(Path("scan"), Spectra(bino_gev=300, wino_gev=800, higgsino_gev=mu, tan_beta=10))
print((Path("scan") / "point_000.slha").read_text()[:220])

# %% [markdown]
# ## Predict
#
# One command predicts a folder; in a shell it is `nlobayes predict SURROGATE scan -o scan.csv`.
# The quantiles are those of the predictive distribution: 68 % of true values lie between 0.16 and
# 0.84.

# %%
quantiles = "0.025,0.16,0.84,0.975"
subprocess.run(
    ["nlobayes", "predict", PATH, "scan", "-o", "scan.csv", "--quantiles", quantiles], check=True
)
found = pd.read_csv("scan.csv", comment="#")
found.columns = [name.split(":")[0] for name in found.columns]
found[["file", "m1", "sigma_pb_median", "sigma_pb_q16", "sigma_pb_q84", "domain"]].head()

# %% [markdown]
# ## Plot
#
# The cross section falls by orders, so error bars of a good surrogate are hidden behind the line.
# The lower panel shows them relative to the median.

# %%
median = found["sigma_pb_median"]
figure, (top, bottom) = plt.subplots(2, sharex=True, figsize=(6, 5), height_ratios=[2, 1])
top.plot(mu, median, color="#0072B2", label="median")
bottom.axhline(0, color="#0072B2")
for low, high, alpha, share in (("q2.5", "q97.5", 0.2, "95 %"), ("q16", "q84", 0.4, "68 %")):
    ends = found[f"sigma_pb_{low}"], found[f"sigma_pb_{high}"]
    top.fill_between(mu, *ends, color="#0072B2", alpha=alpha, lw=0, label=share)
    relative = [100 * (end / median - 1) for end in ends]
    bottom.fill_between(mu, *relative, color="#0072B2", alpha=alpha, lw=0)
outside = found["domain"].to_numpy() == "outside"
top.plot(mu[outside], median[outside], "x", color="#D55E00", label="outside: not to be trusted")
top.set(
    yscale="log",
    ylabel="cross section [pb]",
    title="{process}, {order}".format_map(surrogate.origin),
)
bottom.set(xlabel="higgsino mass mu [GeV]", ylabel="relative [%]")
top.legend(frameon=False)
figure.tight_layout()
figure.savefig("scan.png", dpi=120)

# %% [markdown]
# ## Many points at once
#
# The errors of two points are correlated. A ratio of cross sections needs draws of both from one
# network, and no sum in quadrature:

# %%
points = found[list(surrogate.inputs)].to_numpy()
draws = surrogate.sample(points[[10, 11]], noise=False)  # (draw, point)
ratio = draws[:, 0] / draws[:, 1]
print(f"ratio of two neighbours: {ratio.mean():.4f} +- {ratio.std():.4f}")
apart = np.hypot(*(draws.std(axis=0) / draws.mean(axis=0))) * ratio.mean()
print(f"in quadrature, which is wrong: {apart:.4f}")
