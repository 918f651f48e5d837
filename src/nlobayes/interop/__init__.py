"""The PyMC model of a run, and its draws as InferenceData, for users of PyMC and ArviZ."""
