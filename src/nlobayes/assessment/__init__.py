"""Judges a posterior (convergence, autocorrelation) and its predictions (scores, calibration)."""
