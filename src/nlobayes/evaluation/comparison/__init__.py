"""Comparison of runs and of posteriors."""
