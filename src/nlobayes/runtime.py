"""Precision, device, threads and instructions, set before JAX, PyTensor and NumPy are imported."""

from __future__ import annotations

import os
from pathlib import Path

from nlobayes.errors import InputError

CACHE = ".cache/jax"
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
PORTABLE = "NLOBAYES_PORTABLE"
V3 = {
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_L2_SIZE": "512",
    "OPENBLAS_NUM_THREADS": "1",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "NPROC": "1",
}
"""NumPy and oneDNN, by which XLA multiplies many matrices at once, have other code for AVX-512.
OpenBLAS has kernels for each processor; those of Haswell crash with some sizes of the second cache.
"""
V3_OF_XLA = (
    f"{ONE_THREAD} --xla_cpu_max_isa=AVX2 --xla_cpu_enable_platform_dependent_math=false "
    "--xla_cpu_experimental_ynn_fusion_type= "
    "--xla_backend_extra_options=xla_force_enable_experimental_llvm_ir_gemm"
)
"""No approximate reciprocal square root, which Intel and AMD round differently. Loops of XLA for
matrix products: Eigen divides sums by the size of the first cache, and YNNPACK by vectors."""
CPUS = Path("/proc/cpuinfo")
PLATFORMS = {"cpu": "cpu", "gpu": "cuda,cpu"}


def use_common_instructions() -> None:
    """Let libraries round alike on all x86-64-v3 processors, if `NLOBAYES_PORTABLE` is set.

    These have AVX2 and FMA. Libraries that are imported already keep their instructions.

    Raises InputError if this processor is none of them.
    """
    if os.environ.get(PORTABLE):
        flags = CPUS.read_text().split() if CPUS.is_file() else []
        if not {"avx2", "fma"} <= {*flags}:
            raise InputError("commands.not_portable", where=PORTABLE)
        os.environ.update(V3)
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {V3_OF_XLA}".strip()


def configure(
    precision: str, device: str = "cpu", shards: int = 1, threads: int | None = 1
) -> None:
    """Set precision, device and threads of JAX and PyTensor.

    A GPU multiplies matrices in full float32; its default keeps ten bits, too few for the energy of
    HMC. A job takes a quarter of the GPU memory, or the fraction `XLA_CLIENT_MEM_FRACTION`, because
    several jobs share it. All jobs share compiled functions in `.cache/jax`, or in
    `JAX_COMPILATION_CACHE_DIR`. On a CPU XLA uses `threads` threads, or the number in the
    environment variable `NPROC`; with None, one for each core. So does the BLAS that factorises
    matrices, if it is not loaded yet. With another number both may add products in another order,
    which changes last digits.
    """
    os.environ["PYTENSOR_FLAGS"] = f"floatX={precision},cxx=,traceback__limit=0"
    os.environ["JAX_ENABLE_X64"] = "1" if precision == "float64" else "0"
    os.environ["JAX_DEFAULT_MATMUL_PRECISION"] = "highest"
    os.environ.setdefault("JAX_PLATFORMS", PLATFORMS[device])
    if "XLA_PYTHON_CLIENT_MEM_FRACTION" not in os.environ:  # JAX refuses both
        os.environ.setdefault("XLA_CLIENT_MEM_FRACTION", "0.25")
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(CACHE).resolve()))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES", "none")
    if device == "cpu" and threads is not None:
        os.environ["NPROC"] = os.environ.get("NPROC") or f"{threads}"
        os.environ.setdefault("OPENBLAS_NUM_THREADS", os.environ["NPROC"])
    flags = os.environ.get("XLA_FLAGS") or ONE_THREAD
    devices = f" --xla_force_host_platform_device_count={shards}" if shards > 1 else ""
    os.environ["XLA_FLAGS"] = flags + devices


def choose_device(device: str, chain_group: int = 0, shards: int = 1) -> None:
    """Choose the device of a job; chain groups use several GPUs in turn.

    Raises InputError if there are too few devices of this kind.
    """
    import jax

    try:
        found = jax.devices(device)
    except RuntimeError:
        found = []
    if len(found) < shards:
        raise InputError(
            "commands.too_few_devices",
            where="execution.device",
            device=device,
            shards=shards,
            found=len(found),
        )
    jax.config.update("jax_default_device", found[chain_group % len(found)])


def device() -> str:
    """Return the kind of device that JAX computes on."""
    import jax

    return jax.devices()[0].device_kind
