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
# # From Prospino's files to a surrogate
#
# A folder of SLHA files with blocks PROSPINO_OUTPUT becomes a surrogate by a study of twenty
# lines. Snakemake runs it: reads the files, prepares the rows, samples, checks, scores and
# exports. It needs a checkout, whose environment `make setup` has made. It takes
# about two minutes on two cores.

# %%
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import yaml
from made_up.spectra import Spectra, write_slha

import nlobayes
from nlobayes import Surrogate

SNAKEFILE = str(Path(nlobayes.__file__).parents[2] / "Snakefile")

# %% [markdown]
# ## The files
#
# Take your own folder here. So that this notebook runs anywhere, 240 spectra are made up, with
# cross sections of the embedded NLO engine in the place of Prospino's. [Your own
# data](../docs/data.md) lists the blocks and columns that are read.

# %%
rng = np.random.default_rng(7)
soft = rng.uniform(100, 900, size=(3, 240))
write_slha(Path("prospino_scan"), Spectra(*soft, tan_beta=rng.uniform(3, 50, 240)), prospino=True)
print(*(Path("prospino_scan") / "point_000.slha").read_text().splitlines()[-7:], sep="\n")

# %% [markdown]
# ## The study
#
# The dataset states the folder of the files and the split of their rows, the grid the presets to
# combine. The chains are short, for the sake of time; method `hmc` is for real use. The tolerance
# is a tenth of the spread of the targets, which 160 rows can reach.

# %%
study = {
    "datasets": {
        "prospino": {
            "source": {"kind": "slha", "folder": "prospino_scan", "pair": [1, 1]},
            "target": {
                "scale_variations": ["scale_up", "scale_down"],
                "relative_error": "rel_error",
            },
            "split": {"train": 160, "validation": 40, "test": 40},
            "reference_points": 40,
        }
    },
    "networks": {"n16": {"hidden": [16]}},
    "methods": {
        "short": {
            "kernel": {"kind": "hmc", "integration_steps": 128},
            "warmup": {"steps": 300},
            "draws_per_segment": 320,
            "segments": 1,
        }
    },
    "grids": {
        "prospino": {
            "dataset": "prospino",
            "network": "n16",
            "prior": "fan_in",
            "likelihood": "tolerance_10",
            "pretraining": "adam",
            "method": "short",
            "outputs": "surrogates",
        }
    },
    "targets": ["prospino"],
    "execution": {"chains_per_job": "all"},
}
_ = Path("prospino.yaml").write_text(yaml.safe_dump(study))

# %% [markdown]
# ## Plan, then run
#
# In a shell: `snakemake -n --configfile prospino.yaml`, then without `-n`. The plan is checked
# against the files: a missing block or column ends it in one line.


# %%
def snakemake(*words: str) -> str:
    """Run the study, and give what it prints on standard output."""
    command = ["snakemake", "--snakefile", SNAKEFILE, "--configfile", "prospino.yaml", *words]
    plain = os.environ | {"FORCE_COLOR": ""}  # which Jupyter sets
    done = subprocess.run(command, env=plain, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def planned() -> str:
    """Give the table of the jobs that Snakemake would run."""
    return snakemake("--dry-run").rpartition("Job stats:")[2].partition("Reasons:")[0].strip()


print(planned())

# %% [markdown]
# The run ends with the summary: scores of the test rows, failed checks with the next steps, and
# the commands that use the surrogate.

# %%
print(snakemake())

# %% [markdown]
# ## The verdict
#
# The same numbers are in files. Chains as short as these may fail a check; then
# [what to do when chains do not converge](../docs/not_converged.md) comes next.

# %%
run = "prospino/n16/fan_in/tolerance_10/adam/short/s1"
diagnostics = json.loads(Path(f"results/metrics/{run}/diagnostics.json").read_text())
evaluation = json.loads(Path(f"results/metrics/{run}/evaluation.json").read_text())
print("converged:", diagnostics["converged"])
for name, check in {**diagnostics["checks"], **evaluation["calibration_checks"]}.items():
    print(f"{name:16} {check['value']:8.4g}   {'passed' if check['passed'] else 'FAILED'}")

# %% [markdown]
# ## Extend the chains
#
# More segments continue a finished run: what was drawn stays, and only new segments are computed.

# %%
study["methods"]["short"]["segments"] = 2
_ = Path("prospino.yaml").write_text(yaml.safe_dump(study))
print(planned())

# %% [markdown]
# Without `--dry-run` they are drawn.
#
# ## The surrogate
#
# It knows where it comes from, and predicts without Snakemake, PyMC and JAX. The next notebook to
# read is [a scan with error bars](scan.py).

# %%
surrogate = Surrogate.load(f"results/surrogates/{run}.nc")
print(surrogate)
points = [[150.0, 0.1, -0.2, 0.7, 0.67]]
found = surrogate.predict(points)
(low,), (high,) = found.quantiles
print(f"{found.median[0]:.4g} pb, 68 % from {low:.4g} to {high:.4g}")
