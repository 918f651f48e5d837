"""The priors of the trained slopes of activations by name, one module each."""

from nlobayes.families import Builder, Family
from nlobayes.model.prior import Statement

SLOPE_PRIORS: Family[Builder[Statement]] = Family(__name__, __file__)
