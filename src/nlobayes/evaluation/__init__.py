"""Evaluation of predictions: their distribution, scores, calibration, comparison of runs."""
