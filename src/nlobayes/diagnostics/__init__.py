"""Diagnostics of draws: convergence, autocorrelation, thinning, the verdict on a posterior."""
