"""Temporary settings of JAX and PyTensor in a process that has already imported them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def computing_in(precision: str, cache: Path) -> Iterator[None]:
    """Compute with the settings of a job, and restore all settings afterwards.

    Parameters
    ----------
    precision
        `float32` or `float64`, of JAX and of PyTensor.
    cache
        Folder of compiled functions.
    """
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
    _configure(settings)
    try:
        with pytensor.config.change_flags(**no_compiler):
            yield
    finally:
        _configure(before)


def _configure(settings: Mapping[str, Any]) -> None:
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    folder = "jax_compilation_cache_dir"
    moved = getattr(jax.config, folder) != settings[folder]
    for name, value in settings.items():
        jax.config.update(name, value)
    if moved:
        compilation_cache.reset_cache()  # it requests its folder only once
