"""Two classes: the logit of class 1 is the network's output over a temperature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from nlobayes.errors import InputError
from nlobayes.model.likelihood import CLASS, TARGET


class Bernoulli(NamedTuple):
    """Class 1 of two with probability sigmoid(output / temperature)."""

    temperature: float = 1.0

    def outputs(self, targets: int) -> int:
        """Return 1.

        Raises
        ------
        InputError
            If there are not two classes.
        """
        if targets != 2:
            raise InputError("model.not_two_classes", classes=targets)
        return 1

    def observe(self, output: Any, target: Any, error: Any = None) -> Any:
        """Observe the class (point,)."""
        import pymc as pm

        logits = output / self.temperature
        classes = target.astype(CLASS)
        return pm.Bernoulli(TARGET, logit_p=logits, observed=classes, dtype=CLASS)

    def quantities(self, output: Any, xp: Any) -> Any:
        """Return the logit of class 1."""
        return output / self.temperature

    def probabilities(self, output: Any, xp: Any) -> Any:
        """Return the probabilities (..., class) of both classes."""
        positive = 0.5 * (1 + xp.tanh(0.5 * output / self.temperature))
        return xp.stack([1 - positive, positive], axis=-1)

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> None:
        """Return None."""

    def moved(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Any:
        """Return the outputs."""
        return output

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Return the root of p (1 - p) / temperature^2."""
        both = self.probabilities(output, xp)
        root = xp.sqrt(both[..., 0] * both[..., 1]) / self.temperature
        return root[..., None, None]


build = Bernoulli
