"""Reversible jumps between architectures: choice of a place, bijections, moves, acceptance."""
