"""Several classes: the logits are the network's outputs over a temperature."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from nlobayes.model.likelihood import CLASS, TARGET


class Categorical(NamedTuple):
    """One of several classes with probabilities softmax(outputs / temperature)."""

    temperature: float = 1.0

    def outputs(self, targets: int) -> int:
        """Return the number of classes."""
        return targets

    def observe(self, output: Any, target: Any, error: Any = None) -> Any:
        """Observe the class (point,)."""
        import pymc as pm

        classes = np.asarray(pm.modelcontext(None).coords["output"])
        return pm.CustomDist(
            TARGET,
            output / self.temperature,
            logp=partial(_log_probability, classes=classes),
            random=_draw,
            signature="(class)->()",
            class_name="Categorical",
            observed=target.astype(CLASS),
            dtype=CLASS,
        )

    def quantities(self, output: Any, xp: Any) -> Any:
        """Return the logits minus their mean over the classes, which no probability depends on."""
        logits = output / self.temperature
        return logits - xp.mean(logits, axis=-1, keepdims=True)

    def probabilities(self, output: Any, xp: Any) -> Any:
        """Return the probabilities (..., class)."""
        logits = output / self.temperature
        relative = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))
        return relative / xp.sum(relative, axis=-1, keepdims=True)

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> None:
        """Return None."""

    def moved(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Any:
        """Return the outputs."""
        return output

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Return diag(sqrt(p)) (1 - 1 p') / temperature, whose square is diag(p) - p p'."""
        p = self.probabilities(output, xp)
        root = xp.sqrt(p)[..., None] * (xp.eye(p.shape[-1], dtype=p.dtype) - p[..., None, :])
        return root / self.temperature


def _draw(logits: Any, rng: Any, size: Any = None) -> np.ndarray:
    """Draw classes: the largest logit after Gumbel noise is added to each."""
    shape = np.shape(logits) if size is None else (*size, np.shape(logits)[-1])
    return np.argmax(logits + rng.gumbel(size=shape), axis=-1).astype(CLASS)


def _log_probability(value: Any, logits: Any, *, classes: np.ndarray) -> Any:
    """Return the log probability of a class, finite for any logits.

    `pm.Categorical` is not used: in JAX its index of the rows is int8, which allows at most 127.
    """
    from pytensor import tensor as pt

    is_true = pt.eq(value[..., None], classes)
    each = pt.where(is_true, pt.special.log_softmax(logits, axis=-1), 0)
    return pt.sum(each, axis=-1, acc_dtype=each.dtype)


build = Categorical
