"""Many surrogates in one folder: its index, predictions and download."""
