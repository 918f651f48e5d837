"""The tables of an evaluation: predictions of every point, and their calibration.

`predictions` and `cases` come from the draws (sample, point) on the model scale; the tables of
calibration come from the table of predictions.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.evaluation.calibration import calibration
from nlobayes.evaluation.calibration import conditional as conditions
from nlobayes.evaluation.calibration.calibration_checks import check
from nlobayes.evaluation.predictive import predictive_density as predictive
from nlobayes.evaluation.predictive.predictive_density import PredictiveNoise, locate, select_rows
from nlobayes.evaluation.scores import of_split as scores
from nlobayes.evaluation.scores.regression.accuracy import mean_target, to_target
from nlobayes.types import Columns, Dataset
from nlobayes.untyped import Document

SPLITS = ("train", "val", "test")
WIDTHS = np.arange(1, 51) / 10
"""Half widths of the intervals in standard deviations."""
LEVELS = np.arange(1, 100) / 100
"""Probabilities of the central intervals."""
CASE_DRAWS = 2000
CASES = {"good": 0.1, "typical": 0.5, "bad": 0.99}
"""Quantiles of the absolute pull of the test rows at which cases are taken."""
CHOSEN = "chosen"
CENTRAL = {"low_68": 0.16, "high_68": 0.84}
"""Ends of the central interval of 68 %."""


class Rows(NamedTuple):
    """Facts of each point besides the draws; `split` is the label of its split, -1 for none.

    `observed`, `scale_uncertainty` (NaN, or None for all, if unknown) and `reference`, the
    reference of the target (None if it is learned directly), are on the model scale. `covariate` is
    the horizontal axis of figures; `distance` to the training rows is in units of the distance
    between them.
    """

    split: np.ndarray
    observed: np.ndarray
    covariate: np.ndarray
    distance: np.ndarray
    scale_uncertainty: np.ndarray | None
    reference: np.ndarray | None = None


def labels(data: Dataset, covariate: str) -> Columns:
    """Tabulate in one row the names and units of the columns of the other tables."""
    name, scale = data.target_names[0], data.target_scale
    unit = data.units.get(name, "")
    names = {"covariate": covariate, "target": name, "unit": unit, "scale": scale}
    return {name: np.array([label]) for name, label in names.items()}


def predictions(draws: np.ndarray, rows: Rows, noise: PredictiveNoise, *, scale: str) -> Columns:
    """Tabulate the prediction of every point of every split from draws (sample, point).

    `z_epistemic` is NaN without epistemic spread, `error_over_scale` without scale uncertainty,
    `reference` for a target that is learned directly.
    Targets leave the noise out: a Student-t of log10 has no mean in target space.

    Raises InputError if draws and rows do not fit together or a value is not finite.
    """
    parts = [
        {
            "split": np.full(len(points), name),
            "point": points,
            "covariate": rows.covariate[points],
            "distance": rows.distance[points],
            **_predicted(
                draws[:, points], rows.observed[points], select_rows(noise, points), scale=scale
            ),
        }
        for name, points in _points(rows)
    ]
    table = _stack(parts)
    chosen, uncertainty = table["point"], rows.scale_uncertainty
    table["error_over_scale"] = conditions.error_over_scale(
        table["mean"], table["truth"], None if uncertainty is None else uncertainty[chosen]
    )
    known = rows.reference
    table["reference"] = np.full(len(chosen), np.nan) if known is None else known[chosen]
    return table


def coverage(predicted: Columns, draws: np.ndarray, noise: PredictiveNoise) -> Columns:
    """Tabulate observed and predicted coverage at 0.1 to 5 standard deviations for every split.

    `draws` (sample, point) and `noise` are those of the predictions.
    """

    def of_split(part: Columns) -> Columns:
        points = part["point"]
        own = calibration.own_coverage(draws[:, points], select_rows(noise, points), k=WIDTHS)
        return calibration.coverage_table(part["z_epistemic"], part["z_total"], own, k=WIDTHS)

    return _by_split(predicted, of_split)


def levels(predicted: Columns) -> Columns:
    """Tabulate coverage of central intervals of 1 to 99 % for every split."""
    return _by_split(predicted, lambda part: calibration.level_table(part["pit"], LEVELS))


def pit(predicted: Columns, *, fitted_to: int | None) -> Columns:
    """Tabulate the distribution function of the PIT with its band for every split.

    The band of the test split is that of the check, which explains `fitted_to`.
    """

    def of_split(part: Columns) -> Columns:
        tested = part["split"][0] == "test"
        return calibration.pit_table(part["pit"], fitted_to=fitted_to if tested else None)

    return _by_split(predicted, of_split)


def conditional(predicted: Columns) -> Columns:
    """Tabulate the calibration of the test split along covariate, total sd and distance."""
    test = _rows_of(predicted, "test")
    by = {name: test[name] for name in ("covariate", "total_sd", "distance")}
    return conditions.conditional_table(by, test["z_total"], test["pit"])


def calibration_checks(predicted: Columns, *, fitted_to: int, **tolerances: float) -> Columns:
    """Tabulate the calibration checks of the test split; `low` is NaN where there is no bound.

    `fitted_to` and the tolerances are those of `calibration.checks.check`.
    """
    test = _rows_of(predicted, "test")
    found = check(test["z_total"], test["pit"], fitted_to=fitted_to, **tolerances)
    return {"check": np.array([*found]), **_columns([dict(one) for one in found.values()])}


def deciles(
    draws: np.ndarray, rows: Rows, noise: PredictiveNoise, rng: np.random.Generator, *, scale: str
) -> Columns:
    """Tabulate every score in ten bins of the covariate for every split, NaN where undefined."""
    parts = []
    for name, points in _points(rows):
        split = draws[:, points], rows.observed[points], rows.covariate[points]
        here = select_rows(noise, points)
        for index, decile in enumerate(scores.by_decile(*split, here, rng, scale=scale)):
            row = {"split": name, "decile": index, **decile._asdict(), **decile.scores}
            parts.append({key: row[key] for key in row if key not in ("scores", "undefined")})
    return _columns(parts)


def cases(
    draws: np.ndarray,
    rows: Rows,
    noise: PredictiveNoise,
    rng: np.random.Generator,
    chosen: Sequence[int] = (),
) -> Columns:
    """Tabulate noisy predictive draws of chosen test points, each a case called `chosen`.

    Without a choice there is one with a small, one with a typical and one with a large pull.
    """
    test = np.flatnonzero(rows.split == SPLITS.index("test"))
    here = select_rows(noise, test)
    mean, _, total_sd = predictive.predictive_moments(draws[:, test], here)
    pulls = (mean - rows.observed[test]) / total_sd
    places = [(CHOSEN, int(np.searchsorted(test, point))) for point in chosen]
    distribution = locate(draws[:, test], here)
    parts = []
    for case, index in places or _by_size(pulls):
        [sampled] = distribution.at(slice(index, index + 1)).sample(rng, (1, CASE_DRAWS))
        parts.append(
            {
                "case": np.full(CASE_DRAWS, case),
                "point": np.full(CASE_DRAWS, test[index]),
                "truth": np.full(CASE_DRAWS, rows.observed[test[index]]),
                "draw": sampled,
                "mean": np.full(CASE_DRAWS, mean[index]),
                "total_sd": np.full(CASE_DRAWS, total_sd[index]),
            }
        )
    return _stack(parts)


def _by_size(pulls: np.ndarray) -> list[tuple[str, int]]:
    """Name the places of a good, a typical and a bad point among pulls (point,)."""
    order = np.argsort(np.abs(pulls))
    return [
        (case, int(order[int(quantile * (len(order) - 1))])) for case, quantile in CASES.items()
    ]


def _predicted(
    draws: np.ndarray, observed: np.ndarray, noise: PredictiveNoise, *, scale: str
) -> Columns:
    draws, observed = predictive.checked_split(draws, observed)
    mean, posterior_sd, total_sd = predictive.predictive_moments(draws, noise)
    ends = predictive.predictive_quantiles(draws, noise, [*CENTRAL.values()])
    return {
        "truth": observed,
        "mean": mean,
        "posterior_sd": posterior_sd,
        "total_sd": total_sd,
        **dict(zip(CENTRAL, ends, strict=True)),
        "truth_target": to_target(observed, scale),
        "median_target": to_target(np.median(draws, axis=0), scale),
        "mean_target": mean_target(draws, scale),
        "z_epistemic": calibration.standardised_residuals(observed, mean, posterior_sd),
        "z_total": calibration.standardised_residuals(observed, mean, total_sd),
        "pit": predictive.predictive_cdf(draws, observed, noise),
    }


def _points(rows: Rows) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name and the points of each split that has any."""
    for label, name in enumerate(SPLITS):
        points = np.flatnonzero(rows.split == label)
        if len(points):
            yield name, points


def _by_split(predicted: Columns, tabulate: Callable[[Columns], Columns]) -> Columns:
    parts = []
    for name in SPLITS:
        if (predicted["split"] == name).any():
            table = tabulate(_rows_of(predicted, name))
            length = len(next(iter(table.values())))
            parts.append({"split": np.full(length, name), **table})
    return _stack(parts)


def _rows_of(predicted: Columns, split: str) -> Columns:
    chosen = predicted["split"] == split
    return {name: column[chosen] for name, column in predicted.items()}


def _columns(rows: Sequence[Document]) -> Columns:
    """Turn rows into columns, None into NaN."""
    return {
        name: np.array([np.nan if row[name] is None else row[name] for row in rows])
        for name in rows[0]
    }


def _stack(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
