"""Calibration: whether stated uncertainties are right, everywhere and along a covariate."""
