"""The adaptations, one file each, by name."""

from collections.abc import Callable

from nlobayes.inference.adaptation import (
    bayesian_optimisation,
    chees,
    ladder,
    microcanonical,
    windows,
)
from nlobayes.inference.adaptation.protocol import Adaptation

ADAPTATIONS: dict[str, Callable[..., Adaptation]] = {
    "windows": windows.build,
    "chees": chees.build,
    "microcanonical": microcanonical.build,
    "bayesian_optimisation": bayesian_optimisation.build,
    "ladder": ladder.build,
}
