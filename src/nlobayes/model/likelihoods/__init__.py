"""The likelihoods by name, one module each."""

from nlobayes.families import Builder, Family
from nlobayes.model.likelihood import Likelihood

LIKELIHOODS: Family[Builder[Likelihood]] = Family(__name__, __file__)
