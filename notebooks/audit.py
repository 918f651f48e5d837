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
# # Audit a result that somebody else made
#
# A colleague has published a study: a Git repository, and its results in a DVC remote. This
# notebook first plays the colleague, then pulls the results, shows what made them, and damages one
# file, which the audit finds. It takes a minute on two cores, in a checkout. All commands are
# in [audit](../docs/reliability.md#audit).

# %%
import os
import subprocess
from pathlib import Path

import yaml

import nlobayes

CHECKOUT = Path(nlobayes.__file__).parents[2]


def shell(command: str, folder: Path, status: int = 0) -> None:
    """Run a command in a folder, and print it with what it prints."""
    plain = os.environ | {"FORCE_COLOR": ""}  # which Jupyter sets
    done = subprocess.run(
        command, shell=True, cwd=folder, env=plain, capture_output=True, text=True
    )
    assert done.returncode == status, done.stdout + done.stderr
    print(f"$ {command}\n{done.stdout}{done.stderr[-2000:]}".rstrip())


# %% [markdown]
# ## The colleague
#
# A small study, far too short to converge. `nlobayes record` lets DVC record what Snakemake made.

# %%
author, reader, remote = (Path(name).absolute() for name in ("author", "reader", "remote"))
remote.mkdir()
shell(f"git clone --quiet {CHECKOUT} author", Path())
study = {
    "datasets": {
        "tiny": {
            "source": {"kind": "simulate", "points": 300, "seed": 1},
            "split": {"train": 150, "validation": 75, "test": 75},
            "reference_points": 20,
        }
    },
    "networks": {"n4": {"hidden": [4]}},
    "pretraining": {"tiny": {"epochs": 20, "batch": 50}},
    "methods": {
        "tiny": {
            "kernel": {"kind": "hmc", "integration_steps": 8},
            "warmup": {"steps": 60},
            "chains": 2,
            "draws_per_segment": 60,
            "thin": 4,
        }
    },
    "grids": {
        "tiny": {
            "dataset": "tiny",
            "network": "n4",
            "prior": "fan_in",
            "likelihood": "tolerance_10",
            "pretraining": "tiny",
            "method": "tiny",
            "outputs": "metrics",
        }
    },
    "targets": ["tiny"],
}
(author / "config/config.yaml").write_text(yaml.safe_dump(study))
shell("git config user.name Colleague && git config user.email colleague@example.org", author)
shell("git commit --quiet --all --message 'A small study'", author)
shell("snakemake --quiet all 2> /dev/null", author)
shell("nlobayes record", author)
shell(f"dvc remote add --quiet --default store {remote}", author)
shell("git add dvc.lock .dvc/config && git commit --quiet --message Results", author)
shell("dvc push --quiet", author)

# %% [markdown]
# ## Get the results
#
# Clone, and pull. Snakemake knows that nothing is left to do.

# %%
shell("git clone --quiet author reader", Path())
shell("dvc pull --quiet", reader)
shell("snakemake --dry-run 2>&1 | grep 'Nothing to be done'", reader)

# %% [markdown]
# ## Is everything as it was made?
#
# `verify` checks bytes, contents and places of all files, and that each was made from the inputs
# that are here, by this code.

# %%
shell("nlobayes verify", reader)

# %% [markdown]
# ## What made this file?
#
# Red lines, in a terminal, are failed checks: this run has not converged, and its file states this.

# %%
POSTERIOR = "results/posterior/tiny/n4/fan_in/tolerance_10/tiny/tiny/s1.nc"
shell(f"nlobayes show {POSTERIOR}", reader)

# %%
shell(f"nlobayes provenance {POSTERIOR} --out prov.json", reader)

# %% [markdown]
# ## One changed byte
#
# The audit finds it, and DVC restores the file.

# %%
shell(f"printf x | dd of={POSTERIOR} bs=1 seek=5000 conv=notrunc status=none", reader)
shell("nlobayes verify results/posterior", reader, status=1)
shell(f"dvc checkout --quiet --force {POSTERIOR} && nlobayes verify results/posterior", reader)
