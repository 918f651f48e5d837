"""The verbs of the command line, one file each, named like their rules: read, compute, write."""
