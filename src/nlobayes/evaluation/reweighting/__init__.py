"""Importance weights between posteriors, and what they say about sensitivity."""
