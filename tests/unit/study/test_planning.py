"""Planning is fast: it reads settings of all members of families, and loads no numerics."""

import subprocess
import sys

HEAVY = {
    *("numpy", "jax", "pymc", "pytensor", "blackjax", "optax", "arviz", "xarray", "pandas"),
    *("matplotlib", "scipy", "sklearn", "pyarrow", "netCDF4", "h5py"),
}
PROGRAM = f"""
import sys
import nlobayes.study.study, nlobayes.study.job_builder, nlobayes.study.schema
import nlobayes.workflow.plan, nlobayes.workflow.parameters, nlobayes.workflow.targets
nlobayes.study.schema.as_json()
sys.exit(" ".join(sorted({HEAVY} & {{*sys.modules}})) or None)
"""


def test_planning_loads_no_numerics() -> None:
    """Members import them inside functions, which import contracts cannot tell apart."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
