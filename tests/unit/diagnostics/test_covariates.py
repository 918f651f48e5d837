"""The covariate: masses without their sign, other inputs unchanged."""

from __future__ import annotations

import numpy as np

from nlobayes.diagnostics import covariates
from nlobayes.types import Dataset


def test_a_mass_loses_its_sign_and_a_mixing_keeps_it(dataset: Dataset) -> None:
    inputs = dataset.inputs * np.where(np.arange(len(dataset.inputs)) % 2, 1, -1)[:, None]
    signed = dataset._replace(inputs=inputs, units=dataset.units | {"m1": "GeV"})
    mass, mixing = (covariates.covariate_of(signed, name) for name in ("m1", "n12"))
    assert (mass.label, mixing.label) == ("|m1| (GeV)", "n12")
    np.testing.assert_array_equal(mass.values, np.abs(inputs[:, 0]))
    np.testing.assert_array_equal(mixing.values, inputs[:, 2])
    np.testing.assert_array_equal(mixing.at_reference, inputs[dataset.reference, 2])
