"""Constraints of points, such as `m1 + 50 < m2`: comparisons of sums of columns and numbers."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from math import isfinite
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any, NamedTuple

from nlobayes.errors import InputError

if TYPE_CHECKING:
    import numpy as np

LONGEST = 500
"""Largest number of characters of a constraint."""
COMPARISONS = {ast.Lt: lt, ast.LtE: le, ast.Gt: gt, ast.GtE: ge}
NUMBER = ""
"""Key of the number in a sum."""
Sum = dict[str, float]
"""Factor of each column, and the number."""


class Constraint(NamedTuple):
    """Sums, each of which is compared with the one after it."""

    text: str
    sums: tuple[Sum, ...]
    comparisons: tuple[Any, ...]

    @property
    def columns(self) -> set[str]:
        """Names of the columns that it compares."""
        return {name for each in self.sums for name in each} - {NUMBER}

    def holds(self, points: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return at which points (point,) it holds."""
        values = [
            sum(factor * (points[name] if name else 1.0) for name, factor in each.items())
            for each in self.sums
        ]
        pairs = zip(self.comparisons, values, values[1:], strict=False)
        held: Any = True
        for compare, left, right in pairs:
            held = held & compare(left, right)
        return held


def parse(text: str) -> Constraint:
    """Read a constraint; columns have factors, as `2 * m1 < m2`. Nothing is evaluated.

    Raises InputError if it is no comparison of sums by <, <=, > or >=.
    """
    refused = InputError("designs.no_constraint", text=text[:LONGEST])
    if len(text) > LONGEST:
        raise refused
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if not isinstance(tree, ast.Compare):
            raise refused
        comparisons = tuple(COMPARISONS[type(each)] for each in tree.ops)
        sums = tuple(_sum(each) for each in (tree.left, *tree.comparators))
    except (SyntaxError, ValueError, KeyError, TypeError, RecursionError, MemoryError):
        raise refused from None
    constraint = Constraint(text, sums, comparisons)
    if not constraint.columns:
        raise refused
    return constraint


def _sum(node: ast.expr) -> Sum:
    """Collect the terms of a sum; a ValueError if it is none."""
    match node:
        case ast.Name(id=name):
            return {name: 1.0}
        case ast.Constant(value=int() | float() as value) if not isinstance(
            value, bool
        ) and isfinite(value):
            return {NUMBER: float(value)}
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _scaled(_sum(operand), -1.0)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _added(_sum(left), _sum(right))
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _added(_sum(left), _scaled(_sum(right), -1.0))
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            first, second = _sum(left), _sum(right)
            if first.keys() == {NUMBER}:
                return _scaled(second, first[NUMBER])
            if second.keys() == {NUMBER}:
                return _scaled(first, second[NUMBER])
    raise ValueError


def _scaled(terms: Sum, factor: float) -> Sum:
    return {name: factor * each for name, each in terms.items()}


def _added(first: Sum, second: Sum) -> Sum:
    return first | {name: first.get(name, 0.0) + each for name, each in second.items()}
