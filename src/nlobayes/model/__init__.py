"""The statistical model: a Bayesian neural network in PyMC, and its density in JAX."""
