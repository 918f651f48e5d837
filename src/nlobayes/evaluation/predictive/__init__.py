"""The predictive distribution of points, and the noise in it."""
