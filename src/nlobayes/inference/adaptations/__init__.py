"""The adaptations that warm up kernels by name, one module each."""

from nlobayes.families import Builder, Family
from nlobayes.inference.adaptation import Adaptation

ADAPTATIONS: Family[Builder[Adaptation]] = Family(__name__, __file__)
