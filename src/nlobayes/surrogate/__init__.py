"""Surrogates: predictions of sampled networks from one file, without PyMC."""
