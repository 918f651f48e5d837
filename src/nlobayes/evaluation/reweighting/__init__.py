"""Importance weights between posteriors, and the sensitivity from them."""
