"""Runs as scikit-learn estimators: `fit(X, y)` computes in one call what the workflow computes."""
