"""Invented tables about predictions and comparisons, of the shape and scale of real ones."""

import numpy as np
import pandas as pd
from scipy.spatial import KDTree
from scipy.stats import norm, t

Tables = dict[str, pd.DataFrame]
Floats = np.ndarray

LOG10 = pd.DataFrame(
    {"covariate": ["|m1| (GeV)"], "target": ["sigma_pb"], "unit": ["pb"], "scale": ["log10"]}
)
IDENTITY = pd.DataFrame({"covariate": ["x"], "target": ["y"], "unit": [""], "scale": ["identity"]})


def prediction_tables(*, points: int = 60, log10: bool = True) -> Tables:
    """Tables of one run with errors of 0.02 and a heavy tail, `points` rows per split."""
    rng = np.random.default_rng(20)
    predictions = _predictions(rng, points, log10)
    return {
        "labels": LOG10 if log10 else IDENTITY,
        "predictions": predictions,
        "coverage": _coverage(predictions),
        "levels": _levels(predictions),
        "pit": _pit(predictions),
        "conditional": _conditional(predictions),
        "deciles": _deciles(predictions, log10),
        "cases": _cases(rng, predictions, 800),
        **curve_tables(predictions),
    }


def curve_tables(predictions: pd.DataFrame) -> Tables:
    """Draws of three chains, MAPs and densities about the mean of the test rows, by name."""
    test = predictions[predictions["split"] == "test"].sort_values("covariate")
    x, mean, sd = (test[name].to_numpy() for name in ("covariate", "mean", "total_sd"))
    rng = np.random.default_rng(8)
    chain, draw = (place.ravel() for place in np.indices((3, 13)))
    f = mean + sd * rng.normal(size=(39, 1))
    maps = mean + sd * rng.normal(size=(3, 1))
    value = np.linspace((mean - 3 * sd).min(), (mean + 3 * sd).max(), 121)
    cells = norm.pdf(value[:, None], mean, sd)
    levels = {"q2_5": 0.025, "q16": 0.16, "q50": 0.5, "q84": 0.84, "q97_5": 0.975}
    quantiles = {name: norm.ppf(level, mean, sd) for name, level in levels.items()}
    return {
        "curves": pd.DataFrame(
            {
                "chain": np.repeat(chain, len(x)),
                "draw": np.repeat(draw, len(x)),
                "covariate": np.tile(x, 39),
                "f": f.ravel(),
            }
        ),
        "maps": pd.DataFrame(
            {
                "member": np.repeat(np.arange(3), len(x)),
                "covariate": np.tile(x, 3),
                "f": maps.ravel(),
            }
        ),
        "predictive_quantiles": pd.DataFrame({"covariate": x, **quantiles}),
        "density": pd.DataFrame(
            {
                "covariate": np.tile(x, len(value)),
                "value": np.repeat(value, len(x)),
                "density": cells.ravel(),
            }
        ),
    }


def one_input_predictions(*, train: int = 20, test: int = 200) -> pd.DataFrame:
    """A curve on [-3, 3] that was learned from noisy points on [-1, 1]."""
    rng = np.random.default_rng(4)
    inside = np.sort(rng.uniform(-1, 1, train))
    grid = np.linspace(-3, 3, test)
    x = np.concatenate([inside, inside[:5], rng.permutation(grid)])
    truth = np.sin(3 * x) * np.exp(-0.1 * x**2)
    truth[:train] += 0.1 * rng.normal(size=train)
    split = np.repeat(["train", "val", "test"], [train, 5, test])
    epistemic = 0.05 + 0.6 * np.clip(np.abs(x) - 1, 0, None) ** 1.2
    mean = np.sin(3 * np.clip(x, -1.1, 1.1)) * np.exp(-0.1 * x**2)
    return _with_scores(split, x, truth, mean, epistemic, 0.1, log10=False)


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


def _predictions(rng: np.random.Generator, points: int, log10: bool) -> pd.DataFrame:
    split = np.repeat(["train", "val", "test"], points)
    covariate = 46 + 904 * rng.beta(1.3, 1.8, split.size)
    truth = np.clip(0.7 - covariate / 180 + 0.5 * rng.normal(size=split.size), -6, 1)
    epistemic = 0.008 * np.exp(0.5 * rng.normal(size=split.size))
    mean = truth + 0.75 * np.hypot(epistemic, 0.018) * rng.standard_t(4, split.size)
    return _with_scores(split, covariate, truth, mean, epistemic, 0.018, log10=log10)


def _with_scores(
    split: Floats,
    covariate: Floats,
    truth: Floats,
    mean: Floats,
    epistemic: Floats,
    noise: float,
    *,
    log10: bool,
) -> pd.DataFrame:
    total = np.hypot(epistemic, noise)
    z = (truth - mean) / total
    train = KDTree(covariate[split == "train", None])
    gaps, _ = train.query(covariate[:, None], k=2)
    nearest = np.where(split == "train", gaps[:, 1], gaps[:, 0])
    return pd.DataFrame(
        {
            "split": split,
            "point": np.arange(split.size),
            "covariate": covariate,
            "distance": nearest / np.median(nearest[split == "train"]),
            "truth": truth,
            "mean": mean,
            "posterior_sd": epistemic,
            "total_sd": total,
            "low_68": mean - 0.9945 * total,
            "high_68": mean + 0.9945 * total,
            "truth_target": 10**truth if log10 else truth,
            "median_target": 10**mean if log10 else mean,
            "mean_target": 10**mean * (1 + 2.65 * total**2) if log10 else mean,
            "z_epistemic": (truth - mean) / epistemic,
            "z_total": z,
            "pit": norm.cdf(z),
            "error_over_scale": np.abs(mean - truth) / 0.04 if log10 else np.nan,
            "reference": np.nan,
        }
    )


def _wilson(share: Floats, points: int) -> tuple[Floats, Floats]:
    z2 = 1.96**2 / points
    half = np.sqrt(share * (1 - share) * z2 + z2**2 / 4)
    return (share + z2 / 2 - half) / (1 + z2), (share + z2 / 2 + half) / (1 + z2)


def _coverage(predictions: pd.DataFrame) -> pd.DataFrame:
    k = np.arange(1, 51) / 10
    tables = []
    for split, group in predictions.groupby("split", sort=False):
        total, epistemic = (
            (group[column].abs().to_numpy() <= k[:, None]).mean(axis=1)
            for column in ("z_total", "z_epistemic")
        )
        lower, upper = _wilson(total, len(group))
        own = 2 * t(5).cdf(k * np.sqrt(5 / 3)) - 1
        columns = {"k": k, "own_epistemic": 2 * norm.cdf(k) - 1, "own_total": own}
        columns |= {"epistemic": epistemic, "total": total}
        tables.append(pd.DataFrame({"split": split, **columns, "lower": lower, "upper": upper}))
    return pd.concat(tables, ignore_index=True)


def _levels(predictions: pd.DataFrame) -> pd.DataFrame:
    level = np.arange(1, 100) / 100
    tables = []
    for split, group in predictions.groupby("split", sort=False):
        central = np.abs(2 * group["pit"].to_numpy() - 1)
        share = (central <= level[:, None]).mean(axis=1)
        lower, upper = _wilson(share, len(group))
        columns = {"level": level, "coverage": share, "lower": lower, "upper": upper}
        tables.append(pd.DataFrame({"split": split, **columns}))
    return pd.concat(tables, ignore_index=True)


def _pit(predictions: pd.DataFrame) -> pd.DataFrame:
    u = np.linspace(0, 1, 101)
    tables = []
    for split, group in predictions.groupby("split", sort=False):
        half = 2.9 * np.sqrt(u * (1 - u) / len(group))
        ecdf = (group["pit"].to_numpy() <= u[:, None]).mean(axis=1)
        columns = {"u": u, "ecdf": ecdf, "lower": u - half, "upper": u + half}
        tables.append(pd.DataFrame({"split": split, **columns}))
    return pd.concat(tables, ignore_index=True)


def _conditional(predictions: pd.DataFrame) -> pd.DataFrame:
    test = predictions[predictions["split"] == "test"]
    rows = []
    for by in ("covariate", "total_sd", "distance"):
        order = np.argsort(test[by].to_numpy())
        for number, members in enumerate(np.array_split(order, max(2, min(10, len(test) // 20)))):
            rows.append({"by": by, "bin": number, **_conditional_bin(test.iloc[members], by)})
    return pd.DataFrame(rows)


def _conditional_bin(rows: pd.DataFrame, by: str) -> dict[str, float]:
    sigma = rows["z_total"].std()
    spread = sigma / np.sqrt(2 * len(rows))
    shares: dict[str, float] = {}
    for level in (68, 95):
        inside = np.abs(2 * rows["pit"].to_numpy() - 1) <= level / 100
        lower, upper = _wilson(inside.mean(), len(rows))
        name = f"coverage_{level}"
        ends = {f"{name}_lower": float(lower), f"{name}_upper": float(upper)}
        shares |= {name: float(inside.mean()), **ends}
    return {
        "low": rows[by].min(),
        "high": rows[by].max(),
        "centre": rows[by].median(),
        "points": len(rows),
        "sigma_z": sigma,
        "sigma_z_lower": sigma - 1.96 * spread,
        "sigma_z_upper": sigma + 1.96 * spread,
        **shares,
    }


def _deciles(predictions: pd.DataFrame, log10: bool) -> pd.DataFrame:
    rows = []
    for split, group in predictions.groupby("split", sort=False):
        order = np.argsort(group["covariate"].to_numpy())
        for number, members in enumerate(np.array_split(order, 10)):
            part = group.iloc[members]
            row = {
                "split": split,
                "decile": number + 1,
                "low": part["covariate"].min(),
                "high": part["covariate"].max(),
                "points": len(part),
                "rmse_target": _rms(part["median_target"] - part["truth_target"]),
                "relative_error_p50": np.median(
                    np.abs(part["median_target"] / part["truth_target"] - 1)
                ),
                "coverage_95": np.mean(np.abs(2 * part["pit"] - 1) <= 0.95),
            }
            if log10:
                row["rmse_log10"] = _rms(part["mean"] - part["truth"])
            rows.append(row)
    return pd.DataFrame(rows)


def _rms(values: pd.Series) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _cases(rng: np.random.Generator, predictions: pd.DataFrame, draws: int) -> pd.DataFrame:
    test = predictions[predictions["split"] == "test"]
    order = test["z_total"].abs().sort_values().index
    tables = []
    last = len(order) - 1
    places = {"good": last // 10, "typical": last // 2, "bad": last}
    for case, index in ((case, order[place]) for case, place in places.items()):
        row = test.loc[index]
        noisy = row["mean"] + row["total_sd"] * rng.normal(size=draws)
        kept = row[["point", "truth", "mean", "total_sd"]]
        tables.append(pd.DataFrame({"case": case, "draw": noisy, **kept}))
    return pd.concat(tables, ignore_index=True).infer_objects()
