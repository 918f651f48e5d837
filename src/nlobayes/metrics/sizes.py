"""Labels of the numbers that define the size of a network."""

from __future__ import annotations

DEPTH, WIDTH, PARAMETERS = "depth", "width_", "parameters"


def label_of_size(name: str) -> str:
    """Return the label of a number `width_1`, `depth` or `parameters`."""
    if name.startswith(WIDTH):
        return f"units of hidden layer {name.removeprefix(WIDTH)}"
    return {DEPTH: "hidden layers", PARAMETERS: "parameters in use"}.get(name, name)
