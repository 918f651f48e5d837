"""The likelihoods, one file each, by name."""

from nlobayes.families import Builder, Family
from nlobayes.model.likelihood import Likelihood

LIKELIHOODS: Family[Builder[Likelihood]] = Family(__name__, __file__)
