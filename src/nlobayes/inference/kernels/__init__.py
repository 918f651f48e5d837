"""The Markov kernels, one file each, by name."""

from nlobayes.families import Builder, Family
from nlobayes.inference.kernel import Kernel

KERNELS: Family[Builder[Kernel]] = Family(__name__, __file__)
