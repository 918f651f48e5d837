"""Audit: what a file is, what is wrong with it, and what made it from what. Reads, never writes."""
