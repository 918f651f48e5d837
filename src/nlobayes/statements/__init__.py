"""What configuration says of the statistics: presets become priors and likelihoods."""
