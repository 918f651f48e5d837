"""`Surrogate.load(path).predict(x)`: cross sections with error bars from one file.

It needs NumPy and h5py. It needs SciPy if the target is relative to the embedded engine, or if
functions of an infinitely wide network are drawn, and JAX if that engine is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from nlobayes.errors import InputError
from nlobayes.extras import needs_extra
from nlobayes.surrogate import acceptance, theory
from nlobayes.surrogate.in_numpy import Engine
from nlobayes.surrogate.network_outputs import Output, Scale, joined, one_by_one, output_of
from nlobayes.surrogate.point_arrays import among
from nlobayes.surrogate.predictive import Chunk, Prediction
from nlobayes.surrogate.process import is_process, stacked
from nlobayes.surrogate.trained import StoredNetwork, SurrogatePoints
from nlobayes.types import SurrogateContent
from nlobayes.untyped import Facts, Points

_CELLS = 4_000_000
"""Predictions (draw, point) that are in memory at once."""


class Surrogate(StoredNetwork):
    """A sampled network with its calibrated noise, ready to predict numbers.

    Attributes
    ----------
    outputs
        Names of all targets of the network, `target` first.
    theory
        For each theory error the names of its outputs, which are ratios to the target.
    """

    OF_CLASSES: ClassVar[bool] = False

    def __init__(self, exported: SurrogateContent, engine: Engine = "numpy") -> None:
        super().__init__(exported, engine)
        self.theory: Mapping[str, Sequence[str]] = self.facts["transforms"].get("theory", {})
        self._each = tuple(one_by_one(exported))
        self._outputs = tuple(map(output_of, self._each))
        self.outputs: tuple[str, ...] = tuple(output.name for output in self._outputs)
        self._held_out = exported.held_out

    def _predicts(self) -> str:
        further = ", ".join(self.outputs[1:])
        return super()._predicts() + (f" and {further}" if further else "")

    def predict(
        self,
        x: Points,
        *,
        quantiles: Sequence[float] = (0.16, 0.84),
        on: Scale = "target",
        output: str | None = None,
    ) -> Prediction:
        """Predict points.

        Parameters
        ----------
        x
            Points (point, input) in the units of `inputs`: a frame or a mapping with columns of
            these names, or an array in their order.
        quantiles
            Probabilities of a smaller value.
        on
            `target` for the target's unit, or `model` for the model scale.
        output
            One of `outputs`; by default the first, `target`.

        Returns
        -------
        Prediction
            Mean, median, epistemic and total sd (point,), and quantiles (quantile, point). They are
            NaN for a point without a prediction, which is `outside` the `domain` for a stated
            `reason`.

        Raises
        ------
        InputError
            If a column is missing, the points have another shape, or there is no such output.
        """
        name = self._known(output)
        return self._predict(x, {name: quantiles}, on)[name]

    def predict_outputs(
        self, x: Points, *, quantiles: Sequence[float] = (0.16, 0.84), on: Scale = "target"
    ) -> dict[str, Prediction]:
        """Predict all `outputs` of points, by name; arguments and errors as `predict`."""
        return self._predict(x, dict.fromkeys(self.outputs, quantiles), on)

    def as_jax(
        self, *, quantiles: Sequence[float] = (0.16, 0.84), output: str | None = None
    ) -> Callable[[Any], Prediction]:
        """Return the prediction as a pure JAX function, for `grad`, `jit` and `vmap`.

        Its memory is proportional to draws times points times units of a layer. For many points,
        call it on parts with `jax.lax.map`.

        Parameters
        ----------
        quantiles
            Probabilities of a smaller value.
        output
            One of `outputs`; by default the first, `target`.

        Returns
        -------
        Callable
            A function of points (..., input), in the order of `inputs` and in their units. It
            returns the result of `predict` with axes (...,), and quantiles with axes (quantile,
            ...). Values are NaN where those of `predict` are. With `jax_enable_x64` both agree to
            rounding, or to the rounding of float32 if `predict` computes in float32.

        Raises
        ------
        InputError
            If JAX is not installed, the feature map needs NumPy, there is no such output, or a
            probability is outside the table of the noise. The function raises it for points of
            another shape.
        """
        name = self._known(output)
        with needs_extra("jax"):
            from nlobayes.surrogate.in_jax import function_of

        return function_of(self._each[self.outputs.index(name)], quantiles, self.network_inputs)

    def errors(self, x: Points) -> dict[str, np.ndarray]:
        """Return relative errors of the target at points (point, input), each (point,), by name.

        `regression_down` and `regression_up` are the distances from the median to the ends of the
        68 % interval of the surrogate. Every source of `theory` has errors in the same form, and
        `total_down` and `total_up` combine all sources. `surrogate.theory` documents the formulas.

        Raises
        ------
        InputError
            As `predict`.
        """
        return theory.relative_errors(self.for_errors(x), self.target, self.theory)

    def for_errors(self, x: Points) -> dict[str, np.ndarray]:
        """Return what `errors` needs of all `outputs` of points, by name; errors as `predict`.

        These are the quantiles `theory.MEDIAN_AND_INTERVAL` (quantile, point) of the target, and
        the median (1, point) of all others.
        """
        median, *interval = theory.MEDIAN_AND_INTERVAL
        quantiles = {name: (median,) for name in self.outputs} | {self.target: (median, *interval)}
        return self._quantiles(x, quantiles)

    def stated_errors(self, x: Points) -> np.ndarray:
        """Return the relative error (point,) that the prediction of each point states.

        It is the larger distance from the median of the target to an end of its 68 % interval, over
        the size of the median; NaN without a prediction. Errors as `predict`.
        """
        quantiles = {self.target: theory.MEDIAN_AND_INTERVAL}
        return acceptance.stated_error(self._quantiles(x, quantiles)[self.target])

    def threshold(
        self,
        max_error: float,
        *,
        share: float = acceptance.SHARE,
        confidence: float = acceptance.CONFIDENCE,
    ) -> acceptance.Threshold:
        """Return the largest stated error that keeps the guarantee of `accepted`.

        Raises
        ------
        InputError
            If a number is not between 0 and 1, the file has no errors of held-out rows, these are
            too few, or no threshold keeps the guarantee.
        """
        return acceptance.threshold_of_rows(self._held_out, max_error, share, confidence)

    def accepted(
        self,
        x: Points,
        max_error: float,
        *,
        share: float = acceptance.SHARE,
        confidence: float = acceptance.CONFIDENCE,
        given: Facts | None = None,
    ) -> np.ndarray:
        """Return which points (point, input) may be predicted instead of computed, each a truth.

        With the stated confidence, at most a `share` of the accepted points has a median that
        differs from the truth by more than `max_error`, relative to the truth. This holds for
        points distributed as the held-out rows. A point is accepted if it is `inside` the `domain`,
        for which `given` is passed on, and its stated error is at most `threshold(...).value`;
        `surrogate.acceptance` documents why.

        Raises
        ------
        InputError
            As `threshold` and `predict`.
        """
        threshold = self.threshold(max_error, share=share, confidence=confidence)
        return threshold.accepts(self.stated_errors(x), self.domain(x, given))

    def quantiles(self, x: Points, probabilities: Sequence[float]) -> dict[str, np.ndarray]:
        """Return quantiles (quantile, point) of all `outputs` of points, by name.

        They equal those of `predict`, which also computes moments and is therefore slower. Errors
        as `predict`.
        """
        return self._quantiles(x, dict.fromkeys(self.outputs, probabilities))

    def _quantiles(
        self, x: Points, probabilities: Mapping[str, Sequence[float]]
    ) -> dict[str, np.ndarray]:
        seen = self.seen(x)
        parts: dict[str, list[np.ndarray]] = {name: [] for name in probabilities}
        for chunk in self._chunks(seen, parts, self._evaluate):
            for output, values in chunk.items():
                parts[output.name].append(output.quantiles(values, probabilities[output.name]))
        return {
            name: among(np.concatenate(found, axis=1), seen.usable) for name, found in parts.items()
        }

    def sample(
        self,
        x: Points,
        *,
        noise: bool = True,
        seed: int = 0,
        on: Scale = "target",
        output: str | None = None,
        jointly: bool = True,
    ) -> np.ndarray:
        """Draw predictions (draw, point) of points (point, input), with or without the noise.

        Each draw is one function, the same in every call; `seed` is that of the noise. Without
        `jointly` an infinitely wide network has values in place of functions, whose mean and sd at
        each point are those of `predict`, and which say nothing of two points together.
        """
        name = self._known(output)
        return self._sample(x, (name,), noise, seed, on, jointly)[name]

    def sample_outputs(
        self, x: Points, *, noise: bool = True, seed: int = 0, on: Scale = "target"
    ) -> dict[str, np.ndarray]:
        """Draw all `outputs` (draw, point) of points; each draw uses one network for all."""
        return self._sample(x, self.outputs, noise, seed, on, jointly=True)

    @property
    def of_process(self) -> bool:
        """Whether the network is infinitely wide, so that its covariances have a closed form."""
        return is_process(self._each[0])

    def covariances(
        self, x: Points, *, draws: int = 8, prior: bool = False, output: str | None = None
    ) -> np.ndarray:
        """Return the covariances of f between points: axes (draw, point, point).

        They are on the model scale in units of the sd of its train rows, `facts["transforms"]
        ["target"]["sd"]`, and NaN for points without a prediction. An infinitely wide network has
        them in closed form for at most `draws` draws of its scales, with `prior` before it learned
        any row. Another network has one matrix, from all its draws (`surrogate.covariances`).

        Raises
        ------
        InputError
            As `predict`; also if the `prior` of a finite network is requested.
        """
        from nlobayes.surrogate import covariances as of  # needs SciPy

        place, seen = self.outputs.index(self._known(output)), self.seen(x)
        content, features = self._each[place], seen.features[seen.usable]
        if is_process(content):
            found = of.covariances_of_process(of.some_of(content, draws), features, prior=prior)
        elif prior:
            raise InputError("surrogate.no_prior", target=self.target)
        else:
            functions = self._evaluate(features)
            found = of.covariances_of_draws(
                functions[..., place] if functions.ndim > 2 else functions
            )
        return among(among(found, seen.usable, 1), seen.usable, 2)

    def noise_variances(
        self, x: Points, *, draws: int = 8, output: str | None = None
    ) -> np.ndarray:
        """Return the variance of the noise of further rows at points: axes (draw, point).

        Draws and units are those of `covariances`. It is the noise that an infinitely wide network
        learned, and that of the predictive of another network. Errors as `predict`.
        """
        from nlobayes.surrogate import covariances as of  # needs SciPy

        place, seen = self.outputs.index(self._known(output)), self.seen(x)
        content = self._each[place]
        if is_process(content):
            known = of.noise_of_process(of.some_of(content, draws))
            return np.where(seen.usable, known[:, np.newaxis], np.nan)
        found = self.predict(x, quantiles=(), on="model", output=output)
        noise = np.square(found.total_sd) - np.square(found.posterior_sd)
        unit: float = content.facts["transforms"]["target"]["sd"]
        return np.maximum(noise, 0.0)[np.newaxis] / unit**2

    @cached_property
    def _functions(self) -> Callable[[np.ndarray], np.ndarray]:
        """The draws of f as functions, which `_evaluate` has for finite networks alone."""
        if not is_process(self._each[0]):
            return self._evaluate
        from nlobayes.surrogate import pathwise  # needs SciPy

        return stacked([pathwise.evaluator(one) for one in self._each], np)

    def _known(self, output: str | None) -> str:
        if output is not None and output not in self.outputs:
            raise InputError("surrogate.no_output", output=output, known=self.outputs)
        return output or self.target

    def _predict(
        self, x: Points, quantiles: Mapping[str, Sequence[float]], on: Scale
    ) -> dict[str, Prediction]:
        """Predict the outputs of these names, each with its quantiles."""
        seen = self.seen(x)
        parts: dict[str, list[Prediction]] = {name: [] for name in quantiles}
        for chunk in self._chunks(seen, parts, self._evaluate):
            for output, values in chunk.items():
                parts[output.name].append(output.summary(values, quantiles[output.name], on))
        return {
            name: Prediction(*(among(values, seen.usable) for values in joined(found)))
            for name, found in parts.items()
        }

    def _sample(
        self, x: Points, names: Collection[str], noise: bool, seed: int, on: Scale, jointly: bool
    ) -> dict[str, np.ndarray]:
        seen = self.seen(x)
        about_mean = noise and self._outputs[0].noise.about == "mean"
        evaluate = self._functions if jointly and not about_mean else self._evaluate
        parts: dict[str, list[np.ndarray]] = {name: [] for name in names}
        rngs = {  # the first output has the generator of a surrogate of one output
            name: np.random.default_rng([seed, place] if place else seed)
            for place, name in enumerate(self.outputs)
        }
        for chunk in self._chunks(seen, names, evaluate):
            for output, values in chunk.items():
                rng = rngs[output.name] if noise else None
                parts[output.name].append(output.draws(values, rng, on))
        return {
            name: among(np.concatenate(found, axis=1), seen.usable) for name, found in parts.items()
        }

    def _chunks(
        self,
        seen: SurrogatePoints,
        names: Collection[str],
        evaluate: Callable[[np.ndarray], np.ndarray],
    ) -> Iterator[dict[Output, Chunk]]:
        """Yield the draws on the model scale, for blocks of usable points that fit in memory."""
        usable, reference = seen.usable, seen.reference
        features, reference = (
            seen.features[usable],
            None if reference is None else reference[usable],
        )
        step = max(1, _CELLS // (self.draws * len(self.outputs)))
        for start in range(0, max(len(features), 1), step):
            rows = slice(start, start + step)
            part, known = features[rows], None if reference is None else reference[rows]
            values = evaluate(part)
            each = np.moveaxis(values, -1, 0) if len(self.outputs) > 1 else [values]
            yield {
                output: output.chunk(one, part, known)
                for output, one in zip(self._outputs, each, strict=True)
                if output.name in names
            }
