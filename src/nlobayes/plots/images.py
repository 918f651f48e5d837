"""Single images and the probabilities of their classes."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from nlobayes.plots.classification import short_name
from nlobayes.plots.frames import floats
from nlobayes.plots.style import BLUE, ORANGE, SKY, Floats, legend_above, new_figure

ROW_INCHES = 1.25
MOST_BARS = 10
"""Largest number of classes whose probabilities are shown: the most probable ones."""
PREDICTED, TRUE, OTHER = (
    "probability (%) of the predicted class",
    "of the true class, not predicted",
    "of the others",
)
COLORS = {PREDICTED: BLUE, TRUE: ORANGE, OTHER: SKY}


def images(
    examples: DataFrame, probabilities: DataFrame, pixels: DataFrame, classes: DataFrame
) -> Figure:
    """Draw images of each kind of example in a row, with the probabilities of their classes."""
    names = [short_name(str(name)) for name in classes.sort_values("class")["name"]]
    kinds = examples.groupby("kind", sort=False)
    most = int(kinds.size().max())
    figure = new_figure(height=0.9 + ROW_INCHES * len(kinds))
    rows = figure.subplots(len(kinds), 2 * most, width_ratios=[6, 5] * most, squeeze=False)
    limits = float(floats(pixels, "value").min()), float(floats(pixels, "value").max())
    for panels, (kind, shown) in zip(rows, kinds, strict=True):
        for axes in panels:
            axes.set_axis_off()
        for place, (example, true, predicted) in enumerate(
            shown[["example", "true", "predicted"]].itertuples(index=False)
        ):
            image, bars = panels[2 * place : 2 * place + 2]
            _image(image, pixels[pixels["example"] == example], limits)
            image.set_title(f"true {names[true]}", fontsize=7, pad=2)
            own = probabilities[probabilities["example"] == example].sort_values("class")
            _bars(bars, floats(own, "probability"), names, (int(true), int(predicted)))
        panels[0].set_ylabel(str(kind).replace(", ", ",\n"), fontsize=8)
    legend_above(figure, rows[0, 1])
    return figure


def _image(axes: Axes, pixels: DataFrame, limits: tuple[float, float]) -> None:
    square = pixels.pivot_table("value", index="row", columns="column").to_numpy(np.float64)
    axes.set_axis_on()
    axes.imshow(square, cmap="Greys", vmin=limits[0], vmax=limits[1])
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(True)


def _bars(
    axes: Axes, probability: Floats, names: list[str], true_predicted: tuple[int, int]
) -> None:
    """Draw bars in the order of the classes; the colour marks the true and the predicted class."""
    true, predicted = true_predicted
    shown = np.sort(np.argsort(-probability, kind="stable")[:MOST_BARS])
    what = [PREDICTED if c == predicted else TRUE if c == true else OTHER for c in shown]
    axes.set_axis_on()
    axes.barh(range(len(shown)), 100 * probability[shown], color=[COLORS[each] for each in what])
    for label, color in COLORS.items():
        axes.barh([0], [0], color=color, label=label)
    axes.set_yticks(range(len(shown)), [names[c] for c in shown], fontsize=5)
    axes.set_xticks([0, 50, 100])
    axes.tick_params(axis="x", labelsize=5, pad=1, length=2)
    axes.tick_params(axis="y", length=0, pad=1)
    axes.set_xlim(0, 100)
    axes.invert_yaxis()
