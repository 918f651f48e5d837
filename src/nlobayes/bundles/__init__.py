"""Many surrogates in one folder: what its index says, how it predicts, where it comes from."""
