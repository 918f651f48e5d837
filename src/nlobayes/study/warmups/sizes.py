"""Settings of the warm-up of reversible jumps."""

from typing import Literal

from nlobayes.settings.values import Fraction
from nlobayes.study.warmup import WarmupSettings


class SizesWarmup(WarmupSettings):
    """A step size for each size of the architecture, by dual averaging; identity mass matrix."""

    kind: Literal["sizes"] = "sizes"
    target_acceptance: Fraction = 0.7
    """Target of dual averaging for the mean acceptance of moves within an architecture."""

    @property
    def form_of_mass_matrix(self) -> str:
        """Form of the mass matrix that it keeps."""
        return "identity"
