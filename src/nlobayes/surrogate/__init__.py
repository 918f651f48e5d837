"""The answer in use: predictions of sampled networks, without PyMC."""
