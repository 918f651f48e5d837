"""Predictions of any number of points in constant memory: read, predicted, and written."""
