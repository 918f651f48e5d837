"""Base class of surrogates of numbers and of classes: inputs, domain, process and verdicts.

It needs NumPy and h5py, and JAX if that engine is chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from nlobayes.checks import APPROXIMATE
from nlobayes.data.feature_maps import FEATURE_MAPS
from nlobayes.data.references import make_reference
from nlobayes.data.transforms import feature_transform, standardise_features
from nlobayes.surrogate import domain as domains
from nlobayes.surrogate.conditioned import count_draws
from nlobayes.surrogate.consistency import read_exported
from nlobayes.surrogate.identity import conditions, in_words, origin, process_of
from nlobayes.surrogate.in_numpy import Engine, evaluator
from nlobayes.surrogate.nodes import NODES
from nlobayes.surrogate.point_arrays import among, points_of
from nlobayes.surrogate.process import is_process
from nlobayes.surrogate.train_ranges import Limits, bounds_of, gaps, mixing_rows
from nlobayes.types import SurrogateContent
from nlobayes.untyped import Facts, Points

VANISHES = "the cross section that it is relative to vanishes"
FAR = "far from the train rows: {:.3g} spacings of these rows, allowed {:.3g}"
MOST_KEPT = 100_000
"""Largest number of points that are kept for the next call."""


class StoredNetwork:
    """Exported draws of a network, and the domain of their training data.

    Attributes
    ----------
    inputs
        Names of the columns of a point, in order. If the target is relative to a column, that
        column is the last.
    target
        Name of the target. `units` has its unit and those of the inputs.
    scale
        Model scale: `log10` or `identity` for numbers, `classes` for classes.
    draws
        Number of draws of f: of an infinitely wide network several per draw of its scales.
    limits
        Smallest and largest value of each input among the train rows.
    gaps
        For masses with both signs: the interval around zero without train rows.
    mixings
        Rows of a mixing matrix among the inputs, whose lengths have limits.
    typical
        A train row in the centre of the others, by input.
    facts
        Content of the file: verdicts, scores, provenance, citation.
    sha256
        SHA-256 of the file.
    origin
        The process as the table of points states it: particles, `sqrt_s_tev`, order, parton
        distributions and others by name. Entries that are not stated are `unknown`.
    process
        Particles as PDG numbers, and the energy in GeV. None if the table did not state them.
    conditions
        Fixed parameters, such as `msq`, the mean mass of the light squarks in GeV, each with the
        range in which points must lie. They are no inputs. `condition_names` has their names.
    """

    OF_CLASSES: ClassVar[bool]

    def __init__(self, exported: SurrogateContent, engine: Engine = "numpy") -> None:
        facts = exported.facts
        target = facts["transforms"]["target"]
        self.inputs: tuple[str, ...] = tuple(facts["columns"])
        self.target: str = facts["target"]
        self.units: dict[str, str] = facts["units"]
        self.scale: str = target["scale"]
        self.draws = count_draws(exported.variables) * (NODES if is_process(exported) else 1)
        self.limits = {
            name: (float(low), float(high))
            for name, (low, high) in zip(self.inputs, exported.limits, strict=True)
        }
        self.typical = dict(zip(self.inputs, map(float, exported.typical), strict=True))
        self.facts: Facts = facts
        self.sha256 = exported.sha256
        self.origin = origin(facts)
        self.process = process_of(self.origin)
        self.conditions = conditions(self.origin, self.inputs)
        self.condition_names = tuple(one.name for one in self.conditions)
        self._features = feature_transform(facts["transforms"]["features"])
        stated = target.get("relative_to")
        self._relative_to = make_reference(stated) if stated else None
        behind = self._relative_to.behind if self._relative_to else ()
        self._inputs_of_network = len(self.inputs) - len(behind)
        near = facts["domain"]
        self._domain = domains.Domain(
            exported.features, exported.spacing, near["inside"], near["edge"]
        )
        ranges: Limits = self.limits | near["limits"]
        signs = FEATURE_MAPS[self._features.map].SIGNS
        self._bounds = bounds_of(ranges, self.inputs, self.units, signs)
        self.gaps = gaps(ranges, self.inputs)
        self.mixings = mixing_rows(self.inputs, self.units, ranges)
        self._make_evaluator = partial(evaluator, exported, engine)
        if engine != "numpy":
            self._evaluate = self._make_evaluator()  # now, so that a missing library is told
        self._last = SurrogatePoints(self, np.empty((0, len(self.inputs))))

    @cached_property
    def _evaluate(self) -> Callable[[np.ndarray], np.ndarray]:
        """The function from features to outputs of every draw, made at the first prediction."""
        return self._make_evaluator()

    def __repr__(self) -> str:
        """Describe target, number of draws, failed checks and process."""
        failed = ", ".join(name for names in self.failed_checks.values() for name in names)
        verdict = f"failed: {failed}" if failed else "all checks passed"
        if self.approximate:
            verdict = f"{APPROXIMATE}, {verdict}"
        name, process = type(self).__name__, in_words(self.origin)
        return f"<{name} of {self._predicts()}: {self.draws} draws, {verdict}; of {process}>"

    def _predicts(self) -> str:
        return f"{self.target} [{self.units.get(self.target) or 'no unit'}]"

    @property
    def approximate(self) -> bool:
        """Whether the draws come from no chains, so that convergence does not apply."""
        converged: bool | None = self.facts["verdict"]["converged"]
        return converged is None

    @property
    def failed_checks(self) -> dict[str, list[str]]:
        """Names of failed checks of the chains (`convergence`) and of the error bars."""
        verdict = self.facts["verdict"]
        return {
            kind: [name for name, check in verdict[kind].items() if not check["passed"]]
            for kind in ("convergence", "calibration")
        }

    @classmethod
    def load(cls, path: str | Path, engine: Engine = "numpy") -> Self:
        """Read an exported file; `engine` selects the library that evaluates the network.

        Raises InputError if the file is no surrogate, is damaged or has contradictory content; if
        it predicts classes instead of numbers, or the reverse; if its target is relative to another
        version of the embedded engine; or if `engine` is unknown.
        """
        return cls(read_exported(path, cls.OF_CLASSES), engine)

    def usable(self, x: Points) -> np.ndarray:
        """Return which points (point, input) have a prediction: features, and a reference."""
        return self.seen(x).usable.copy()

    def distance(self, x: Points) -> np.ndarray:
        """Return the smallest distance (point,) to a train row, in units of the row's spacing.

        It is NaN for a point without features.
        """
        return self.seen(x).distance.copy()

    def domain(self, x: Points, given: Facts | None = None) -> np.ndarray:
        """Classify points (point, input) as `inside`, `near edge` or `outside`.

        A point is `outside` if an input, the absolute value of a mass or the length of a row of
        mixings is outside the range of the train rows. Signs that do not change the features, such
        as that of a whole row, have no effect. A point is also `outside` if it has no prediction or
        violates one of `conditions`. `given` has the fixed parameters by name (point,), NaN if
        unknown. `reasons` states the reason.
        """
        return self._domain_of(self.seen(x), given or {})

    def reasons(self, x: Points, given: Facts | None = None) -> np.ndarray:
        """Describe why points (point, input) are `outside`, each in a text (point,).

        If fixed parameters are `given`, the text also names those without a value. It is empty if
        there is nothing to describe.
        """
        return self.standing(x, given)[1]

    def standing(self, x: Points, given: Facts | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return `domain` and `reasons` of points together."""
        seen = self.seen(x)
        conditions = () if given is None else self.conditions
        texts = domains.reasons_of(conditions, given or {}, len(seen.points))
        flags = self._domain_of(seen, given or {})
        for row in np.flatnonzero(flags == domains.OUTSIDE):
            text = self._bounds.describe(seen.points[row], self.inputs)
            if not seen.usable[row]:
                text = self._unusable(seen.points[row], seen.features[row])
            elif not text and seen.distance[row] > self._domain.edge:
                text = FAR.format(seen.distance[row], self._domain.edge)
            texts[row] = "; ".join(filter(None, [text, texts[row]]))
        return flags, texts

    def _domain_of(self, seen: SurrogatePoints, given: Facts) -> np.ndarray:
        within = seen.usable & self._bounds.allow(seen.points)
        within &= ~domains.violated(self.conditions, given, len(seen.points))
        return domains.flag(self._domain, seen.distance, within)

    def reference(self, x: Points) -> np.ndarray | None:
        """Compute the reference of the target, in its unit (point,); None if there is none.

        Predictions are multiplied by the reference, or on the scale `identity` added to it. Where
        the reference does not exist, it and the prediction are NaN. `needs` describes the points
        with a reference.
        """
        known = self.seen(x).reference
        return None if known is None else known.copy()

    @property
    def needs(self) -> str:
        """Description of the points with a reference; empty if the target itself was learned."""
        return self._relative_to.needs(self.scale) if self._relative_to else ""

    def network_inputs(self, points: np.ndarray) -> np.ndarray:
        """Select the columns of points (point, input) from which features are computed."""
        return points[:, : self._inputs_of_network]

    def vanishes(self, x: Points) -> np.ndarray:
        """Return at which points (point, input) the reference is 0, and a factor of the target."""
        points = points_of(x, self.inputs)
        scales = self.scale == "log10"
        reference = SurrogatePoints(self, points).reference_on("identity") if scales else None
        return np.zeros(len(points), bool) if reference is None else reference == 0

    def seen(self, x: Points) -> SurrogatePoints:
        """Return what is computed of points, once in consecutive calls for the same points."""
        points = points_of(x, self.inputs)
        if np.array_equal(self._last.points, points, equal_nan=True):
            return self._last
        found = SurrogatePoints(self, points.copy())
        if len(points) <= MOST_KEPT:
            self._last = found
        return found

    def _unusable(self, point: np.ndarray, features: np.ndarray) -> str:
        """Describe why a point (input,) has no prediction."""
        stated = zip(self.inputs, point.tolist(), strict=True)
        if bad := [f"{name} is {value}" for name, value in stated if not np.isfinite(value)]:
            return f"{', '.join(bad)}, no finite number"
        if self.vanishes([point])[0]:
            return VANISHES
        has_features = np.isfinite(features).all()
        allowed = self.needs if has_features else FEATURE_MAPS[self._features.map].ALLOWED
        return f"no such point can be predicted; allowed: {allowed}"


class SurrogatePoints:
    """Points (point, input), and what a surrogate computes of them, each once on first use."""

    def __init__(self, surrogate: StoredNetwork, points: np.ndarray) -> None:
        self._surrogate = surrogate
        self.points = points

    @cached_property
    def features(self) -> np.ndarray:
        """What the network reads (point, feature), NaN for points without features."""
        inputs, transform = self._surrogate.network_inputs(self.points), self._surrogate._features
        finite = np.isfinite(inputs).all(axis=1)
        with np.errstate(all="ignore"):
            mapped = FEATURE_MAPS[transform.map].apply(inputs[finite])
        found = standardise_features(transform, mapped)
        return among(np.where(np.isfinite(found).all(axis=1)[:, None], found, np.nan), finite, 0)

    @cached_property
    def reference(self) -> np.ndarray | None:
        """The reference of the target (point,); None if there is none."""
        return self.reference_on(self._surrogate.scale)

    def reference_on(self, scale: str) -> np.ndarray | None:
        """Compute the reference, NaN where it does not exist on a scale."""
        surrogate = self._surrogate
        if surrogate._relative_to is None:
            return None
        with np.errstate(all="ignore"):
            return surrogate._relative_to.values(self.points, surrogate.inputs, scale)

    @cached_property
    def usable(self) -> np.ndarray:
        """Which points have a prediction (point,)."""
        columns = [self.points, self.features]
        columns += [] if self.reference is None else [self.reference]
        usable: np.ndarray = np.isfinite(np.column_stack(columns)).all(axis=1)
        return usable

    @cached_property
    def distance(self) -> np.ndarray:
        """The smallest distance to a train row (point,)."""
        finite = np.isfinite(self.features).all(axis=1)
        return among(domains.distance(self._surrogate._domain, self.features[finite]), finite)
