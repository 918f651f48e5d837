"""`Surrogate.load(path).predict(x)`: cross sections with error bars from one file.

Needs NumPy and h5py; JAX only where it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from nlobayes.artifacts.surrogate_file import read_surrogate
from nlobayes.checks import APPROXIMATE
from nlobayes.data.references import allowed as allowed_references
from nlobayes.data.references import check_version, columns_behind, reference_at
from nlobayes.data.transforms import apply_features, feature_transform
from nlobayes.errors import InputError
from nlobayes.model.networks import network_of
from nlobayes.surrogate import domain as domains
from nlobayes.surrogate import theory
from nlobayes.surrogate.conditions import reasons, violated
from nlobayes.surrogate.evaluation import evaluate
from nlobayes.surrogate.identity import conditions, in_words, origin, process_of
from nlobayes.surrogate.limits import Limits, gaps, within
from nlobayes.surrogate.mixture import Chunk, Prediction
from nlobayes.surrogate.outputs import Output, Scale, joined, one_by_one, output_of
from nlobayes.surrogate.schema import check
from nlobayes.types import Exported

Engine = Literal["numpy", "jax"]
Evaluate = Callable[[np.ndarray], np.ndarray]

_CELLS = 4_000_000
"""Predictions (draw, point) that are held at once."""


class Surrogate:
    """A sampled network with its calibrated noise, ready to predict.

    Attributes
    ----------
    inputs
        Names of the columns that a point has, in order; a column that the target was learned
        relative to comes last.
    target
        Name of what is predicted; `units` names its unit and those of the inputs.
    outputs
        Names of all targets that the network has learned together, `target` first.
    theory
        Names of outputs by the theory error that they tell, each as a ratio to the target.
    scale
        Model scale: `log10` of the target or `identity`.
    draws
        Number of posterior draws.
    limits
        Smallest and largest value of each input among the train rows.
    gaps
        Of masses with both signs: the values around zero between which no train row lies.
    typical
        A train row in the middle of the others, by input.
    facts
        What the file says of itself: verdicts, scores, provenance, how to cite it.
    origin
        What it is of, as the table of its points states it: process, `sqrt_s_tev`, order, parton
        distributions and more by name; `unknown` where no table did.
    process
        Particles as PDG numbers, and the energy in GeV; None where a table stated them not.
    conditions
        Parameters that were held fixed, such as `msq`, the mean mass of the light squarks in GeV,
        each with the span in which points must lie. They are no inputs.
    """

    def __init__(self, exported: Exported, engine: Engine = "numpy") -> None:
        facts = exported.facts
        self.inputs: tuple[str, ...] = tuple(facts["columns"])
        self.target: str = facts["target"]
        self.units: dict[str, str] = facts["units"]
        self.theory: Mapping[str, Sequence[str]] = facts["transforms"].get("theory", {})
        self.scale: str = facts["transforms"]["target"]["scale"]
        self.draws = len(exported.variables["weights_1"])
        self.limits = {
            name: (float(low), float(high))
            for name, (low, high) in zip(self.inputs, exported.limits, strict=True)
        }
        self.typical = dict(zip(self.inputs, map(float, exported.typical), strict=True))
        self.facts: Mapping[str, Any] = facts
        self.origin = origin(facts)
        self.process = process_of(self.origin)
        self.conditions = conditions(self.origin, self.inputs)
        self._features = feature_transform(facts["transforms"]["features"])
        self._outputs = tuple(map(output_of, one_by_one(exported)))
        self.outputs: tuple[str, ...] = tuple(one.name for one in self._outputs)
        self._relative_to = self._outputs[0].transform.relative_to
        behind = len(columns_behind(self._relative_to))
        self._inputs_of_network = len(self.inputs) - behind
        near = facts["domain"]
        self._domain = domains.Domain(
            exported.features, exported.spacing, near["inside"], near["edge"]
        )
        self._ranges: Limits = self.limits | near["limits"]
        self.gaps = gaps(self._ranges, self.inputs)
        self._evaluate = _evaluator(exported, engine)

    def __repr__(self) -> str:
        """Say what is predicted, from how many draws, which checks failed, and what it is of."""
        unit, of = self.units.get(self.target) or "no unit", in_words(self.origin)
        more = f" and {', '.join(self.outputs[1:])}" if len(self.outputs) > 1 else ""
        failed = ", ".join(name for names in self.failed_checks.values() for name in names)
        verdict = f"failed: {failed}" if failed else "all checks passed"
        if self.approximate:
            verdict = f"{APPROXIMATE}, {verdict}"
        what = f"{self.target} [{unit}]{more}"
        return f"<Surrogate of {what}: {self.draws} draws, {verdict}; of {of}>"

    @property
    def approximate(self) -> bool:
        """Whether its draws are no chains, so that convergence does not apply."""
        said: bool | None = self.facts["verdict"]["converged"]
        return said is None

    @property
    def failed_checks(self) -> dict[str, list[str]]:
        """Names of the checks of the chains (`convergence`) and of the error bars that failed."""
        verdict = self.facts["verdict"]
        return {
            kind: [name for name, check in verdict[kind].items() if not check["passed"]]
            for kind in ("convergence", "calibration")
        }

    @classmethod
    def load(cls, path: str | Path, engine: Engine = "numpy") -> Surrogate:
        """Read an exported surrogate and choose what computes it.

        Raises
        ------
        InputError
            If the file is no surrogate, is damaged or says what cannot be, the engine is not known,
            or its target is relative to what another version of the embedded engine computes.
        """
        exported = check(read_surrogate(Path(path)), str(path))
        check_version(exported.facts["transforms"]["target"].get("relative_to"))
        return cls(exported, engine)

    def predict(
        self,
        x: Any,
        *,
        quantiles: Sequence[float] = (0.16, 0.84),
        on: Scale = "target",
        output: str | None = None,
    ) -> Prediction:
        """Predict points.

        Parameters
        ----------
        x
            Points (point, input), in the order of `inputs` and in their units.
        quantiles
            Probabilities of a smaller value.
        on
            `target` in the target's unit, or `model` on the model scale.
        output
            Which of `outputs`; the first, `target`, where not given.

        Returns
        -------
        Mean, median, epistemic and total sd (point,), and quantiles (quantile, point).

        Raises
        ------
        InputError
            If the points have another shape, a value is not finite or not allowed, or there is no
            such output.
        """
        name = self._known(output)
        return self._predict(x, (name,), quantiles, on)[name]

    def predict_outputs(
        self, x: Any, *, quantiles: Sequence[float] = (0.16, 0.84), on: Scale = "target"
    ) -> dict[str, Prediction]:
        """Predict all `outputs` of points, by name; arguments and errors as `predict`."""
        return self._predict(x, self.outputs, quantiles, on)

    def errors(self, x: Any) -> dict[str, np.ndarray]:
        """Give relative errors of the target at points (point, input), each (point,), by name.

        `regression_down` and `regression_up` lead from the median to the ends of the 68 % interval
        of the surrogate; so do those of every source of `theory`, and `total_down` and `total_up`
        of all. `surrogate.theory` says how they are combined.

        Raises
        ------
        InputError
            As `predict`.
        """
        found = self.quantiles(x, theory.MEDIAN_AND_INTERVAL)
        return theory.relative_errors(found, self.target, self.theory)

    def quantiles(self, x: Any, probabilities: Sequence[float]) -> dict[str, np.ndarray]:
        """Give quantiles (quantile, point) of all `outputs` of points, by name.

        They are those of `predict`, without the moments that cost most. Errors as `predict`.
        """
        found = self._predict(x, self.outputs, probabilities, "model")
        return {one.name: one.to_target(found[one.name].quantiles) for one in self._outputs}

    def sample(
        self,
        x: Any,
        *,
        noise: bool = True,
        seed: int = 0,
        on: Scale = "target",
        output: str | None = None,
    ) -> np.ndarray:
        """Draw predictions (draw, point) of points (point, input), with or without the noise."""
        name = self._known(output)
        return self._sample(x, (name,), noise, seed, on)[name]

    def sample_outputs(
        self, x: Any, *, noise: bool = True, seed: int = 0, on: Scale = "target"
    ) -> dict[str, np.ndarray]:
        """Draw all `outputs` (draw, point) of points: of one draw all are of the same network."""
        return self._sample(x, self.outputs, noise, seed, on)

    def distance(self, x: Any) -> np.ndarray:
        """Give the distance of points to the nearest train row, in the spacing there (point,)."""
        return domains.distance(self._domain, self._seen(x))

    def domain(self, x: Any, given: Mapping[str, Any] | None = None) -> np.ndarray:
        """Say of points (point, input) where they lie: `inside`, `near edge` or `outside`.

        A point beyond the range of the train rows is `outside`: in an input, in the size of a mass
        or in the length of a row of mixings. So is one without a `reference`, and one that violates
        one of `conditions`: `given` holds these parameters by name (point,), NaN where nobody knows
        them; `reasons` says which.
        """
        points = _checked(x, self.inputs)
        allowed = within(self._ranges, points, self.inputs, self.units)
        reference = self._reference(points)
        if reference is not None:
            allowed &= np.isfinite(reference)
        allowed &= ~violated(self.conditions, given or {}, len(points))
        return domains.flag(self._domain, self.distance(points), allowed)

    def reasons(self, given: Mapping[str, Any], points: int) -> np.ndarray:
        """Say of so many points which of `conditions` they violate, or do not tell (point,)."""
        return reasons(self.conditions, given, points)

    def reference(self, x: Any) -> np.ndarray | None:
        """Give what the target was learned relative to, in its unit (point,); None without one.

        Predictions are multiplied by it, on the scale `identity` added to it. It is NaN, and so is
        the prediction, where it does not exist; `needs` says which points have one.
        """
        return self._reference(_checked(x, self.inputs))

    @property
    def needs(self) -> str:
        """Say which points have a reference; empty where the target was learned itself."""
        relative_to = self._relative_to
        return "" if relative_to is None else allowed_references(relative_to, self.scale)

    def network_inputs(self, points: np.ndarray) -> np.ndarray:
        """Take the columns of points (point, input) that the network sees features of."""
        return points[:, : self._inputs_of_network]

    def _reference(self, points: np.ndarray) -> np.ndarray | None:
        relative_to = self._relative_to
        if relative_to is None:
            return None
        return reference_at(relative_to, points, self.inputs, self.scale)

    def _seen(self, x: Any) -> np.ndarray:
        points = _checked(x, self.inputs)
        return apply_features(self._features, self.network_inputs(points))

    def _known(self, output: str | None) -> str:
        if output is not None and output not in self.outputs:
            raise InputError("surrogate.no_output", output=output, known=self.outputs)
        return output or self.target

    def _predict(
        self, x: Any, names: Collection[str], quantiles: Sequence[float], on: Scale
    ) -> dict[str, Prediction]:
        parts: dict[str, list[Prediction]] = {name: [] for name in names}
        for chunk in self._chunks(x, names):
            for output, values in chunk.items():
                parts[output.name].append(output.summary(values, quantiles, on))
        return {name: joined(found) for name, found in parts.items()}

    def _sample(
        self, x: Any, names: Collection[str], noise: bool, seed: int, on: Scale
    ) -> dict[str, np.ndarray]:
        parts: dict[str, list[np.ndarray]] = {name: [] for name in names}
        places = range(len(self.outputs))
        rngs = {  # that of the first is as of a single output
            name: np.random.default_rng([seed, place] if place else seed)
            for name, place in zip(self.outputs, places, strict=True)
        }
        for chunk in self._chunks(x, names):
            for output, values in chunk.items():
                parts[output.name].append(
                    output.draws(values, rngs[output.name] if noise else None, on)
                )
        return {name: np.concatenate(found, axis=1) for name, found in parts.items()}

    def _chunks(self, x: Any, names: Collection[str]) -> Iterator[dict[Output, Chunk]]:
        """Evaluate the draws on the model scale, as many points at once as fit in memory."""
        points = _checked(x, self.inputs)
        features, reference = self._seen(points), self._reference(points)
        step = max(1, _CELLS // (self.draws * len(self.outputs)))
        for start in range(0, max(len(features), 1), step):
            rows = slice(start, start + step)
            part, known = features[rows], None if reference is None else reference[rows]
            values = self._evaluate(part)
            yield {
                output: output.chunk(
                    values if len(self.outputs) == 1 else values[..., place], part, known
                )
                for place, output in enumerate(self._outputs)
                if output.name in names
            }


def _evaluator(exported: Exported, engine: Engine) -> Evaluate:
    network = network_of(exported.variables, exported.facts["activation"])
    if engine == "numpy":
        return partial(evaluate, network, exported.variables)
    if engine == "jax":
        from nlobayes.surrogate.prediction import Compiled

        return Compiled(network, exported.variables)
    raise InputError("surrogate.unknown_engine", engine=engine, known=get_args(Engine))


def _checked(x: Any, inputs: tuple[str, ...]) -> np.ndarray:
    try:
        points = np.asarray(x, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("surrogate.not_numbers", inputs=inputs, reason=str(error)) from None
    if points.ndim != 2 or points.shape[1] != len(inputs):
        raise InputError(
            "surrogate.other_shape", shape=points.shape, count=len(inputs), inputs=inputs
        )
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if bad.size:
        raise InputError(
            "surrogate.not_finite", bad=bad.size, points=len(points), row=int(bad[0]) + 1
        )
    return points
