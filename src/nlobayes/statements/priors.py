"""Presets of priors become what states the arrays of a network in PyMC."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import singledispatch
from importlib.abc import SourceLoader
from importlib.util import module_from_spec, spec_from_loader
from math import sqrt
from pathlib import Path
from typing import Any

from nlobayes.errors import InputError
from nlobayes.model import hierarchies, priors
from nlobayes.study import priors as prior_presets

HYPER: dict[str, Any] = {
    "half_normal": hierarchies.HalfNormal,
    "half_cauchy": hierarchies.HalfCauchy,
    "gamma_precision": hierarchies.GammaPrecision,
}
SLOPES: dict[str, Any] = {
    "normal": priors.NormalSlopes,
    "tensorbnn": hierarchies.TensorBNNSlopes,
}
ELSEWHERE = {"kind", "slopes", "memory"}
"""Keys of every preset that are no settings of its own."""
FAN_IN_POWERS = {"fan_in": 0.5, "laplace": 0.5, "cauchy": 1.0}
FAMILIES = {"fan_in": "normal", "laplace": "laplace", "cauchy": "cauchy"}


@singledispatch
def build_prior(preset: Any) -> priors.Prior:
    """Build the prior of weights and biases."""
    power = FAN_IN_POWERS.get(preset.kind) or max(0.5, 1 / preset.degrees_of_freedom)
    return priors.Independent(
        family=FAMILIES.get(preset.kind, preset.kind),
        scale=preset.scale,
        bias_scale=preset.scale if preset.bias_scale is None else preset.bias_scale,
        output_bias_scale=preset.output_bias_scale,
        fan_in_power=power,
        degrees_of_freedom=getattr(preset, "degrees_of_freedom", None),
    )


@build_prior.register
def _(preset: prior_presets.GaussianPrior) -> priors.Prior:
    biases = preset.bias_precision
    return priors.gaussian(
        1 / sqrt(preset.precision), preset.whitened, None if biases is None else 1 / sqrt(biases)
    )


@build_prior.register
def _(preset: prior_presets.HierarchicalPrior) -> priors.Prior:
    hyper = preset.hyper
    return hierarchies.Hierarchical(
        HYPER[hyper.kind](**hyper.model_dump(exclude={"kind"})), preset.shared
    )


@build_prior.register
def _(preset: prior_presets.HorseshoePrior) -> priors.Prior:
    return hierarchies.Horseshoe(**preset.model_dump(exclude=ELSEWHERE))


@build_prior.register
def _(preset: prior_presets.TensorBNNPrior) -> priors.Prior:
    return hierarchies.TensorBNN(**preset.model_dump(exclude=ELSEWHERE))


@build_prior.register
def _(preset: prior_presets.CustomPrior) -> priors.Prior:
    return priors.Custom(_load_function(preset), preset.settings)


def build_slopes(preset: Any) -> priors.Prior | None:
    """Build the prior of trained slopes, where there is one."""
    if preset is None:
        return None
    if preset.kind == "exponential":
        learned = preset.rate is None
        return priors.ExponentialSlopes(preset.rate, preset.hyper_rate if learned else None)
    return SLOPES[preset.kind](**preset.model_dump(exclude={"kind"}))


def _load_function(preset: prior_presets.CustomPrior) -> Callable[..., Any]:
    """Import a user's file, the bytes that were digested, and take its function."""
    spec = spec_from_loader(Path(preset.file).stem, _Pinned(preset.file, preset.sha256))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{preset.file}: {type(error).__name__}: {error}; mend the file of the prior"
        ) from error
    function = getattr(module, preset.function, None)
    if not callable(function):
        names = [n for n, value in vars(module).items() if callable(value) and n[0] != "_"]
        raise InputError(f"{preset.file} has no function {preset.function!r}; it has {names}")
    return function


class _Pinned(SourceLoader):
    """Gives the source of one file, if it is still the one that was digested."""

    def __init__(self, file: str, sha256: str) -> None:
        self._file, self._sha256 = file, sha256

    def get_filename(self, fullname: str) -> str:
        return self._file

    def get_data(self, path: str | bytes) -> bytes:
        file = Path(self._file)
        source = file.read_bytes() if file.is_file() else b""
        if hashlib.sha256(source).hexdigest() != self._sha256:
            raise InputError(f"{self._file} has just changed; start the job again")
        return source
