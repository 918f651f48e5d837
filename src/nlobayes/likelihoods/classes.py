"""Classes: their logits are the network's outputs over a temperature."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from nlobayes.errors import InputError
from nlobayes.likelihoods import LikelihoodSettings
from nlobayes.model.likelihood import CLASS, TARGET
from nlobayes.settings.values import Positive
from nlobayes.untyped import Array, Module

if TYPE_CHECKING:
    import numpy as np


class ClassLikelihood(LikelihoodSettings):
    """Likelihood of classes, whose logits are outputs divided by a temperature."""

    of_classes: ClassVar[bool] = True

    temperature: Positive = 1.0
    """Divisor of the outputs."""

    @abstractmethod
    def probabilities(self, output: Array, xp: Module) -> Array:
        """Return the probabilities (..., class)."""

    def noise_about(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> None:
        """Return None: classes have no noise."""


class BernoulliLikelihood(ClassLikelihood):
    """Bernoulli likelihood of two classes, by the sigmoid of one output."""

    kind: Literal["bernoulli"]

    def outputs_for(self, columns: int) -> int:
        """Return one output for each column."""
        return columns

    def outputs(self, targets: int) -> int:
        """Return 1.

        Raises InputError if there are not two classes.
        """
        if targets != 2:
            raise InputError("model.not_two_classes", classes=targets)
        return 1

    def observe(self, output: Array, target: Array, error: Array = None) -> Array:
        """Observe the class (point,)."""
        import pymc as pm

        logits = output / self.temperature
        classes = target.astype(CLASS)
        return pm.Bernoulli(TARGET, logit_p=logits, observed=classes, dtype=CLASS)

    def quantities(self, output: Array, xp: Module) -> Array:
        """Return the logit of class 1."""
        return output / self.temperature

    def probabilities(self, output: Array, xp: Module) -> Array:
        """Return the probabilities (..., class) of both classes."""
        positive = 0.5 * (1 + xp.tanh(0.5 * output / self.temperature))
        return xp.stack([1 - positive, positive], axis=-1)

    def information_root(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Array:
        """Return the root of p (1 - p) / temperature^2."""
        both = self.probabilities(output, xp)
        root = xp.sqrt(both[..., 0] * both[..., 1]) / self.temperature
        return root[..., None, None]


class CategoricalLikelihood(ClassLikelihood):
    """Categorical likelihood of several classes, by the softmax of one output each."""

    kind: Literal["categorical"]

    def outputs_for(self, columns: int) -> None:
        """Return None, since the number of outputs is that of the classes."""

    def observe(self, output: Array, target: Array, error: Array = None) -> Array:
        """Observe the class (point,)."""
        import numpy as np
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

    def quantities(self, output: Array, xp: Module) -> Array:
        """Return the logits minus their mean over the classes, which no probability depends on."""
        logits = output / self.temperature
        return logits - xp.mean(logits, axis=-1, keepdims=True)

    def probabilities(self, output: Array, xp: Module) -> Array:
        """Return the probabilities (..., class)."""
        logits = output / self.temperature
        relative = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))
        return relative / xp.sum(relative, axis=-1, keepdims=True)

    def information_root(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Array:
        """Return diag(sqrt(p)) (1 - 1 p') / temperature, whose square is diag(p) - p p'."""
        p = self.probabilities(output, xp)
        root = xp.sqrt(p)[..., None] * (xp.eye(p.shape[-1], dtype=p.dtype) - p[..., None, :])
        return root / self.temperature


def _draw(logits: Any, rng: Any, size: Any = None) -> np.ndarray:
    """Draw classes: the largest logit after Gumbel noise is added to each."""
    import numpy as np

    shape = np.shape(logits) if size is None else (*size, np.shape(logits)[-1])
    return np.argmax(logits + rng.gumbel(size=shape), axis=-1).astype(CLASS)


def _log_probability(value: Array, logits: Array, *, classes: np.ndarray) -> Array:
    """Return the log probability of a class, finite for any logits.

    `pm.Categorical` is not used: in JAX its index of the rows is int8, which allows at most 127.
    """
    from pytensor import tensor as pt

    is_true = pt.eq(value[..., None], classes)
    each = pt.where(is_true, pt.special.log_softmax(logits, axis=-1), 0)
    return pt.sum(each, axis=-1, acc_dtype=each.dtype)
