"""Invented tables of the shape and scale of a real run, and how to draw and read them."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.stats import beta, norm

from nlobayes.plots import FIGURES

Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="session")
def invented_tables() -> Callable[..., Tables]:
    return _invented_tables


@pytest.fixture(scope="session")
def tables() -> Tables:
    return _invented_tables()


@pytest.fixture(scope="session")
def draw(tables: Tables) -> Callable[..., Figure]:
    """Draw a figure by name, from the invented tables or from those given."""

    def draw_figure(name: str, **replaced: pd.DataFrame) -> Figure:
        spec = FIGURES[name]
        return spec.draw(*((tables | replaced)[table] for table in spec.tables))

    return draw_figure


@pytest.fixture(scope="session")
def texts() -> Callable[[Figure], str]:
    return _texts


def _texts(figure: Figure) -> str:
    """All axis labels, titles and legend entries of a figure."""
    found = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    for axes in figure.axes:
        found += [axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left")]
    return "\n".join([*found, figure.get_supxlabel()])


def _invented_tables(*, points: int = 60, chains: int = 3, draws: int = 40) -> Tables:
    """Tables of the shape and scale of a real run: 0.02 dex errors with a tail."""
    rng = np.random.default_rng(20)
    predictions = _predictions(rng, points)
    return {
        "trace": _trace(rng, chains, draws),
        "convergence": _convergence(rng, points),
        "autocorrelation": _autocorrelation(draws),
        "loss": _loss(rng, chains),
        "predictions": predictions,
        "coverage": _coverage(predictions),
        "cases": _cases(rng, predictions, 20 * draws),
    }


def _trace(rng: np.random.Generator, chains: int, draws: int) -> pd.DataFrame:
    walk = rng.normal(size=(chains, draws)) + 0.3 * rng.normal(size=(chains, draws)).cumsum(1) / 9
    return pd.DataFrame(
        {
            "chain": np.repeat(np.arange(chains), draws),
            "draw": np.tile(np.arange(draws), chains),
            "log_density": (-1432.0 + 11.0 * walk).ravel(),
            "noise": (0.05 * np.exp(0.03 * rng.normal(size=walk.shape) + 0.01 * walk)).ravel(),
        }
    )


def _convergence(rng: np.random.Generator, points: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "reference_point": np.arange(points),
            "rhat": 0.9995 + rng.gamma(1.2, 0.004, points),
            "ess_bulk": 900 * np.exp(0.4 * rng.normal(size=points)),
            "ess_tail": 1200 * np.exp(0.3 * rng.normal(size=points)),
        }
    )


def _autocorrelation(draws: int) -> pd.DataFrame:
    lag = np.arange(min(draws, 60))
    mean = 0.75**lag
    return pd.DataFrame(
        {
            "lag": lag,
            "f_mean": mean,
            "f_p10": 0.6**lag - 0.03 * (lag > 0),
            "f_p90": 0.85**lag,
            "log_density": 0.9**lag,
        }
    )


def _loss(rng: np.random.Generator, chains: int) -> pd.DataFrame:
    epoch = np.tile(np.arange(0, 1000, 5), chains)
    chain = np.repeat(np.arange(chains), 200)
    level = 1 + 0.2 * chain
    wobble = np.exp(0.05 * rng.normal(size=epoch.size))
    return pd.DataFrame(
        {
            "chain": chain,
            "epoch": epoch,
            "train_loss": level * wobble * (np.exp(-epoch / 60) + 0.002),
            "validation_rmse": np.sqrt(level * wobble * (np.exp(-epoch / 60) + 0.004)),
        }
    )


def _predictions(rng: np.random.Generator, points: int) -> pd.DataFrame:
    split = np.repeat(["train", "val", "test"], points)
    mass = 46 + 904 * rng.beta(1.3, 1.8, split.size)
    target = np.clip(0.7 - mass / 180 + 0.5 * rng.normal(size=split.size), -6, 1)
    epistemic = 0.008 * np.exp(0.5 * rng.normal(size=split.size))
    total = np.hypot(epistemic, 0.018)
    mean = target + 0.75 * total * rng.standard_t(4, split.size)
    z = (target - mean) / total
    return pd.DataFrame(
        {
            "split": split,
            "point": np.arange(split.size),
            "mass_gev": np.where(rng.uniform(size=split.size) < 0.8, mass, -mass),
            "target_log10": target,
            "mean_log10": mean,
            "epistemic_sd_log10": epistemic,
            "total_sd_log10": total,
            "target_pb": 10**target,
            "median_pb": 10**mean,
            "mean_pb": 10**mean * (1 + 2.65 * total**2),
            "z_epistemic": (target - mean) / epistemic,
            "z_total": z,
            "pit": norm.cdf(z),
        }
    )


def _coverage(predictions: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for split, group in predictions.groupby("split", sort=False):
        for k in range(1, 6):
            inside = (group["z_total"].abs() <= k).sum()
            rows.append(
                {
                    "split": split,
                    "k": k,
                    "nominal": 2 * norm.cdf(k) - 1,
                    "epistemic": (group["z_epistemic"].abs() <= k).mean(),
                    "total": inside / len(group),
                    "lower": beta.ppf(0.16, inside + 0.5, len(group) - inside + 0.5),
                    "upper": beta.ppf(0.84, inside + 0.5, len(group) - inside + 0.5),
                }
            )
    return pd.DataFrame(rows)


def _cases(rng: np.random.Generator, predictions: pd.DataFrame, draws: int) -> pd.DataFrame:
    test = predictions[predictions["split"] == "test"]
    order = test["z_total"].abs().sort_values().index
    tables = []
    for case, index in (("good", order[len(order) // 4]), ("bad", order[-1])):
        row = test.loc[index]
        noisy = row["mean_log10"] + row["total_sd_log10"] * rng.normal(size=draws)
        kept = row[["point", "target_log10", "mean_log10", "total_sd_log10"]]
        tables.append(pd.DataFrame({"case": case, "draw_log10": noisy, **kept}))
    return pd.concat(tables, ignore_index=True).infer_objects()
