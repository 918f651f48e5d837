"""Parameters of a posterior by name: as in its file, or with numbers for features."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import xarray as xr

from nlobayes.diagnostics.stored_draws import Parameters, without_fixed
from tests.refusals import refused

CHAINS, STORED, MOST = 2, 9, 8


def posterior(*hidden: int, inputs: tuple[str, ...] = ("m1", "m2")) -> xr.Dataset:
    """Draws of a network with a learned noise and one local scale per input."""
    rng = np.random.default_rng(4)
    sizes = (len(inputs), *hidden, 1)
    labels = [[*inputs], *([*range(size)] for size in sizes[1:])]
    arrays: dict[str, Any] = {}
    coords = {f"u{layer}": names for layer, names in enumerate(labels)}
    for layer, (before, after) in enumerate(pairwise(sizes), start=1):
        shape, dims = (CHAINS, STORED, before, after), ("chain", "draw", f"u{layer - 1}")
        arrays[f"weights_{layer}"] = ((*dims, f"u{layer}"), rng.normal(size=shape))
        biases = rng.normal(size=(*shape[:2], after))
        arrays[f"biases_{layer}"] = ("chain", "draw", f"u{layer}"), biases
    arrays["noise"] = ("chain", "draw"), rng.normal(size=(CHAINS, STORED))
    local = rng.normal(size=(CHAINS, STORED, len(inputs)))
    arrays["local"] = ("chain", "draw", "u0"), local
    return xr.Dataset(arrays, coords)


def test_arrays_that_the_prior_fixes_are_not_shown() -> None:
    """Arrays of chains that never moved are, so that their failure is seen."""
    drawn = posterior(3)
    drawn["biases_1"][:] = drawn["biases_1"][0, 0]
    assert [*without_fixed(drawn)] == [name for name in drawn if name != "biases_1"]
    assert not any(
        name.startswith("biases_1") for name in Parameters.of(without_fixed(drawn)).names
    )
    assert without_fixed(drawn[["biases_1"]]).equals(drawn[["biases_1"]])


def test_parameters_are_found_by_name_whatever_the_blanks() -> None:
    drawn = posterior(3)
    shown = Parameters.of(drawn).some(["biases_2[0]", "weights_1[m2,2]", "noise"], MOST)
    assert [*shown] == ["biases_2[0]", "weights_1[m2, 2]", "noise"]
    np.testing.assert_array_equal(shown["biases_2[0]"], drawn["biases_2"].values[..., 0])
    np.testing.assert_array_equal(shown["weights_1[m2, 2]"], drawn["weights_1"].values[..., 1, 2])
    np.testing.assert_array_equal(shown["noise"], drawn["noise"].values)


def test_a_feature_has_a_number_too_but_its_name_counts_first() -> None:
    shown = Parameters.of(posterior(3))
    assert shown.places(["weights_1[1, 0]"]) == shown.places(["weights_1[m2, 0]"])
    swapped = Parameters.of(posterior(3, inputs=("1", "0")))
    assert swapped.places(["weights_1[1, 0]"]) == [0]


def test_unknown_names_are_refused_and_known_ones_listed() -> None:
    with refused("diagnostics.unknown_parameters", unknown=["sigma", "weights_1[m3, 0]"]) as caught:
        Parameters.of(posterior(3)).some(["noise", "sigma", "weights_1[m3, 0]"], MOST)
    assert "it has noise, weights_1[m1, 0], weights_1[m1, 1]" in str(caught.value)
