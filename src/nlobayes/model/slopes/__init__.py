"""The priors of the trained slopes of activations, one file each, by name."""

from nlobayes.families import Builder, Family
from nlobayes.model.prior import Statement

SLOPE_PRIORS: Family[Builder[Statement]] = Family(__name__, __file__)
