"""Precision and threads: fixed by a verb before JAX and PyTensor are first imported."""

from __future__ import annotations

import os


def configure(precision: str) -> None:
    """Set the precision of JAX and PyTensor, and keep one process to one core."""
    os.environ["PYTENSOR_FLAGS"] = f"floatX={precision},cxx="
    os.environ["JAX_ENABLE_X64"] = "1" if precision == "float64" else "0"
    os.environ.setdefault(
        "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    )


def device() -> str:
    """Name the kind of device that JAX computes on."""
    import jax

    return jax.devices()[0].device_kind
