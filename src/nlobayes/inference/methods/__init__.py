"""The approximate methods, by the names of their files."""

from nlobayes.families import Builder, Family
from nlobayes.inference.method import Method

METHODS: Family[Builder[Method]] = Family(__name__, __file__)
