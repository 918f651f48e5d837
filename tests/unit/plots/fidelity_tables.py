"""An invented table of approximations beside the exact posterior."""

import numpy as np
import pandas as pd


def fidelity_tables(converged: str = "yes", failed: str = "") -> dict[str, pd.DataFrame]:
    """Two approximations, the second without a CPU time; the first row is the exact method's."""
    return {
        "fidelity": pd.DataFrame(
            {
                "run": [f"embedded/n32/fan_in/tight/adam/{name}/s1" for name in ("hmc", "a", "b")],
                "method": ["hmc", "map_ensemble", "laplace_full"],
                "converged": [converged, "approximate", "approximate"],
                "failed_checks": [failed, "", ""],
                "mean_difference_rms": [0.05, 0.8, 0.2],
                "sd_ratio_median": [1.0, 0.4, 1.3],
                "sd_ratio_p5": [0.97, 0.2, 1.1],
                "sd_ratio_p95": [1.03, 0.7, 1.9],
                "wasserstein_mean": [0.06, 0.9, 0.3],
                "total_variation_mean": [0.02, 0.35, 0.12],
                "coverage_95": [0.951, 0.93, 0.968],
                "cpu_seconds": [3200.0, 45.0, np.nan],
            }
        )
    }
