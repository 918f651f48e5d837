"""Audit of files: summary, errors and origin of a file. These modules read and never write."""
