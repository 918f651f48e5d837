"""The answer: MAPs, warm-up and draws, over any log density of a flat position."""
