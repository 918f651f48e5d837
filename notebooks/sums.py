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
# # Sums and correlated errors
#
# A signal region counts events of several processes. Their errors are correlated: a sum in
# quadrature is wrong. This notebook adds cross sections of the bundle `lhc`, and gives their
# errors to [pyhf](https://pyhf.readthedocs.io). It takes seconds, and needs pyhf.

# %%
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from made_up.spectra import Spectra, write_slha

from nlobayes import Bundle

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pyhf

# %% [markdown]
# ## Cross sections of one spectrum
#
# Higgsinos of 200 GeV, and all else heavy.

# %%
write_slha(Path("one"), Spectra(2000, 2500, higgsino_gev=np.array([200]), tan_beta=10))
spectrum = Path("one/point_000.slha")
lhc = Bundle.load("lhc")
every = lhc.predict(spectrum, energy=13600)
found = {pair: one for pair, one in every.items() if one.domain != "outside"}
for pair, one in found.items():
    up = [f"{source} {one.errors[f'{source}_up']:+.2%}" for source in ("scale", "pdf", "total")]
    print(f"{pair!s:20} {one.median:.4f} pb ", *up)

# %% [markdown]
# ## The sum
#
# `total` adds them. Surrogates are independent of each other, but scale and parton distributions
# move all processes together, so these errors add linearly.

# %%
total = lhc.total(spectrum, list(found), energy=13600)
apart = np.sqrt(sum((one.median * one.errors["total_up"]) ** 2 for one in found.values()))
print(f"sum {total.median:.3f} pb, {total.errors['total_up']:+.2%}")
print(f"in quadrature, which is wrong: {apart / total.median:+.2%}")

# %% [markdown]
# ## Ratios of points
#
# Draws of one surrogate at two points come from the same networks: their ratio keeps the
# correlation.

# %%
surrogate = lhc.surrogates[found[(1000022, 1000023)].entry]
draws = surrogate.sample([[200.0, 205.0], [204.0, 209.0]], noise=False)  # (draw, point)
ratio = draws[:, 0] / draws[:, 1]
apart = np.hypot(*(draws.std(axis=0) / draws.mean(axis=0)))
print(f"ratio {ratio.mean():.5f} +- {ratio.std() / ratio.mean():.1e} relative")
print(f"in quadrature, which is wrong: {apart:.1e}")

# %% [markdown]
# ## A counting experiment
#
# One signal region, with 400 expected events of the background and 1530 observed ones. Every source
# of errors is a nuisance parameter (`normsys`), which has the same name in all processes: this
# correlates them.

# %%
LUMINOSITY, EFFICIENCY = 140_000, 0.005  # in 1/pb; of a made-up selection
SOURCES = ("scale", "pdf")


def model_of(*, together: bool) -> pyhf.Model:
    """State a counting experiment with a sample for each process."""
    strength = {"name": "strength", "type": "normfactor", "data": None}
    samples = [{"name": "background", "data": [400.0], "modifiers": []}]
    for number, one in enumerate(found.values()):
        errors = [
            {
                "name": source if together else f"{source}_{number}",
                "type": "normsys",
                "data": {
                    "hi": 1 + one.errors[f"{source}_up"],
                    "lo": 1 + one.errors[f"{source}_down"],
                },
            }
            for source in SOURCES
        ]
        expected = one.median * LUMINOSITY * EFFICIENCY
        samples.append(
            {"name": f"process_{number}", "data": [expected], "modifiers": [strength, *errors]}
        )
    return pyhf.Model({"channels": [{"name": "region", "samples": samples}]}, poi_name="strength")


strengths = np.linspace(0.8, 1.3, 26)
figure, axes = plt.subplots(figsize=(6.5, 3.6))
for together, color, label in ((True, "#0072B2", "correlated"), (False, "#D55E00", "independent")):
    model = model_of(together=together)
    data = [1530.0, *model.config.auxdata]
    fits = [
        pyhf.infer.mle.fixed_poi_fit(strength, data, model, return_fitted_val=True)[1]
        for strength in strengths
    ]
    curve = np.array(fits) - min(fits)
    axes.plot(strengths, curve, color=color, label=f"{label} errors")
    inside = strengths[curve < 1]
    print(f"{label:12} strength {inside.min():.2f} to {inside.max():.2f} (68 %)")
axes.axhline(1, color="0.5", lw=1)
axes.set(xlabel="signal strength", ylabel=r"$-2\,\Delta\ln L$", ylim=(0, 6))
axes.legend(frameon=False)
figure.tight_layout()

# %% [markdown]
# With independent errors the interval is too short: the processes would average their errors away.
