"""Log densities of priors and likelihoods written by hand, of a position read from its beginning.

Positive variables are read as their logarithms, whose Jacobian is the logarithm itself.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import prod, sqrt
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln
from jax.scipy.stats import cauchy, laplace, norm, t

from nlobayes.model.networks import Layer
from nlobayes.priors.hierarchical import GammaPrecision, HalfCauchyScale, HalfNormalScale
from tests.members import likelihood, prior, slopes


class Reader:
    """A position that is read from its beginning, and the log densities of what was read."""

    def __init__(self, position: jax.Array) -> None:
        self.rest, self.log_density = position, jnp.zeros(())
        self.scales: dict[str, jax.Array] = {}

    def read(self, shape: tuple[int, ...], log_density: Callable[[Any], Any]) -> jax.Array:
        """Read an array whose elements have this log density."""
        values, self.rest = jnp.split(self.rest, [prod(shape)])
        self.log_density += jnp.sum(log_density(values))
        return values.reshape(shape)

    def positive(self, log_density: Callable[[Any], Any], shape: tuple[int, ...] = ()) -> jax.Array:
        """Read the logarithms of positive values of this log density."""
        return jnp.exp(self.read(shape, lambda log: log_density(jnp.exp(log)) + log))

    def standard(self, shape: tuple[int, ...]) -> jax.Array:
        """Read standard normals."""
        return self.read(shape, norm.logpdf)


class Place(NamedTuple):
    """The place and role of an array."""

    name: str
    role: str
    shape: tuple[int, ...]
    fan_in: int
    output: bool


Array = Callable[[Reader, Place], jax.Array]


def half(log_density: Callable[..., Any], scale: float) -> Callable[[Any], Any]:
    """Fold a symmetric density."""
    return lambda x: jnp.log(2.0) + log_density(x, scale=scale)


def log_gamma(x: Any, shape: float, rate: float) -> Any:
    return shape * jnp.log(rate) - gammaln(shape) + (shape - 1) * jnp.log(x) - rate * x


def log_inverse_gamma(x: Any, shape: float, scale: float) -> Any:
    return shape * jnp.log(scale) - gammaln(shape) - (shape + 1) * jnp.log(x) - scale / x


def log_truncated(x: Any, mean: float, sd: float) -> Any:
    return norm.logpdf(x, mean, sd) - norm.logcdf(mean / sd)


def log_exponential(x: Any, rate: Any) -> Any:
    return jnp.log(rate) - rate * x


def independent(law: Callable[[Any], Any], scale: float, power: float) -> Array:
    """Weights of scale / fan_in^power, hidden biases of the scale, output biases of 0.4."""

    def array(reader: Reader, place: Place) -> jax.Array:
        biases = 0.4 if place.output else scale
        by = scale / place.fan_in**power if place.role == "weights" else biases
        return reader.read(place.shape, law) * by

    return array


def plain(reader: Reader, place: Place) -> jax.Array:
    """Weights N(0, 0.7^2) and biases N(0, 0.3^2), centered."""
    sd = 0.7 if place.role == "weights" else 0.3
    return reader.read(place.shape, lambda x: norm.logpdf(x, scale=sd))


def whitened(reader: Reader, place: Place) -> jax.Array:
    """The same of weights and biases alike, as sd times standard normals."""
    return reader.standard(place.shape) * 0.7


def hierarchical(hyper: Callable[[Reader], jax.Array], shared: str) -> Array:
    """Learned scales, read before the first array that each belongs to."""

    def array(reader: Reader, place: Place) -> jax.Array:
        if place.role == "biases" and place.output:
            return reader.standard(place.shape)
        group = place.name if shared == "layer" else place.role
        if group not in reader.scales:
            reader.scales[group] = hyper(reader)
        root = sqrt(place.fan_in) if place.role == "weights" else 1.0
        return reader.standard(place.shape) * reader.scales[group] / root

    return array


def relevance(reader: Reader, place: Place) -> jax.Array:
    """A scale for each input, half-Cauchy 0.7, and for each other array, half-normal 0.7."""
    first = place.name == "weights_1"
    law, shape = (cauchy.logpdf, (place.shape[0],)) if first else (norm.logpdf, ())
    scale = reader.positive(half(law, 0.7), shape)
    root = sqrt(place.fan_in) if place.role == "weights" else 1.0
    return reader.standard(place.shape) * (scale[:, None] if first else scale) / root


def log_normal(median: float, log_sd: float) -> dict[str, Any]:
    """Settings of a log-normal scale."""
    return {"kind": "log_normal", "median": median, "log_sd": log_sd}


def random_features(reader: Reader, place: Place) -> jax.Array:
    """Scales as of `relevance`, times fixed normals of seed 3; hidden biases 0.3 times normals."""
    rng = np.random.default_rng([3, *map(ord, place.name)])
    fixed = jnp.asarray(rng.standard_normal(place.shape))
    if place.role == "biases":
        return reader.standard(place.shape) if place.output else 0.3 * fixed
    first = place.name == "weights_1"
    law, shape = (cauchy.logpdf, (place.shape[0],)) if first else (norm.logpdf, ())
    scale = reader.positive(half(law, 0.7), shape)
    directions = reader.standard(place.shape) if place.output else fixed
    return directions * (scale[:, None] if first else scale) / sqrt(place.fan_in)


def scales(reader: Reader, place: Place) -> jax.Array:
    """Log-normal scales of the inputs and of both other arrays, times fixed normals of seed 4."""
    rng = np.random.default_rng([4, *map(ord, place.name)])
    fixed = jnp.asarray(rng.standard_normal(place.shape))
    if place.role == "biases" and place.output:
        return reader.standard(place.shape)
    first = place.name == "weights_1"
    median, sd = {"biases": (1.2, 0.9)}.get(place.role, (0.4, 1.1) if first else (1.5, 0.8))
    scale = reader.positive(
        lambda x: norm.logpdf(jnp.log(x), np.log(median), sd) - jnp.log(x),
        (place.shape[0],) if first else (),
    )
    root = 1.0 if first or place.role == "biases" else sqrt(place.fan_in)
    directions = reader.standard(place.shape) if place.output else fixed
    return directions * (scale[:, None] if first else scale) / root


def fixed_scales(reader: Reader, place: Place) -> jax.Array:
    """Scales 0.5, 0.6, ... of the inputs, 1.7 of other weights, 0.3 of biases, 0.4 of outputs'."""
    if place.role == "biases":
        return reader.standard(place.shape) * (0.4 if place.output else 0.3)
    inputs = 0.5 + 0.1 * jnp.arange(place.shape[0])[:, None]
    scale = inputs if place.name == "weights_1" else 1.7
    return reader.standard(place.shape) * scale / sqrt(place.fan_in)


def horseshoe(reader: Reader, place: Place) -> jax.Array:
    """With global scale 0.3, slab scale 1.7, slab degrees 4.6, biases of 0.6."""
    if place.role == "biases":
        return reader.standard(place.shape) * (1.0 if place.output else 0.6)
    local = reader.positive(half(cauchy.logpdf, 1.0), place.shape)
    shared = reader.positive(half(cauchy.logpdf, 0.3))
    slab = reader.positive(lambda c2: log_inverse_gamma(c2, 2.3, 2.3 * 1.7**2))
    scale = 1 / jnp.sqrt(1 / (shared * local) ** 2 + 1 / slab)
    return reader.standard(place.shape) * scale / sqrt(place.fan_in)


def tensorbnn(mean_sd: float, scale_mean: float, scale_sd: float) -> Array:
    """Mean and scale of every array."""

    def array(reader: Reader, place: Place) -> jax.Array:
        mean = reader.read((), lambda a: norm.logpdf(a, scale=mean_sd))
        scale = reader.positive(lambda b: log_truncated(b, scale_mean, scale_sd))
        return mean + scale * reader.standard(place.shape)

    return array


def tensorbnn_cauchy(location_sd: float, scale_mean: float, scale_sd: float) -> Array:
    """Location and scale of every array."""

    def array(reader: Reader, place: Place) -> jax.Array:
        location = reader.read((), lambda x: norm.logpdf(x, scale=location_sd))
        scale = reader.positive(lambda g: log_truncated(g, scale_mean, scale_sd))
        return location + scale * reader.read(place.shape, cauchy.logpdf)

    return array


def learned_slopes(reader: Reader, place: Place) -> jax.Array:
    """Exponential of a rate that is exponential of rate 0.7."""
    rate = reader.positive(lambda r: log_exponential(r, 0.7))
    return reader.positive(lambda x: log_exponential(x, rate), place.shape)


def _independent(kind: str, **settings: Any) -> Any:
    return prior(kind, scale=1.3, output_bias_scale=0.4, **settings)


HALF_NORMAL = (
    HalfNormalScale(kind="half_normal", scale=0.7),
    lambda r: r.positive(half(norm.logpdf, 0.7)),
)
HALF_CAUCHY = (
    HalfCauchyScale(kind="half_cauchy", scale=0.7),
    lambda r: r.positive(half(cauchy.logpdf, 0.7)),
)
GAMMA = (
    GammaPrecision(kind="gamma_precision", shape=2.3, rate=0.7),
    lambda r: 1 / jnp.sqrt(r.positive(lambda p: log_gamma(p, 2.3, 0.7))),
)
PRIORS: dict[str, tuple[Any, Array]] = {
    "normal": (
        prior("fan_in", scale=1.3, bias_scale=1.3, output_bias_scale=0.4),
        independent(norm.logpdf, 1.3, 0.5),
    ),
    "plain": (
        prior("gaussian", precision=0.7 ** (-2), bias_precision=0.3 ** (-2), non_centered=False),
        plain,
    ),
    "whitened": (prior("gaussian", precision=0.7 ** (-2)), whitened),
    "laplace": (_independent("laplace"), independent(laplace.logpdf, 1.3, 0.5)),
    "cauchy": (_independent("cauchy"), independent(cauchy.logpdf, 1.3, 1.0)),
    "student_t": (
        _independent("student_t", degrees_of_freedom=4.3),
        independent(lambda x: t.logpdf(x, 4.3), 1.3, 0.5),
    ),
    "heavy student_t": (
        _independent("student_t", degrees_of_freedom=1.3),
        independent(lambda x: t.logpdf(x, 1.3), 1.3, 1 / 1.3),
    ),
    "relevance": (prior("relevance", inputs=HALF_CAUCHY[0], hyper=HALF_NORMAL[0]), relevance),
    "random_features": (
        prior("random_features", inputs=HALF_CAUCHY[0], hyper=HALF_NORMAL[0], biases=0.3, seed=3),
        random_features,
    ),
    "scales": (
        prior(
            "scales",
            inputs=log_normal(0.4, 1.1),
            biases=log_normal(1.2, 0.9),
            output=log_normal(1.5, 0.8),
            seed=4,
        ),
        scales,
    ),
    "fixed_scales": (
        prior(
            "fixed_scales",
            inputs={"x2": 0.7, "x0": 0.5, "x1": 0.6},
            weights=1.7,
            biases=0.3,
            output_biases=0.4,
        ),
        fixed_scales,
    ),
    "horseshoe": (
        prior("horseshoe", global_scale=0.3, slab_scale=1.7, slab_degrees=4.6, bias_scale=0.6),
        horseshoe,
    ),
    "tensorbnn": (prior("tensorbnn"), tensorbnn(0.1, 1.0, 0.1)),
    "tensorbnn, truncated": (
        prior("tensorbnn", mean_sd=0.2, scale_mean=0.3, scale_sd=0.6),
        tensorbnn(0.2, 0.3, 0.6),
    ),
    "tensorbnn_cauchy": (prior("tensorbnn_cauchy"), tensorbnn_cauchy(0.2, 0.5, 0.5)),
    "tensorbnn_cauchy, other": (
        prior("tensorbnn_cauchy", location_sd=0.3, scale_mean=0.2, scale_sd=0.6),
        tensorbnn_cauchy(0.3, 0.2, 0.6),
    ),
    **{
        f"{name}, {shared}": (
            prior("hierarchical", hyper=hyper[0], shared=shared),
            hierarchical(hyper[1], shared),
        )
        for name, hyper in (
            ("half_normal", HALF_NORMAL),
            ("half_cauchy", HALF_CAUCHY),
            ("gamma", GAMMA),
        )
        for shared in ("layer", "network")
    },
}
SLOPES: dict[str, tuple[Any, Array]] = {
    "exponential": (
        slopes("exponential", rate=0.3),
        lambda reader, place: reader.positive(lambda x: log_exponential(x, 0.3), place.shape),
    ),
    "learned exponential": (slopes("exponential", rate=None, hyper_rate=0.7), learned_slopes),
    "normal": (
        slopes("normal", mean=0.2, sd=0.3),
        lambda reader, place: 0.2 + 0.3 * reader.standard(place.shape),
    ),
    "tensorbnn": (slopes("tensorbnn"), tensorbnn(0.3, 0.3, 0.1)),
}


def read_layers(
    reader: Reader, sizes: tuple[int, ...], array: Array, slopes: Array | None = None
) -> list[Layer]:
    """Read all arrays of a network, layer by layer: weights, biases, slopes."""
    layers = []
    for index, (into, out) in enumerate(pairwise(sizes), start=1):
        last = index == len(sizes) - 1
        weights = array(reader, Place(f"weights_{index}", "weights", (into, out), into, last))
        biases = array(reader, Place(f"biases_{index}", "biases", (out,), into, last))
        place = Place(f"slopes_{index}", "slopes", (out,), into, last)
        layers.append(Layer(weights, biases, slopes and not last and slopes(reader, place)))
    return layers


def evaluate(layers: list[Layer], x: np.ndarray, slopes: Any = None) -> jax.Array:
    """Evaluate a network of tanh, or of rectifiers whose slopes are trained."""
    hidden: Any = x
    for weights, biases, slope in layers[:-1]:
        hidden = hidden @ weights + biases
        hidden = jnp.tanh(hidden) if slopes is None else jnp.where(hidden > 0, 1, slope) * hidden
    return hidden @ layers[-1].weights + layers[-1].biases


Rows = Callable[[Reader, jax.Array, Any, Any], jax.Array]
"""Log likelihood of each row of outputs (point, output), targets and errors."""


def noise(sigma: float | None, targets: int = 1) -> Callable[[Reader], Any]:
    """Read the noise of every target, half-normal of scale 0.6, where it is not fixed."""
    if sigma is not None:
        return lambda reader: sigma
    return lambda reader: reader.positive(half(norm.logpdf, 0.6), (targets,) if targets > 1 else ())


def gamma_noise(targets: int = 1) -> Callable[[Reader], Any]:
    """Read the log precision of every target, Gamma of shape 2.3 and rate 0.7."""
    shape = (targets,) if targets > 1 else ()
    return lambda reader: reader.positive(lambda p: log_gamma(p, 2.3, 0.7), shape) ** -0.5


def log_normal_noise() -> Callable[[Reader], Any]:
    """Read the logarithm of the noise, of median 0.6 and sd 1.1, with a floor of 0.05."""

    def read(reader: Reader) -> jax.Array:
        return jnp.exp(reader.read((), lambda log: norm.logpdf(log, np.log(0.6), 1.1)))

    return lambda reader: jnp.sqrt(read(reader) ** 2 + 0.05**2)


def around(law: Callable[[Reader], Any], sigma: Callable[[Reader], Any]) -> Rows:
    """Scale a law, with errors in quadrature; the law reads its own variables first."""

    def rows(reader: Reader, output: jax.Array, target: Any, error: Any) -> jax.Array:
        centre = output[:, 0] if target.ndim == 1 else output
        log_density = law(reader)
        scale = jnp.sqrt(sigma(reader) ** 2 + error**2)
        values = log_density((target - centre) / scale) - jnp.log(scale)
        return values if target.ndim == 1 else values.sum(axis=1)

    return rows


def fixed_degrees(degrees: float) -> Callable[[Reader], Any]:
    return lambda reader: lambda z: t.logpdf(z, degrees)


def learned_degrees(reader: Reader) -> Any:
    """2 + Gamma(2, 0.1)."""
    above = reader.positive(lambda x: log_gamma(x, 2.0, 0.1))
    return lambda z: t.logpdf(z, 2 + above)


def heteroscedastic(reader: Reader, output: jax.Array, target: Any, error: Any) -> jax.Array:
    """Sigma is 0.3 exp(second output)."""
    scale = jnp.sqrt((0.3 * jnp.exp(output[:, 1])) ** 2 + error**2)
    return norm.logpdf(target, output[:, 0], scale)


def bernoulli(reader: Reader, output: jax.Array, target: Any, error: Any) -> jax.Array:
    """With temperature 0.7."""
    logit = output[:, 0] / 0.7
    return target * logit - jnp.log1p(jnp.exp(logit))


def categorical(reader: Reader, output: jax.Array, target: Any, error: Any) -> jax.Array:
    """With temperature 0.7."""
    weights = jnp.exp(output / 0.7)
    return jnp.log(weights[jnp.arange(len(target)), target.astype(int)] / weights.sum(axis=1))


class Observed(NamedTuple):
    """A likelihood, the same by hand, its outputs, targets and classes, whether it adds errors."""

    likelihood: Any
    rows: Rows
    outputs: int = 1
    targets: int = 1
    classes: int = 0

    @property
    def errors(self) -> bool:
        """Whether it can add errors."""
        return not self.classes


def _normal(reader: Reader) -> Any:
    return norm.logpdf


def _laplace(reader: Reader) -> Any:
    return laplace.logpdf


GAUSSIAN, STUDENT, LAPLACE = (partial(likelihood, k) for k in ("gaussian", "student_t", "laplace"))
PRECISION = {"shape": 2.3, "rate": 0.7}
LIKELIHOODS: dict[str, Observed] = {
    "gaussian": Observed(GAUSSIAN(sigma=0.2), around(_normal, noise(0.2))),
    "learned gaussian": Observed(GAUSSIAN(sigma=None, scale=0.6), around(_normal, noise(None))),
    "gaussian of a log-normal sigma": Observed(
        GAUSSIAN(sigma=None, scale=0.6, log_sd=1.1, floor=0.05),
        around(_normal, log_normal_noise()),
    ),
    "gaussian of a gamma precision": Observed(
        GAUSSIAN(sigma=None, precision=PRECISION), around(_normal, gamma_noise())
    ),
    "two gaussians of gamma precisions": Observed(
        GAUSSIAN(sigma=None, precision=PRECISION), around(_normal, gamma_noise(2)), 2, 2
    ),
    "laplace of a gamma precision": Observed(
        LAPLACE(sigma=None, precision=PRECISION), around(_laplace, gamma_noise())
    ),
    "two gaussians": Observed(GAUSSIAN(sigma=0.2), around(_normal, noise(0.2)), 2, 2),
    "two learned gaussians": Observed(
        GAUSSIAN(sigma=None, scale=0.6), around(_normal, noise(None, 2)), 2, 2
    ),
    "student_t": Observed(
        STUDENT(sigma=0.2, degrees_of_freedom=4.3), around(fixed_degrees(4.3), noise(0.2))
    ),
    "learned student_t": Observed(
        STUDENT(sigma=None, degrees_of_freedom=4.3, scale=0.6),
        around(fixed_degrees(4.3), noise(None)),
    ),
    "student_t, learned degrees": Observed(
        STUDENT(sigma=0.2, degrees_of_freedom=None), around(learned_degrees, noise(0.2))
    ),
    "student_t, all learned": Observed(
        STUDENT(sigma=None, degrees_of_freedom=None, scale=0.6),
        around(learned_degrees, noise(None)),
    ),
    "two student_t": Observed(
        STUDENT(sigma=None, degrees_of_freedom=None, scale=0.6),
        around(learned_degrees, noise(None, 2)),
        2,
        2,
    ),
    "laplace": Observed(LAPLACE(sigma=0.2), around(_laplace, noise(0.2))),
    "learned laplace": Observed(LAPLACE(sigma=None, scale=0.6), around(_laplace, noise(None))),
    "two laplace": Observed(LAPLACE(sigma=None, scale=0.6), around(_laplace, noise(None, 2)), 2, 2),
    "heteroscedastic": Observed(likelihood("heteroscedastic", scale=0.3), heteroscedastic, 2),
    "bernoulli": Observed(likelihood("bernoulli", temperature=0.7), bernoulli, classes=2),
    "categorical": Observed(likelihood("categorical", temperature=0.7), categorical, 3, classes=3),
}
