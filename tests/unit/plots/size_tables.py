"""Invented tables about a network whose size is drawn, of the shape and scale of real ones."""

import numpy as np
import pandas as pd

MOST = {"width_1": 16, "depth": 3}


def size_tables(*, chains: int = 3, draws: int = 200) -> dict[str, pd.DataFrame]:
    """Tables of a run that draws its units and its layers, by name."""
    rng = np.random.default_rng(11)
    kinds = [
        (name, _sizes(rng, name, most), _visits(rng, name, most)) for name, most in MOST.items()
    ]
    return {
        "sizes": pd.concat([sizes for _, sizes, _ in kinds], ignore_index=True),
        "visits": pd.concat([visits for _, _, visits in kinds], ignore_index=True),
        "size_trace": _traces(rng, chains, draws),
        "draw_scores": _draw_scores(rng, chains, draws),
        "size_scores": _size_scores(),
    }


def _sizes(rng: np.random.Generator, name: str, most: int) -> pd.DataFrame:
    number = np.arange(1, most + 1)
    probability = rng.dirichlet(number)
    return pd.DataFrame(
        {
            "quantity": name,
            "number": number,
            "probability": probability,
            "mcse": np.where(number == 1, np.nan, 0.1 * probability),
            "prior": 1 / most,
            "acceptance_within": np.where(number == 1, np.nan, rng.uniform(0.6, 0.9, most)),
        }
    )


def _visits(rng: np.random.Generator, name: str, most: int) -> pd.DataFrame:
    rows = [
        (name, before, after, 500, 0, np.nan)
        if before == after
        else (name, before, after, 40, 300, rng.uniform(0.01, 0.3))
        for before in range(1, most + 1)
        for after in range(max(1, before - 1), min(most, before + 1) + 1)
    ]
    return pd.DataFrame(rows, columns=["quantity", "from", "to", "visits", "tried", "acceptance"])


def _traces(rng: np.random.Generator, chains: int, draws: int) -> pd.DataFrame:
    width = rng.integers(1, 17, chains * draws)
    depth = rng.integers(1, 4, chains * draws)
    values = {
        "width_1": width,
        "depth": depth,
        "parameters": 4 * width + 20 * depth + 1,
        "log_density": rng.normal(-250, 8, chains * draws),
    }
    places = {
        "chain": np.repeat(np.arange(chains), draws),
        "draw": np.tile(4 * np.arange(draws) + 3, chains),
    }
    parts = [pd.DataFrame({"quantity": name, **places, "value": v}) for name, v in values.items()]
    return pd.concat(parts, ignore_index=True)


def _draw_scores(rng: np.random.Generator, chains: int, draws: int) -> pd.DataFrame:
    count = chains * draws
    parts = [
        pd.DataFrame(
            {
                "split": split,
                "chain": np.repeat(np.arange(chains), draws),
                "draw": np.tile(4 * np.arange(draws) + 3, chains),
                "width_1": rng.integers(1, 17, count),
                "rmse_log10": rng.uniform(0.03, 0.05, count),
                "log_likelihood": rng.normal(1.8, 0.1, count),
            }
        )
        for split in ("train", "val", "test")
    ]
    return pd.concat(parts, ignore_index=True)


def _size_scores() -> pd.DataFrame:
    rows = [
        (split, prediction, 600 if prediction == "marginal" else 90, lppd, rmse)
        for split in ("val", "test")
        for prediction, lppd, rmse in (("marginal", 2.0, 0.028), ("modal", 1.95, 0.03))
    ]
    return pd.DataFrame(rows, columns=["split", "prediction", "draws", "lppd", "rmse_log10"])
