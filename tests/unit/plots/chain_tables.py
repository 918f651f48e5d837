"""Invented tables about chains, thinning and the loss landscape."""

import numpy as np
import pandas as pd

Tables = dict[str, pd.DataFrame]


def chain_tables(*, chains: int = 4, draws: int = 120, points: int = 80) -> Tables:
    """Tables of chains that mostly agree, by name."""
    rng = np.random.default_rng(21)
    return {
        "verdict": verdict(),
        "calibration_checks": calibration_checks(),
        "trace": trace(rng, chains, draws),
        "convergence": convergence(rng, points),
        "autocorrelation": autocorrelation(draws),
        "weight_autocorrelation": weight_autocorrelation(draws),
        "weight_planes": weight_planes(rng, chains, draws),
        "marginals": marginals(rng, chains),
        "history": history(rng, chains, draws),
        "divergences": divergences(rng, points),
        "loss": loss(rng, chains),
        "thinning": thinning(),
        "landscape": landscape(),
        "landscape_maps": landscape_maps(),
        "path": path(),
        "distances": distances(chains),
    }


def verdict(failed: tuple[str, ...] = ()) -> pd.DataFrame:
    """Nine checks, of which those named `failed` are not passed."""
    rows = [
        ("rhat_f_median", 1.0012, 1.01, "at most"),
        ("rhat_f", 1.0184, 1.05, "at most"),
        ("rhat_log_density", 1.004, 1.05, "at most"),
        ("ess_f", 412.7, 100.0, "at least"),
        ("ess_f_tail_min", 13_512.4, 100.0, "at least"),
        ("ebfmi_min", 0.83, 0.3, "at least"),
        ("divergences", 0.0, 0.0, "at most"),
        ("between_chain_variance_share", 0.0123, 0.1, "at most"),
        ("log_density_spread_over_sd", 0.42, 1.0, "at most"),
    ]
    table = pd.DataFrame(rows, columns=["check", "value", "threshold", "bound"])
    return table.assign(passed=~table["check"].isin(failed))


def calibration_checks(failed: tuple[str, ...] = ()) -> pd.DataFrame:
    rows = [
        ("sigma_z", 1.03, 0.9, 1.1),
        ("coverage_68", 0.672, 0.65, 0.71),
        ("coverage_95", 0.941, 0.93, 0.97),
        ("pit_band", 0.021, np.nan, 0.043),
    ]
    table = pd.DataFrame(rows, columns=["check", "value", "low", "high"])
    return table.assign(passed=~table["check"].isin(failed))


def trace(rng: np.random.Generator, chains: int, draws: int) -> pd.DataFrame:
    walk = rng.normal(size=(chains, draws)) + 0.03 * rng.normal(size=(chains, draws)).cumsum(1)
    numbers = _chains_and_draws(chains, draws)
    noise = 0.05 * np.exp(0.03 * rng.normal(size=walk.size))
    return pd.DataFrame({**numbers, "log_density": (-1432.0 + 11.0 * walk).ravel(), "noise": noise})


def convergence(rng: np.random.Generator, points: int) -> pd.DataFrame:
    rhat = 0.9995 + rng.gamma(1.2, 0.004, points)
    between, within = 1e-6 * rng.gamma(2.0, 1.0, points), 1e-4 * rng.gamma(9.0, 1.0, points)
    return pd.DataFrame(
        {
            "reference_point": np.arange(points),
            "covariate": rng.uniform(46, 950, points),
            "rhat": rhat,
            "rhat_gelman_rubin": rhat + 0.003 * rng.uniform(size=points),
            "ess_bulk": 900 * np.exp(0.4 * rng.normal(size=points)),
            "ess_tail": 1200 * np.exp(0.3 * rng.normal(size=points)),
            "between_chain_variance": between,
            "within_chain_variance": within,
            "variance_share": between / (between + within),
        }
    )


def autocorrelation(draws: int) -> pd.DataFrame:
    lag = np.arange(min(draws, 60))
    band = {"f_mean": 0.75**lag, "f_p10": 0.6**lag - 0.03 * (lag > 0), "f_p90": 0.85**lag}
    return pd.DataFrame({"lag": lag, **band, "log_density": 0.9**lag, "noise": 0.8**lag})


def weight_autocorrelation(draws: int) -> pd.DataFrame:
    lag = np.arange(0, min(draws, 60), 5)
    return pd.DataFrame({"lag": lag, "mean": 0.97**lag, "p10": 0.93**lag, "p90": 0.99**lag})


def marginals(rng: np.random.Generator, chains: int) -> pd.DataFrame:
    """A noise and three coefficients of a linear model, in which the chains agree."""
    tables = []
    for number, name in enumerate(("noise", "weights_1[m1, 0]", "weights_1[m2, 0]", "biases_1[0]")):
        edges = np.linspace(number - 0.5, number + 0.5, 41)
        for chain in range(chains):
            density, _ = np.histogram(rng.normal(number, 0.12, 800), edges, density=True)
            columns = {
                "parameter": name,
                "mean": float(number),
                "sd": 0.12,
                "rhat": 1.002 if number else np.nan,
                "chain": chain,
                "low": edges[:-1],
                "high": edges[1:],
                "density": density,
            }
            tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def weight_planes(rng: np.random.Generator, chains: int, draws: int) -> pd.DataFrame:
    """Four planes in which chains sit in two modes."""
    tables = []
    for pair in range(4):
        centre = rng.choice([-1.0, 1.0], size=(chains, 1))
        x, y = 0.35 * rng.normal(size=(2, chains, draws)) + np.stack([centre, 0.6 * centre])
        names = {"pair": pair, "x_name": f"w1[{pair}, 3]", "y_name": f"w2[{3 * pair}, 0]"}
        chain = _chains_and_draws(chains, draws)["chain"]
        tables.append(pd.DataFrame({**names, "chain": chain, "x": x.ravel(), "y": y.ravel()}))
    return pd.concat(tables, ignore_index=True)


def history(rng: np.random.Generator, chains: int, draws: int, weights: int = 6) -> pd.DataFrame:
    tables = []
    for weight in range(weights):
        start = rng.normal(size=(chains, 1))
        walk = start + 0.05 * rng.normal(size=(chains, draws)).cumsum(1)
        numbers = _chains_and_draws(chains, draws)
        row = {"weight": f"w1[0, {17 * weight}]", **numbers, "value": walk.ravel()}
        tables.append(pd.DataFrame(row))
    return pd.concat(tables, ignore_index=True)


def divergences(rng: np.random.Generator, points: int) -> pd.DataFrame:
    covariate = rng.uniform(46, 950, points)
    expected = 0.8 + 0.02 * rng.normal(size=points)
    excess = np.exp(-covariate / 150) * rng.gamma(2.0, 0.7, points)
    return pd.DataFrame(
        {
            "reference_point": np.arange(points),
            "covariate": covariate,
            "deviation": expected + excess,
            "expected": expected,
        }
    )


def loss(rng: np.random.Generator, chains: int) -> pd.DataFrame:
    epoch = np.tile(np.arange(0, 1000, 5), chains)
    chain = np.repeat(np.arange(chains), 200)
    fall = np.exp(0.05 * rng.normal(size=epoch.size)) * (np.exp(-epoch / 60) + 0.002)
    table = {"chain": chain, "epoch": epoch, "train_loss": fall}
    return pd.DataFrame({**table, "validation_rmse": np.sqrt(fall)})


def thinning() -> pd.DataFrame:
    step = np.array([1, 2, 3, 5, 8, 13, 21, 34, 55])
    share = 1 / np.hypot(1, step / 12)
    return pd.DataFrame(
        {
            "step": step,
            "draws": 4000 // step,
            "ess_f_median": 731.0 * share,
            "ess_share": share,
            "rmse": 0.02131 + 1e-6 * step,
            "crps": 0.0112 + 1e-6 * step,
            "lppd": 2.314 - 2e-5 * step,
            "megabytes": 168.8 / step,
            "stored": step == 2,
            "chosen": step == 5,
        }
    )


def landscape() -> pd.DataFrame:
    """Three wells, one at each corner of a triangle, with ridges between."""
    alpha, beta = (axis.ravel() for axis in np.meshgrid(*2 * [np.linspace(-4, 14, 41)]))
    return pd.DataFrame({"alpha": alpha, "beta": beta, "energy": _energy(alpha, beta)})


def landscape_maps() -> pd.DataFrame:
    alpha, beta = np.array([0.0, 10.0, 4.0]), np.array([0.0, 0.0, 8.0])
    table = {"chain": np.arange(3), "alpha": alpha, "beta": beta}
    return pd.DataFrame({**table, "energy": _energy(alpha, beta)})


def _energy(alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    wells = [(0, 0), (10, 0), (4, 8)]
    depth = [0.5 * ((alpha - a) ** 2 + (beta - b) ** 2) for a, b in wells]
    return np.asarray(-2.3 + np.minimum.reduce(depth) + 0.002 * alpha)


def path() -> pd.DataFrame:
    t = np.linspace(0, 1, 41)
    bump = t * (1 - t)
    return pd.DataFrame({"t": t, "straight": -2.3 + 48 * bump, "bezier": -2.3 + 0.6 * bump})


def distances(chains: int) -> pd.DataFrame:
    epoch = np.arange(0, 1000, 20)
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "epoch": epoch,
                    "first": first,
                    "second": second,
                    "distance": 14 + (1 + 0.3 * second + 0.1 * first) * np.log1p(epoch / 30),
                }
            )
            for first in range(chains)
            for second in range(first + 1, chains)
        ],
        ignore_index=True,
    )


def _chains_and_draws(chains: int, draws: int) -> dict[str, np.ndarray]:
    return {"chain": np.repeat(np.arange(chains), draws), "draw": np.tile(np.arange(draws), chains)}
