"""The PyMC model of a run, and its draws as a DataTree, for users of PyMC and ArviZ."""
