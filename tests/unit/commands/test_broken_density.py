"""A density that is not finite at the start, in a part of the space, or after some draw."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nlobayes import builder
from nlobayes.artifacts.netcdf import open_artifact
from tests.refusals import refused
from tests.unit.artifacts.opened import read_checkpoint

HMC = {"kind": "hmc", "integration_steps": 4}
NUTS = {"kind": "nuts", "max_depth": 4}
WALL = 0.3  # distance of a wall from the state of a chain, in its first weight
Break = Callable[[Callable[[jax.Array], jax.Array]], None]


@pytest.fixture
def break_density(monkeypatch: pytest.MonkeyPatch) -> Break:
    """Make the log density NaN where a condition on the position is true."""
    build_model = builder.build_model

    def break_where(broken: Callable[[jax.Array], jax.Array]) -> None:
        def build_broken(*arguments: Any) -> builder.Model:
            model = build_model(*arguments)

            def logdensity_fn(position: jax.Array, *rest: Any) -> jax.Array:
                value = model.logdensity_fn(position, *rest)
                return value + jnp.where(broken(position), jnp.nan, 0.0)

            sampled = model.sampled._replace(logdensity_fn=logdensity_fn)
            return model._replace(logdensity_fn=logdensity_fn, sampled=sampled)

        monkeypatch.setattr(builder.sampler, "build_model", build_broken)

    return break_where


def test_a_density_that_is_not_finite_at_its_start_is_refused(
    break_density: Break, warm_up: Callable[..., Path], starts: list[Path], tmp_path: Path
) -> None:
    break_density(lambda position: jnp.isfinite(position[0]))
    with refused("builder.no_density", where=f"{starts[0]}: the MAP of chain 0"):
        warm_up(tmp_path / "warmup.nc", start=starts)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kernel", [HMC, NUTS], ids=["hmc", "nuts"])
@pytest.mark.by_day(1)
def test_a_chain_never_enters_where_the_density_is_not_finite(
    break_density: Break, draw_on: Callable[..., Path], warmed: Path, tmp_path: Path, kernel: Any
) -> None:
    """Two walls are close to the state of each chain; trajectories into them are rejected."""
    begin = read_checkpoint(warmed)
    here = jnp.asarray(begin.state["position"][:, 0])
    break_density(lambda position: jnp.abs(position[0] - here).min() > WALL)
    out = draw_on(tmp_path / "out.nc", warmed, draws=64, kernel=kernel)
    groups, end = open_artifact(out, "segment").groups, read_checkpoint(out)
    assert np.isfinite(groups["sample_stats"]["lp"].values).all()
    assert np.isfinite(groups["predictions"]["f"].values).all()
    assert groups["sample_stats"]["diverging"].values.any()
    assert np.ptp(groups["sample_stats"]["lp"].values, axis=1).all()
    assert np.abs(end.state["position"][:, [0]] - np.asarray(here)).min(axis=1).max() <= WALL


@pytest.mark.parametrize("kernel", [HMC, NUTS], ids=["hmc", "nuts"])
@pytest.mark.by_day(1)
def test_a_density_that_is_lost_midway_leaves_every_chain_where_it_was(
    break_density: Break, draw_on: Callable[..., Path], warmed: Path, tmp_path: Path, kernel: Any
) -> None:
    """No draw is outside of the density; rejected draws diverge, which diagnostics count."""
    first = draw_on(tmp_path / "first.nc", warmed, kernel=kernel)
    kept = first.read_bytes()
    break_density(lambda position: jnp.isfinite(position[0]))
    second = draw_on(tmp_path / "second.nc", first, kernel=kernel)
    stats, before = (
        open_artifact(path, "segment").groups["sample_stats"] for path in (second, first)
    )
    assert (stats["lp"].values == before["lp"].values[:, -1:]).all()
    assert stats["diverging"].values.all()
    assert first.read_bytes() == kept
