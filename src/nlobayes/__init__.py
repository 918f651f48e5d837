"""Bayesian neural networks by exact MCMC as surrogates for NLO cross sections."""
