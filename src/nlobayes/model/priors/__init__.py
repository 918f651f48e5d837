"""The priors of weights and biases by name, one module each."""

from nlobayes.families import Builder, Family
from nlobayes.model.prior import Prior

PRIORS: Family[Builder[Prior]] = Family(__name__, __file__)
