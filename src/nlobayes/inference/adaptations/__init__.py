"""The adaptations that warm up kernels, one file each, by name."""

from nlobayes.families import Builder, Family
from nlobayes.inference.adaptation import Adaptation

ADAPTATIONS: Family[Builder[Adaptation]] = Family(__name__, __file__)
