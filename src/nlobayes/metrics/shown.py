"""Scores as text, with their Monte-Carlo error in brackets: 9.189(13) is 9.189 with error 0.013."""

from __future__ import annotations

import math

from nlobayes.untyped import Facts

MONTE_CARLO = "monte_carlo_error"
"""Key of the Monte-Carlo errors beside the scores of a split, by key."""
BRACKETS = "In brackets: Monte-Carlo error, in units of the last digit."


def error_of(scores: Facts, key: str) -> float | None:
    """Return the Monte-Carlo error of a score; None if there is none."""
    error: float | None = (scores.get(MONTE_CARLO) or {}).get(key)
    return error


def shown(scores: Facts, key: str, form: str, *, missing: str = "none") -> str:
    """Write a score with its Monte-Carlo error, or that it is missing."""
    value = scores.get(key)
    return missing if value is None else with_error(value, error_of(scores, key), form)


def with_error(value: float, error: float | None, form: str) -> str:
    """Write a number with its standard error in brackets, in units of the last digit.

    The error has one digit, or two if the first is a one. The number has as many digits, but no
    more than its format, such as `.3f`, `.3g` or `.1%`, gives it. Format `.2g %` writes a share in
    percent with two digits.
    """
    if form.endswith(" %"):
        return f"{with_error(100 * value, error and 100 * error, form.removesuffix(' %'))} %"
    if not error or not (math.isfinite(error) and math.isfinite(value)):
        return format(value, form)
    text = format(value, f"#{form}")  # with its zeros
    power = int(text.partition("e")[2] or 0)
    end = "%" if form.endswith("%") else f"e{power:+03d}" if "e" in text else ""
    factor = 100 if end == "%" else 10.0**-power
    value, error = value * factor, error * factor
    wanted = -math.floor(math.log10(error))
    wanted += round(error * 10**wanted, 1) < 2
    known = len(text.removesuffix(end).partition(".")[2])
    digits = max(0, min(wanted, known))
    units = max(1, round(error * 10**digits))
    return f"{value:.{digits}f}({units}){end}"


def rows_learned(facts: Facts) -> str:
    """Describe how many of the train rows a rival learned; empty if it learned all."""
    rows, given = facts.get("rows"), facts.get("train_rows")
    return f"{rows} of {given} rows" if rows and given and rows < given else ""


DEPTH, WIDTH, PARAMETERS = "depth", "width_", "parameters"


def label_of_size(name: str) -> str:
    """Return the label of a number `width_1`, `depth` or `parameters`."""
    if name.startswith(WIDTH):
        return f"units of hidden layer {name.removeprefix(WIDTH)}"
    return {DEPTH: "hidden layers", PARAMETERS: "parameters in use"}.get(name, name)
