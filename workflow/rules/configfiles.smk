# A study is checked before Snakemake reads it: its own reader runs templates and lets the last of
# two equal keys win. A file of --configfile it has read already; what is no plain study still stops.

import sys
from pathlib import Path

from nlobayes.errors import InputError
from nlobayes.study.files import read_study

DEFAULT_STUDY = Path("config/config.yaml")

try:
    for path in (DEFAULT_STUDY, *workflow.overwrite_configfiles):
        read_study(path)
except InputError as error:
    sys.stderr.write(f"nlobayes: error: {error}\n")
    sys.exit(2)
