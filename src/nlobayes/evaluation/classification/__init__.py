"""Scores of predicted classes."""
