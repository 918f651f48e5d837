"""Figures from tables: `FIGURES[name].draw(*tables)`, then `render(figure, "svg")`."""

from nlobayes.plots.registry import FIGURES, FigureSpec
from nlobayes.plots.style import render

__all__ = ["FIGURES", "FigureSpec", "render"]
