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
# # A scan of SLHA files
#
# The bundle `lhc` in the package predicts the cross sections of a folder of SLHA files. This
# notebook plots them with their errors, and marks the points that lie outside of what the
# surrogates have learned. It takes seconds.

# %%
import subprocess
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from made_up.spectra import Spectra, write_slha

# %% [markdown]
# ## The scan
#
# Your spectrum generator writes these files. Here tree-level masses replace it: the higgsino
# mass mu goes from 120 GeV towards a bino of 1000 GeV, which mixes with the higgsinos.

# %%
mu = np.linspace(120, 900, 40)
write_slha(Path("scan"), Spectra(bino_gev=1000, wino_gev=2500, higgsino_gev=mu, tan_beta=10))
print(*(Path("scan") / "point_000.slha").read_text().splitlines()[:8], sep="\n")

# %% [markdown]
# ## Predict
#
# One command predicts a folder. Without `--process` it predicts every process of the bundle.

# %%
pairs = {
    "1000024 -1000024": r"$\tilde\chi^+_1 \tilde\chi^-_1$",
    "1000022 1000024": r"$\tilde\chi^0_1 \tilde\chi^+_1$",
    "1000022 1000023": r"$\tilde\chi^0_1 \tilde\chi^0_2$",
}
command = ["nlobayes", "predict", "lhc", "scan", "-o", "scan.csv", "--energy", "13600"]
command += [word for pair in pairs for word in ("--process", pair)]
print(subprocess.run(command, check=True, capture_output=True, text=True).stderr)
found = pd.read_csv("scan.csv", comment="#").rename(columns=lambda name: name.split(":")[0])
shown = ["process", "order", "sigma_pb_median", "total_down_rel", "total_up_rel", "domain"]
found.loc[:5, shown]

# %% [markdown]
# **Look before you trust.** The grids are of pure higgsinos, and the warnings count the points
# whose neutralinos are mixed. Column `reason` states this for each point, and option
# `--with-engine` gives the next-to-leading order of the embedded engine there.

# %%
found["reason"].dropna().iloc[-1]

# %% [markdown]
# ## Plot
#
# The cross section falls by orders, so its errors are hidden behind the line. The lower panel shows
# them relative to the median: errors of scale and parton distributions, and, too thin to be
# seen, those of the surrogate itself.

# %%
figure, (top, bottom) = plt.subplots(2, sharex=True, figsize=(6.5, 5.5), height_ratios=[2, 1])
for (pair, name), color in zip(pairs.items(), ("#0072B2", "#D55E00", "#009E73"), strict=True):
    rows = found[found["process"] == pair]
    median = rows["sigma_pb_median"].to_numpy()
    inside = (rows["domain"] != "outside").to_numpy()
    top.plot(mu[inside], median[inside], color=color, label=name)
    top.plot(mu[~inside], median[~inside], "x", color=color, ms=4)
    for side in ("down", "up"):
        error = rows[f"total_{side}_rel"].to_numpy()
        bottom.plot(mu[inside], 100 * error[inside], color=color)
        top.fill_between(
            mu[inside], median[inside], (median * (1 + error))[inside], color=color, alpha=0.3
        )
top.plot([], [], "kx", ms=4, label="outside: not to be trusted")
top.set(yscale="log", ylabel="cross section at 13.6 TeV [pb]")
bottom.set(xlabel="higgsino mass mu [GeV]", ylabel="total error [%]")
top.legend(frameon=False)
figure.tight_layout()

# %% [markdown]
# The next notebook adds the processes and counts events: [sums and errors](sums.py).
