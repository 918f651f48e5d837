"""The Markov kernels, one file each, by name."""

from collections.abc import Callable

from nlobayes.inference.kernels import hmc, nuts
from nlobayes.inference.kernels.protocol import Kernel

KERNELS: dict[str, Callable[..., Kernel]] = {"hmc": hmc.build, "nuts": nuts.build}
