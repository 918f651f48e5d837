"""Draws of a posterior are collected for diagnostics."""

import numpy as np
import xarray as xr

from nlobayes.diagnostics.stored_draws import posterior_draws

CHAIN, DRAW = "chain", "draw"


def test_a_scale_of_each_input_is_a_hyperparameter_of_its_own() -> None:
    """The local scale of each weight is not, as that of a horseshoe."""
    drawn = np.random.default_rng(1).normal(size=(2, 3, 2, 4))
    arrays = {
        "weights_1": ((CHAIN, DRAW, "feature", "hidden_1"), drawn),
        "biases_1": ((CHAIN, DRAW, "hidden_1"), drawn[:, :, 0]),
        "local_weights_1": ((CHAIN, DRAW, "feature", "hidden_1"), drawn),
        "scale_weights_1": ((CHAIN, DRAW, "feature"), drawn[..., 0]),
        "scale_weights_2": ((CHAIN, DRAW), drawn[..., 0, 0]),
        "noise": ((CHAIN, DRAW), drawn[..., 1, 1]),
    }
    groups = {
        "posterior": xr.Dataset(arrays, coords={"feature": ["ln|m|", "N11^2"]}),
        "all_sample_stats": xr.Dataset({"lp": ((CHAIN, DRAW), drawn[..., 0, 0])}),
        "predictions": xr.Dataset({"f": ((CHAIN, DRAW, "reference_point"), drawn[..., 0])}),
    }
    found = posterior_draws(groups).hyperparameters
    assert found is not None
    expected = {
        "scale_weights_1[ln|m|]": drawn[..., 0, 0],
        "scale_weights_1[N11^2]": drawn[..., 1, 0],
        "scale_weights_2": drawn[..., 0, 0],
    }
    assert [*found] == [*expected]
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)
