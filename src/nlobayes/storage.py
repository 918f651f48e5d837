"""How many draws a posterior stores: planning bounds its size by it, and `assemble` applies it.

It is no part of `nlobayes.stages`, whose changes run no job again.
"""

MOST_STORED = 2000
"""Draws of all chains with weights in a posterior, if `thin` is not given. The Monte-Carlo error of
a mean is then 2 % of the posterior sd, and predictions at 4000 points take 64 MB."""
