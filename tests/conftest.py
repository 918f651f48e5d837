"""Every test runs in double precision, and Hypothesis draws the same examples each time."""

from hypothesis import settings

from nlobayes.verbs.runtime import configure

configure("float64")  # before any test imports JAX or PyTensor
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")
