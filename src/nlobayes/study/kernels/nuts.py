"""Settings of the no-U-turn sampler."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.study.kernel import KernelSettings
from nlobayes.study.warmup import WarmupSettings


class NUTSKernel(KernelSettings):
    """The no-U-turn sampler (iterative, multinomial); exact."""

    warmup: ClassVar[str] = "windows"

    kind: Literal["nuts"]
    max_depth: Annotated[int, Field(ge=1, le=20)] = 9
    """Largest number of doublings: at most 2^max_depth - 1 leapfrog steps."""
    divergence_threshold: Annotated[float, Field(ge=100, allow_inf_nan=False)] = 1000.0
    """Energy error that ends a tree, and above which a draw counts as divergent. The error is
    relative to the start of the tree, so that a smaller limit would bias the draws."""

    @property
    def max_tree_depth(self) -> int:
        """Largest number of doublings."""
        return self.max_depth

    def gradients_per_draw(self, warmup: WarmupSettings) -> int:
        """Return the gradients of a tree of the largest depth."""
        del warmup
        return 2**self.max_depth
