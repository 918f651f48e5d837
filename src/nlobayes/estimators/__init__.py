"""Runs as estimators of scikit-learn: `fit(X, y)` does in one process what the workflow does."""
