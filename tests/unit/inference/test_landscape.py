"""Planes, paths and distances on energies whose answers are known."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes.inference.landscape import (
    bezier,
    distances,
    energies_along,
    energies_on,
    fit_bezier,
    midpoint,
    plane_through,
)
from tests.refusals import refused

T = np.linspace(0, 1, 61)
STIFFNESS = jnp.array([1.0, 4.0, 0.5])
FIRST, LAST = jnp.array([1.0, 2.0, -1.0]), jnp.array([3.0, -1.0, 2.0])


def bowl(position: jax.Array) -> jax.Array:
    return 0.5 * jnp.sum(STIFFNESS * position**2)


def ring(position: jax.Array) -> jax.Array:
    """A valley along the unit circle, nought at its bottom."""
    return (jnp.linalg.norm(position) - 1) ** 2


def three_positions(seed: int, dtype: Any = np.float64) -> np.ndarray:
    """A triangle with corners (0, 0), (3, 0), (1, 4) on a random plane of seven dimensions."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(7, 2)))[0].T
    return (rng.normal(size=7) + np.array([[0, 0], [3, 0], [1, 4]]) @ axes).astype(dtype)


@pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-13), (np.float32, 3e-6)])
@pytest.mark.parametrize("seed", range(5))
def test_a_triangle_is_recovered_on_orthonormal_axes(seed: int, dtype: Any, atol: float) -> None:
    positions = three_positions(seed, dtype)
    plane = plane_through(positions)
    np.testing.assert_allclose(plane.maps, [[0, 0], [3, 0], [1, 4]], atol=atol)
    np.testing.assert_allclose(plane.axes @ plane.axes.T, np.eye(2), atol=atol)
    np.testing.assert_allclose(plane.origin + plane.maps @ plane.axes, positions, atol=atol)
    assert plane.origin.dtype == plane.axes.dtype == dtype


@pytest.mark.parametrize("weights", [(0.5, 0.5), (2.0, -1.0), (1.0, 0.0), (0.0, 1.0)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_positions_that_are_equal_or_on_one_line_are_refused(
    weights: tuple[float, float], dtype: Any
) -> None:
    """The third is a mean of the first two, or one of them."""
    first, second, _ = three_positions(0)
    third = weights[0] * first + weights[1] * second
    with refused("inference.no_plane"):
        plane_through(np.array([first, second, third], dtype))


def test_energies_follow_the_coordinates() -> None:
    """Half the squared distance to a point of the plane, whose axes have different lengths."""
    plane = plane_through(three_positions(1))
    centre = plane.origin + np.array([2.0, -1.0]) @ plane.axes
    alphas, betas = np.linspace(-1, 4, 6), np.linspace(-2, 3, 4)
    found = energies_on(lambda q: 0.5 * jnp.sum((q - centre) ** 2), plane, alphas, betas)
    expected = 0.5 * ((alphas[:, None] - 2) ** 2 + (betas + 1) ** 2)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_path_begins_and_ends_at_its_positions() -> None:
    """In the middle the control point weighs as much as both ends."""
    control = jnp.array([10.0, 0.0, -10.0])
    np.testing.assert_array_equal(bezier(FIRST, control, LAST, 0.0), FIRST)
    np.testing.assert_array_equal(bezier(FIRST, control, LAST, 1.0), LAST)
    middle = FIRST / 4 + control / 2 + LAST / 4
    np.testing.assert_allclose(bezier(FIRST, control, LAST, 0.5), middle, rtol=1e-15)


def test_the_midpoint_makes_the_path_straight() -> None:
    found = energies_along(bowl, FIRST, midpoint(FIRST, LAST), LAST, T)
    lines = (1 - T[:, None]) * np.asarray(FIRST) + T[:, None] * np.asarray(LAST)
    np.testing.assert_allclose(found, 0.5 * (lines**2) @ np.asarray(STIFFNESS), rtol=1e-12)


@pytest.mark.statistical
def test_the_path_through_a_bowl_is_the_known_one() -> None:
    """A zero gradient of the mean over t, integrated by hand: the control is -3/4 (first + last).

    The means of 2 t (1 - t)^3 and of 4 t^2 (1 - t)^2 are 1/10 and 2/15. The keys 0 to 7 came
    within 0.07 of it.
    """
    fitted = fit_bezier(jax.random.key(0), bowl, FIRST, LAST, steps=2000, learning_rate=0.03)
    np.testing.assert_allclose(fitted, -0.75 * (FIRST + LAST), atol=0.1)
    straight = energies_along(bowl, FIRST, midpoint(FIRST, LAST), LAST, T)
    assert energies_along(bowl, FIRST, fitted, LAST, T).mean() < straight.mean()


def test_a_path_around_a_ring_stays_in_its_valley() -> None:
    """Across 115 degrees the straight line climbs to (1 - cos 1)^2."""
    first, last = jnp.array([1.0, 0.0]), jnp.array([jnp.cos(2.0), jnp.sin(2.0)])
    control = fit_bezier(jax.random.key(1), ring, first, last, steps=300, learning_rate=0.1)
    straight = energies_along(ring, first, midpoint(first, last), last, T)
    curved = energies_along(ring, first, control, last, T)
    np.testing.assert_allclose(straight.max(), (1 - np.cos(1)) ** 2, rtol=1e-12)
    assert curved.max() < straight.max() / 100
    assert curved.mean() < straight.mean() / 100


def test_a_path_follows_its_key_alone() -> None:
    fits = [
        np.asarray(fit_bezier(jax.random.key(key), bowl, FIRST, LAST, steps=20, learning_rate=0.1))
        for key in (3, 3, 4)
    ]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])


def test_distances_by_hand() -> None:
    """Chains part from one point: 3-4-5 triangles."""
    paths = np.array([[[1, 1], [1, 1]], [[1, 1], [4, 5]], [[1, 1], [1, 5]]], float)
    found = distances(paths)
    assert list(found) == [(0, 1), (0, 2), (1, 2)]
    for pair, expected in zip(found, [[0, 5], [0, 4], [0, 3]], strict=True):
        np.testing.assert_allclose(found[pair], expected, rtol=1e-15)
