"""Precision, device and threads: of a process that is a job, or of a job within a process.

Commands set them before JAX and PyTensor are imported; afterwards they are changed for a time.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nlobayes.errors import InputError

CACHE = ".cache/jax"
CACHE_OF_USER = Path.home() / ".cache/nlobayes/jax"
"""Folders of compiled functions: below that of a workflow, and elsewhere."""
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
PLATFORMS = {"cpu": "cpu", "gpu": "cuda,cpu"}


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

    Raises
    ------
    InputError
        If there are too few devices of this kind.
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


@contextmanager
def as_a_job(precision: str) -> Iterator[None]:
    """Set up JAX and PyTensor as the command of a job does, and restore the settings afterwards."""
    before = dict(os.environ)
    cache = Path(os.environ.get("JAX_COMPILATION_CACHE_DIR", CACHE_OF_USER))
    with ExitStack() as settings:
        settings.callback(_restore, before)
        with _no_advice_on_compilers():
            settings.enter_context(_computing_in(precision, cache))
        configure(precision)
        settings.enter_context(_one_thread_in_blas())
        yield


@contextmanager
def _computing_in(precision: str, cache: Path) -> Iterator[None]:
    """Change settings of JAX and PyTensor, which may have been imported, and restore them."""
    import jax
    import pytensor

    settings = {
        "jax_enable_x64": precision == "float64",
        "jax_default_matmul_precision": "highest",
        "jax_compilation_cache_dir": str(cache),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_enable_xla_caches": "none",
    }
    before = {name: getattr(jax.config, name) for name in (*settings, "jax_default_device")}
    no_compiler = {"floatX": precision, "cxx": "", "traceback__limit": 0}
    _update_jax(settings)
    try:
        with pytensor.config.change_flags(**no_compiler):
            yield
    finally:
        _update_jax(before)


def _update_jax(settings: Mapping[str, Any]) -> None:
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    folder = "jax_compilation_cache_dir"
    moved = getattr(jax.config, folder) != settings[folder]
    for name, value in settings.items():
        jax.config.update(name, value)
    if moved:
        compilation_cache.reset_cache()  # it requests its folder only once


def _one_thread_in_blas() -> AbstractContextManager[object]:
    """Let the BLAS that this process has loaded use one thread, as that of a job does.

    Its threads make the factorisation of small matrices slower, and change last digits.
    """
    if find_spec("threadpoolctl") is None:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limits


@contextmanager
def _no_advice_on_compilers() -> Iterator[None]:
    """Suppress PyTensor's warning about a missing C++ compiler, which jobs do not need."""
    logger = logging.getLogger("pytensor.configdefaults")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _restore(before: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(before)
