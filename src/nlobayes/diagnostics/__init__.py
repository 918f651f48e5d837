"""Diagnostics of draws: convergence, autocorrelation, thinning, and the verdict on a posterior."""
