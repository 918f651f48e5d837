"""What people of PyMC and ArviZ ask of a run: its PyMC model, its draws as InferenceData."""
