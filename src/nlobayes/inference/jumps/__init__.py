"""Reversible jumps between architectures: choice of a place, moves, acceptance."""
