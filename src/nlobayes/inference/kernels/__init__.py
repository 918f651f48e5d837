"""The Markov kernels, one file each, by name."""

from collections.abc import Callable

from nlobayes.inference.kernels import (
    adjusted_mclmc,
    chees,
    gibbs_hmc,
    hmc,
    mclmc,
    nuts,
    random_walk,
    tempering,
    tensorbnn,
)
from nlobayes.inference.kernels.protocol import Kernel

KERNELS: dict[str, Callable[..., Kernel]] = {
    "random_walk": random_walk.build,
    "hmc": hmc.build,
    "nuts": nuts.build,
    "gibbs_hmc": gibbs_hmc.build,
    "chees": chees.build,
    "mclmc": mclmc.build,
    "adjusted_mclmc": adjusted_mclmc.build,
    "tensorbnn": tensorbnn.build,
    "tempering": tempering.build,
}
