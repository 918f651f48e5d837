"""The posterior and the density of a model that is stated in one line."""

from typing import Any

from nlobayes.model.density import Density, build_density
from nlobayes.model.networks import Network
from nlobayes.model.posterior import Posterior, build_posterior


def posterior_of(
    sizes: tuple[int, ...],
    prior: Any,
    likelihood: Any,
    *,
    layout: str = "rows",
    activation: Any = "tanh",
    **settings: Any,
) -> Posterior:
    """State the posterior of a network of inputs x0, x1, ..."""
    names = [f"x{i}" for i in range(sizes[0])]
    network = Network(sizes, activation)
    return build_posterior(
        network, prior, likelihood, feature_names=names, layout=layout, **settings
    )


def density_of(
    sizes: tuple[int, ...], prior: Any, likelihood: Any, *, chunk: int = 0, **settings: Any
) -> Density:
    """Build the density of such a posterior."""
    return build_density(posterior_of(sizes, prior, likelihood, **settings), chunk=chunk)
