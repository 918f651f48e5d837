"""The question: a Bayesian neural network in PyMC, and the density that JAX evaluates."""
