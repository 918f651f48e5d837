"""Distributions of a quantity at points: laws of the noise, and their mixture over draws."""
