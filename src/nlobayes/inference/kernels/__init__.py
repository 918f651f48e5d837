"""The Markov kernels by name, one module each."""

from nlobayes.families import Builder, Family
from nlobayes.inference.kernel import Kernel

KERNELS: Family[Builder[Kernel]] = Family(__name__, __file__)
