"""Scores of predictions: accuracy, proper scores, information criteria, least squares."""
