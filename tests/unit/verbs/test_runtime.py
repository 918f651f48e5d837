"""Precision and threads, fixed before JAX and PyTensor are imported."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from nlobayes.verbs import runtime

PROGRAM = """
import sys
from nlobayes.verbs import runtime
runtime.configure(sys.argv[1])
import jax.numpy as jnp
print(jnp.ones(1).dtype)
"""


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_precision_of_jax_is_the_one_asked_for(precision: str) -> None:
    """Whatever the environment says."""
    other = {"JAX_ENABLE_X64": "1" if precision == "float32" else "0"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, precision],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | other,
    )
    assert done.stdout.strip() == precision


def test_settings_of_the_user_for_xla_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTENSOR_FLAGS", "JAX_ENABLE_X64"):
        monkeypatch.setenv(name, os.environ[name])
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=x")
    runtime.configure("float64")
    assert os.environ["XLA_FLAGS"] == "--xla_dump_to=x"
    assert os.environ["PYTENSOR_FLAGS"] == "floatX=float64,cxx="
    monkeypatch.delenv("XLA_FLAGS")
    runtime.configure("float64")
    assert "intra_op_parallelism_threads=1" in os.environ["XLA_FLAGS"]


def test_the_device_has_a_name() -> None:
    assert runtime.device()
