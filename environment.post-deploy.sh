#!/usr/bin/env bash
# Run by Snakemake in the new environment, in the working directory: the root of this repository.
set -euo pipefail
python -m pip install --no-deps --editable .
