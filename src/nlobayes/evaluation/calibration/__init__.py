"""Calibration of stated uncertainties, on average and along a covariate."""
