"""The priors of weights and biases, one file each, by name."""

from nlobayes.families import Builder, Family
from nlobayes.model.prior import Prior

PRIORS: Family[Builder[Prior]] = Family(__name__, __file__)
