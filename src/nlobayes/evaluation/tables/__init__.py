"""The tables behind the figures of an evaluation."""
