"""Precision, devices and threads, fixed before JAX and PyTensor are imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nlobayes import runtime
from tests.refusals import refused

PROGRAM = """
import sys
from pathlib import Path
from nlobayes import runtime
runtime.configure(sys.argv[1])
import jax.numpy as jnp
print(jnp.ones(1).dtype)
names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
print(sum("XLAEigen" in name for name in names))
"""


@pytest.mark.parametrize(
    ("precision", "given", "threads"), [("float32", {}, 1), ("float64", {"NPROC": "3"}, 3)]
)
def test_a_process_computes_in_its_precision_with_one_thread_unless_more_are_given(
    precision: str, given: dict[str, str], threads: int
) -> None:
    """Whatever the environment says of precision; where threads are not listed, none is counted.

    On several threads XLA divides operations of wide networks, which takes longer. Other tests
    import samplers of PyMC, which set 100 devices in `XLA_FLAGS` and thus threads.
    """
    other = {"JAX_ENABLE_X64": "1" if precision == "float32" else "0"}
    kept = {name: os.environ[name] for name in {*os.environ} - {"NPROC", "XLA_FLAGS"}}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, precision],
        capture_output=True,
        text=True,
        check=True,
        env=kept | other | given,
    )
    counted = threads if Path("/proc/self/task").is_dir() else 0
    assert done.stdout.split() == [precision, f"{counted}"]


SET = (
    "PYTENSOR_FLAGS",
    "JAX_ENABLE_X64",
    "JAX_DEFAULT_MATMUL_PRECISION",
    "JAX_PLATFORMS",
    "XLA_FLAGS",
    "XLA_CLIENT_MEM_FRACTION",
    "JAX_COMPILATION_CACHE_DIR",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS",
    "JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES",
)


@pytest.fixture(autouse=True)
def same_environment_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the environment after each test."""
    for name in SET:
        monkeypatch.setenv(name, os.environ.get(name, ""))
    for name in ("NPROC", "OPENBLAS_NUM_THREADS"):  # XLA refuses an empty value
        monkeypatch.setenv(name, os.environ.get(name, "1"))


def test_settings_of_the_user_for_xla_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=x")
    runtime.configure("float64")
    assert os.environ["XLA_FLAGS"] == "--xla_dump_to=x"
    assert os.environ["PYTENSOR_FLAGS"] == "floatX=float64,cxx=,traceback__limit=0"
    monkeypatch.delenv("XLA_FLAGS")
    runtime.configure("float64")


def test_shards_of_a_cpu_join_the_flags_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=x")
    runtime.configure("float64", "cpu", 3)
    assert os.environ["XLA_FLAGS"].split() == [
        "--xla_dump_to=x",
        "--xla_force_host_platform_device_count=3",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("JAX_PLATFORMS", "cpu"),
        ("XLA_CLIENT_MEM_FRACTION", "0.9"),
        ("JAX_COMPILATION_CACHE_DIR", "elsewhere"),
        ("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "7"),
    ],
)
def test_settings_of_the_user_for_jax_are_kept(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    runtime.configure("float32", "gpu", 2)
    assert os.environ[name] == value
    monkeypatch.delenv(name)
    runtime.configure("float32", "gpu", 2)
    assert os.environ[name] not in ("", value)


def test_the_older_name_of_the_memory_fraction_stands_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """JAX finds no GPU where both names are set."""
    monkeypatch.setenv("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.9")
    monkeypatch.delenv("XLA_CLIENT_MEM_FRACTION")
    runtime.configure("float32", "gpu")
    assert "XLA_CLIENT_MEM_FRACTION" not in os.environ


SHARDS = """
import sys
from nlobayes import runtime
runtime.configure("float32", "cpu", 2)
import jax
import jax.numpy as jnp
used = []
for chain_group in range(5):
    runtime.choose_device("cpu", chain_group, 2)
    used += [device.id for device in jnp.ones(1).devices()]
print(used, jax.config.jax_default_matmul_precision)
"""


def test_chain_groups_are_dealt_to_devices_in_turn(tmp_path: Path) -> None:
    """Two shards of a CPU are two of its devices, and compiled functions are kept."""
    environment = {name: value for name, value in os.environ.items() if name not in SET}
    done = subprocess.run(
        [sys.executable, "-c", SHARDS],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=environment,
    )
    assert done.stdout.strip() == "[0, 1, 0, 1, 0] highest"
    assert any((tmp_path / runtime.CACHE).iterdir())


@pytest.mark.parametrize(("device", "shards", "count"), [("gpu", 1, 0), ("cpu", 64, None)])
def test_a_device_that_is_missing_is_refused(device: str, shards: int, count: int | None) -> None:
    """No other device is used instead."""
    import jax

    if device == "gpu" and jax.default_backend() == "gpu":
        pytest.skip("this machine has a GPU")
    found = len(jax.devices("cpu")) if count is None else count
    with refused("commands.too_few_devices", device=device, shards=shards, found=found):
        runtime.choose_device(device, 0, shards)


LOADED = """
from nlobayes.runtime import use_common_instructions
use_common_instructions()
import numpy as np, threadpoolctl
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print([name for name in __cpu_dispatch__ if __cpu_features__[name] and name != "X86_V3"])
print({blas["architecture"] for blas in threadpoolctl.threadpool_info()})
import jax
print(float(jax.jit(lambda a: a @ a.T)(np.ones((2, 3), "f4")).sum()))
"""


@pytest.mark.skipif("avx2" not in runtime.CPUS.read_text(), reason="no AVX2")
def test_portable_results_are_made_without_instructions_of_newer_processors() -> None:
    """NumPy and OpenBLAS state what they use; XLA ends a process that has an unknown flag."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {runtime.PORTABLE: "1", "OPENBLAS_CORETYPE": "Nehalem"},
    )
    assert done.stdout.splitlines() == ["[]", "{'Haswell'}", "12.0"]


def test_portable_results_are_refused_where_no_processor_can_make_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(runtime, "CPUS", tmp_path / "cpuinfo")
    runtime.use_common_instructions()
    monkeypatch.setenv(runtime.PORTABLE, "1")
    (tmp_path / "cpuinfo").write_text("flags : avx fma\n")
    with refused("commands.not_portable"):
        runtime.use_common_instructions()
