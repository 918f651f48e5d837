"""The tables behind the figures: columns of equal length, by name."""

import numpy as np

Columns = dict[str, np.ndarray]
