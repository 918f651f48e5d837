"""Jobs start without what they do not use, and with what they do."""

import subprocess
import sys

HEAVY = ("numba", "matplotlib.figure", "arviz.plots.traceplot", "mpl_toolkits")
IMPORTED = f"""
import sys
from contextlib import suppress
from nlobayes import cli
sys.argv = ["nlobayes", *sys.argv[1:]]
with suppress(SystemExit):
    cli.start()
import pymc
print([name for name in {HEAVY} if sys.modules.get(name)])
"""


def test_a_job_imports_pymc_without_what_it_does_not_use() -> None:
    """Those of MCMC import no Numba either, which compiles ArviZ's estimators."""
    words = [sys.executable, "-c", IMPORTED, "draw", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
