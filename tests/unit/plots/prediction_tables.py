"""Tables of invented predictions, and invented ones of comparisons, of the scale of real ones."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import norm

from nlobayes.evaluation.calibration.conditional import distance_to_training
from nlobayes.evaluation.tables import curves
from nlobayes.evaluation.tables import predictions as made
from nlobayes.types import Columns
from tests.unit.evaluation.noises import make_noise

Tables = dict[str, pd.DataFrame]

LOG10 = pd.DataFrame(
    {"covariate": ["|m1| (GeV)"], "target": ["sigma_pb"], "unit": ["pb"], "scale": ["log10"]}
)
IDENTITY = pd.DataFrame({"covariate": ["x"], "target": ["y"], "unit": [""], "scale": ["identity"]})


def prediction_tables(*, points: int = 60, log10: bool = True) -> Tables:
    """Tables of one run with errors of 0.02 and a heavy tail, `points` rows per split."""
    rng = np.random.default_rng(20)
    split = np.repeat([0, 1, 2], points)
    covariate = 46 + 904 * rng.beta(1.3, 1.8, split.size)
    truth = np.clip(0.7 - covariate / 180 + 0.5 * rng.normal(size=split.size), -6, 1)
    epistemic = 0.008 * np.exp(0.5 * rng.normal(size=split.size))
    mean = truth + 0.75 * np.hypot(epistemic, 0.018) * rng.standard_t(4, split.size)
    rows = _rows(split, covariate, truth, scale_uncertainty=0.04 if log10 else np.nan)
    draws, noise = mean + epistemic * rng.normal(size=(50, 1)), make_noise("gaussian", 0.018)
    scale = "log10" if log10 else "identity"
    predicted = made.predictions(draws, rows, noise, scale=scale)
    found = {
        "predictions": predicted,
        "coverage": made.coverage(predicted, draws, noise),
        "levels": made.levels(predicted),
        "pit": made.pit(predicted, fitted_to=None),
        "conditional": made.conditional(predicted),
        "deciles": made.deciles(draws, rows, noise, rng, scale=scale),
        "cases": made.cases(draws, rows, noise, rng),
    }
    tables = _frames(found) | curve_tables(pd.DataFrame(predicted))
    return {"labels": LOG10 if log10 else IDENTITY, "regressors": regressors(), **tables}


def curve_tables(predictions: pd.DataFrame) -> Tables:
    """Draws of three chains, MAPs and densities about the mean of the test rows, by name."""
    test = predictions[predictions["split"] == "test"].sort_values("covariate")
    x, mean, sd = (test[name].to_numpy() for name in ("covariate", "mean", "total_sd"))
    rng = np.random.default_rng(8)
    draws, maps = (mean + sd * rng.normal(size=(count, 1)) for count in (39, 3))
    return _frames(curves.tables(draws, maps, 3, x, make_noise("gaussian", sd)))


def one_input_predictions(*, train: int = 20, test: int = 200) -> pd.DataFrame:
    """A curve on [-3, 3] that was learned from noisy points on [-1, 1]."""
    rng = np.random.default_rng(4)
    inside = np.sort(rng.uniform(-1, 1, train))
    grid = np.linspace(-3, 3, test)
    x = np.concatenate([inside, inside[:5], rng.permutation(grid)])
    truth = np.sin(3 * x) * np.exp(-0.1 * x**2)
    truth[:train] += 0.1 * rng.normal(size=train)
    rows = _rows(np.repeat([0, 1, 2], [train, 5, test]), x, truth)
    epistemic = 0.05 + 0.6 * np.clip(np.abs(x) - 1, 0, None) ** 1.2
    mean = np.sin(3 * np.clip(x, -1.1, 1.1)) * np.exp(-0.1 * x**2)
    draws, noise = mean + epistemic * rng.normal(size=(50, 1)), make_noise("gaussian", 0.1)
    return pd.DataFrame(made.predictions(draws, rows, noise, scale="identity"))


def _rows(
    split: np.ndarray, covariate: np.ndarray, truth: np.ndarray, scale_uncertainty: float = np.nan
) -> made.Rows:
    distance = distance_to_training(covariate[:, None], covariate[split == 0, None])
    return made.Rows(split, truth, covariate, distance, np.full(len(split), scale_uncertainty))


def _frames(tables: Mapping[str, Columns]) -> Tables:
    return {name: pd.DataFrame(columns) for name, columns in tables.items()}


def invented_runs(*, settings: int = 5, replicates: int = 3, failed: int = 2) -> pd.DataFrame:
    """Runs whose error falls with the length of the warm-up, in two series of settings."""
    rng = np.random.default_rng(3)
    rows = []
    for index in range(settings):
        for kernel in ("hmc", "nuts"):
            rows += [_run(rng, index, kernel, replicate) for replicate in range(replicates)]
    runs = pd.DataFrame(rows)
    runs["converged"] = np.arange(len(runs)) >= failed
    return runs


def invented_differences(runs: pd.DataFrame) -> pd.DataFrame:
    """Differences of every setting to the first, paired over replicates."""
    metrics = ("r2_log10", "r2_target_median", "rmse_log10", "rmse_target", "crps", "coverage_95")
    reference, *others = runs["setting"].unique()
    rows = []
    for metric in metrics:
        wide = runs.pivot(index="replicate", columns="setting", values=metric)
        for setting in others:
            difference = wide[setting] - wide[reference]
            error = difference.std() / np.sqrt(len(difference))
            rows.append(
                {
                    "setting": setting,
                    "reference": reference,
                    "metric": metric,
                    "replicates": len(difference),
                    "difference": difference.mean(),
                    "standard_error": error,
                    "low": difference.mean() - 1.96 * error,
                    "high": difference.mean() + 1.96 * error,
                }
            )
    return pd.DataFrame(rows)


def invented_pulls(*, settings: int = 4) -> pd.DataFrame:
    """Pulls that are too wide for short warm-ups, and far too wide by the sd of the draws alone."""
    edges = np.arange(-6, 6.25, 0.25)
    tables = []
    for index in range(settings):
        for kind, sigma in (("total", 1 + 0.5 / (1 + index)), ("epistemic", 2 + 2 / (1 + index))):
            share = np.diff(norm.cdf(edges, scale=sigma))
            count = np.round(600 * share)
            columns = {
                "setting": f"n16/hmc_warmup_{100 * 3**index}",
                "kind": kind,
                "low": edges[:-1],
                "high": edges[1:],
                "count": count,
                "density": count / count.sum() / 0.25,
                "sigma_z": sigma,
                "runs": 3,
                "not_converged": int(index == 0),
            }
            tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def invented_weight_spread() -> pd.DataFrame:
    """Weights of chains, and of an approximation that stays near one mode."""
    share = (np.arange(100) + 0.5) / 100
    tables = []
    for setting, spread in {"hmc": 0.3, "laplace": 0.05, "map_ensemble": 0.2}.items():
        for quantity, value in (("weight", norm.ppf(share)), ("sd", spread * np.exp(share))):
            columns = {"setting": setting, "quantity": quantity, "share": share, "value": value}
            tables.append(pd.DataFrame({**columns, "runs": 1, "not_converged": 0}))
    return pd.concat(tables, ignore_index=True)


def comparison_tables() -> Tables:
    """Tables of a grid that scans the length of the warm-up for two kernels, by name."""
    runs = invented_runs()
    scanned = pd.DataFrame({"along": ["warmup"], "series": ["kernel"], "varied": ["method"]})
    return {
        "runs": runs,
        "scanned": scanned,
        "differences": invented_differences(runs),
        "pulls_by_setting": invented_pulls(),
        "weight_spread": invented_weight_spread(),
        "speed": _speed(),
        "loadings": _loadings(),
    }


PARAMETERS = np.array([225, 449, 897, 1793])


def _speed() -> pd.DataFrame:
    """Times of four networks that grow, the last of them sampled by trees."""
    points, grown = (1, 16, 256, 4096), PARAMETERS**0.5
    return pd.DataFrame(
        {
            "parameters": PARAMETERS,
            "rows": 1000,
            "gradient_ms": 2e-3 * PARAMETERS,
            "seconds_per_draw": [*(1e-3 * PARAMETERS[:-1]), np.nan],
            "seconds_per_draw_at_most": [*([np.nan] * 3), 15.0],
            **{f"predict_{n}_ms": 1e-4 * n * grown for n in points},
            **{f"raw_{n}_ms": 0.8e-4 * n * grown for n in points},
            "load_ms": 3.0,
        }
    )


def _loadings() -> pd.DataFrame:
    """A thousand loadings of each network, some of them disturbed."""
    taken = 3 + PARAMETERS[:, None] / 500 + np.random.default_rng(6).exponential(0.4, (4, 1000))
    return pd.DataFrame({"parameters": np.repeat(PARAMETERS, 1000), "load_ms": taken.ravel()})


def _run(rng: np.random.Generator, index: int, kernel: str, replicate: int) -> dict[str, object]:
    warmup = 100 * 3**index
    setting = f"embedded/n16/normal/student_t/map_2000/{kernel}_warmup_{warmup}"
    rmse = (0.02 + 0.05 / (1 + index)) * (0.9 if kernel == "nuts" else 1) + rng.normal(0, 1e-3)
    r2 = 1 - rmse**2
    return {
        "run": f"{setting}/s{replicate}",
        "setting": setting,
        "replicate": replicate,
        "warmup": warmup,
        "kernel": kernel,
        "failed_checks": "",
        "r2_log10": r2,
        "r2_log10_low": r2 - 2e-4,
        "r2_log10_high": r2 + 1e-4,
        "train_r2_log10": 1 - 0.5 * rmse**2,
        "r2_target_mean": r2 - 0.01,
        "r2_target_median": r2 - 0.02,
        "rmse_log10": rmse,
        "rmse_target": 0.1 * rmse,
        "crps": 0.5 * rmse,
        "lppd": -np.log(rmse),
        "coverage_95": 0.95 - 0.05 / (1 + index) + rng.normal(0, 0.01),
        "rhat_f": 1 + rng.gamma(2, 0.4 / (1 + index) ** 2),
        "gradients_per_draw": 30.0 if kernel == "hmc" else 90.0 + rng.normal(),
        "acceptance_rate": 0.8 + rng.normal(0, 0.02),
    }


def regressors() -> pd.DataFrame:
    """A run between a better and a worse rival, and one whose log score is not known."""
    names = ["this run", "MAPs", "least squares", "gp_quick", "unknown"]
    return pd.DataFrame({"regressor": names, "lppd": [3.0, 2.5, -1.0, 4.0, np.nan]})
