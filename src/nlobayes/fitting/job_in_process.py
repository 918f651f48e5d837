"""A job within a process of the user: its precision and threads are set for a time."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nlobayes import runtime

CACHE = Path.home() / ".cache/nlobayes/jax"
"""Compiled functions, outside of a workflow."""


@contextmanager
def as_a_job(precision: str) -> Iterator[None]:
    """Set up JAX and PyTensor as the command of a job does, and restore the settings afterwards."""
    before = dict(os.environ)
    cache = Path(os.environ.get("JAX_COMPILATION_CACHE_DIR", CACHE))
    with ExitStack() as settings:
        settings.callback(_restore, before)
        with _no_advice_on_compilers():
            settings.enter_context(_computing_in(precision, cache))
        runtime.configure(precision)
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
