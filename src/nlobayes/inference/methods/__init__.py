"""The approximate methods by name, one module each."""

from nlobayes.families import Builder, Family
from nlobayes.inference.method import Method

METHODS: Family[Builder[Method]] = Family(__name__, __file__)
