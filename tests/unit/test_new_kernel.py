"""A new kernel is two new files, a new adaptation two files and the kernel that it tunes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import nlobayes
from tests.unit.worked_examples import ROOT, files_of, write

KERNEL = files_of("Add a kernel")
HMC = "src/nlobayes/study/kernels/hmc.py"
ADAPTATION = {
    "src/nlobayes/study/warmups/constant.py": '''
"""Settings of a warm-up that learns nothing."""
from typing import Literal
from nlobayes.study.warmup import WarmupSettings

class ConstantWarmup(WarmupSettings):
    """Step size as given."""

    kind: Literal["constant"] = "constant"
    factor: float = 1.0
''',
    "src/nlobayes/inference/adaptations/constant.py": '''
"""The step size stays."""
from typing import Any, NamedTuple
import jax.numpy as jnp
from nlobayes.inference.adaptation import Adaptation, Untuned, independent
from nlobayes.inference.kernel import Tuned

class Carry(NamedTuple):
    state: Any
    tuned: Tuned

def build(
    untuned: Untuned,
    *,
    steps: int,
    adaptation_share: float,
    initial_step_size: float,
    factor: float,
) -> Adaptation:
    """Keep the step size."""
    kernel = untuned.kernel

    def start(position):
        step_size = jnp.asarray(factor * initial_step_size, position.dtype)
        return Carry(kernel.init(position), Tuned(step_size, jnp.ones_like(position)))

    def step(key, carry, index):
        state, info = kernel.step(key, carry.state, carry.tuned)
        return carry._replace(state=state), info

    return independent(start, step, lambda carry: (carry.state, carry.tuned))
''',
    HMC: (ROOT / HMC).read_text().replace('"windows"', '"constant"'),
}
PRESETS = {
    "kernel": """
        kernel: {kind: mala}
        warmup: {steps: 100, initial_step_size: 0.1}
        draws_per_segment: 400""",
    "adaptation": """
        kernel: {kind: hmc, integration_steps: 4}
        warmup: {steps: 20, initial_step_size: 0.2, factor: 2}
        draws_per_segment: 400""",
}
PROGRAM = """
import json, sys
import jax, jax.numpy as jnp, yaml
from nlobayes import builder
from nlobayes.inference.sampling import draw
from nlobayes.inference.warmup import adapt
from nlobayes.study.methods.mcmc import MCMC

def run(text):
    preset = MCMC.model_validate(yaml.safe_load(text))
    kernel = builder.build_kernel(preset.kernel, lambda q, b=1.0: -0.5 * b * jnp.sum((q - 3) ** 2))
    adaptation = builder.build_adaptation(preset.warmup, preset.kernel, kernel)
    keys, starts = builder.chain_keys(1, "draw", range(preset.chains)), jnp.zeros((4, 2))
    lengths = {"kept": preset.draws_per_segment, "thin": 1}

    @jax.jit
    def sample(starts):
        carry = adaptation.start(starts)
        carry, *_ = adapt(keys, adaptation, carry, first=0, steps=preset.warmup.steps)
        ends = adaptation.finish(carry)
        return ends[1], draw(keys, kernel, *ends, first=0, observe=lambda q: q, **lengths)[1]

    tuned, drawn = sample(starts)
    return {
        "kinds": [preset.kernel.kind, preset.warmup.kind],
        "gradients": preset.kernel.gradients_per_draw(preset.warmup),
        "step_size": float(tuned.step_size[0]),
        "mean": float(drawn.observed.mean()),
        "sd": float(drawn.observed.std()),
    }

print(json.dumps({name: run(text) for name, text in json.load(sys.stdin).items()}))
"""


@cache
def found() -> dict[str, Any]:
    """What a copy of the package, with both additions, samples."""
    with TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(Path(nlobayes.__file__).parent, source / "nlobayes")
        write(KERNEL | ADAPTATION, Path(folder))
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=json.dumps(PRESETS),
            env=os.environ | {"PYTHONPATH": str(source), "JAX_PLATFORMS": "cpu"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("files", "changed"), [(KERNEL, []), (ADAPTATION, [HMC])], ids=["kernel", "adaptation"]
)
def test_an_addition_touches_three_files_at_most(files: dict[str, str], changed: list[str]) -> None:
    assert 2 <= len(files) <= 3
    assert [path for path in files if (ROOT / path).exists()] == changed
    assert all((ROOT / path).read_text() != files[path] for path in changed)


def test_a_new_kernel_is_found_built_and_samples_its_target() -> None:
    kernel = found()["kernel"]
    assert kernel["kinds"] == ["mala", "windows"]
    assert kernel["gradients"] == 1
    assert kernel["mean"] == pytest.approx(3, abs=0.3)
    assert kernel["sd"] == pytest.approx(1, abs=0.2)


def test_a_new_adaptation_is_found_and_tunes_its_kernel() -> None:
    adaptation = found()["adaptation"]
    assert adaptation["kinds"] == ["hmc", "constant"]
    assert adaptation["step_size"] == pytest.approx(0.4)
    assert adaptation["mean"] == pytest.approx(3, abs=0.3)
    assert adaptation["sd"] == pytest.approx(1, abs=0.2)
