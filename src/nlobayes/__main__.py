"""`python -m nlobayes` is the command line."""

from nlobayes.cli import start

start()
