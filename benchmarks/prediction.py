"""Time the whole prediction of a surrogate beside the engine that it emulates.

    python -m benchmarks.prediction results/surrogates/embedded_k/….nc

CPU seconds of this process for the points of the default simulated dataset, in turns, medians. The
surrogate is of the lightest neutralinos, relative to Born. `predict` has features, Born, network,
moments and three quantiles; `domain` comes after it; `engine` gives LO and NLO at three scales.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from nlobayes import Surrogate
from nlobayes.data.simulators.simulate import Settings, scan_table
from nlobayes.data.transforms import map_features
from nlobayes.physics.hadronic import cross_sections_at
from nlobayes.physics.partonic import identical_pair

POINTS, TURNS = 15_000, 7
SQRT_S_TEV, SQUARK_MASS_GEV = 13.0, 3000.0


def main() -> None:
    """Print a line for each part."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("surrogate", type=Path)
    surrogate = Surrogate.load(parser.parse_args().surrogate)
    table = scan_table(1, POINTS, Settings(SQRT_S_TEV, SQUARK_MASS_GEV))
    points = np.column_stack([table.columns[name] for name in surrogate.inputs])
    pair = identical_pair(points[:, 0], points[:, 1:])
    squarks = np.full(POINTS, SQUARK_MASS_GEV)
    turns = [
        {
            "predict": cpu_seconds(surrogate.predict, points := points * (1 + 1e-12)),
            "domain": cpu_seconds(surrogate.domain, points),
            "features": cpu_seconds(map_features, "channels", points),
            "Born": cpu_seconds(surrogate.vanishes, points),
            "engine": cpu_seconds(cross_sections_at, pair, squarks, SQRT_S_TEV),
        }
        for _ in range(TURNS)
    ]
    for name in turns[0]:
        print(f"{name:9}{np.median([turn[name] for turn in turns]):.2f}")


def cpu_seconds(call: Callable[..., Any], *arguments: Any) -> float:
    """Count the CPU seconds of a call."""
    start = time.process_time()
    call(*arguments)
    return time.process_time() - start


if __name__ == "__main__":
    main()
