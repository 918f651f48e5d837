"""Inference: MAPs, warm-up and draws for any log density of a flat position."""
