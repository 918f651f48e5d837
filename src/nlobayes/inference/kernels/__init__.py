"""The Markov kernels, one file each, by name."""

from nlobayes.inference.kernels import hmc, nuts

KERNELS = {"hmc": hmc.build, "nuts": nuts.build}
