"""Regressor with error bars, fitted as in the workflow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, validate_data

from nlobayes.errors import InputError
from nlobayes.estimators.arguments import refuse_unknown, seed_of, sizes_of, unused
from nlobayes.estimators.base import FittedNetwork
from nlobayes.fitting.cross_sections import is_leading_order
from nlobayes.fitting.reference_choice import MASSES, NONE
from nlobayes.fitting.studies import AUTO, Precision, Preset
from nlobayes.fitting.table_settings import FEWEST_ROWS
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Table
from nlobayes.untyped import Document, Facts, Points


class BayesianNetworkRegressor(RegressorMixin, FittedNetwork):
    """Bayesian neural network, sampled by exact Markov chains, with calibrated error bars.

    Parameters
    ----------
    hidden
        Units of each hidden layer, or of the only one; `auto` is the layer of the recipe.
    activation
        Activation of all hidden layers, or one for each layer.
    recipe
        `wide` has infinitely many hidden units, whose weights are integrated out, and learns a
        scale and a warp of each input. `cosines` has cosine units as well, for smooth targets
        without noise. `smooth` has 128 units of fixed random directions, learns a scale of each
        input, and integrates the output layer out. `plain` has 32 units and samples all weights.
        `auto` is `wide` up to 2000 train rows, then `smooth`, then `plain`, until the chains of one
        converge; with up to three inputs it is `cosines` first, if its log posterior density at the
        mode is higher than that of `wide` by 10. It is `plain` if units, an activation, a preset or
        single precision are chosen.
    prior, likelihood, pretraining, method
        Name of a preset in `config/presets`, or its settings; `auto` is that of the recipe. The
        likelihood `auto` learns the noise of the targets, above the least sigma with which chains
        agree. In units of the target's sd it is 0.0001 with recipe `wide`, 1e-6 with `cosines`.
        With `plain` it is the square root of train rows / 125 000, between 0.03 and 0.1; with
        `smooth`, of train rows / 6e7, between 0.002 and 0.1. With several hidden layers it is 0.1.
    chains, until
        Values that replace those of the method. `until` is `{}` or limits at which sampling stops.
    noise
        Family of the error bars, which are fitted to the validation rows; with recipes `wide`
        and `cosines` also to leave-one-out predictions of the train rows.
    scale
        `log10` to learn the logarithm of a positive target, `identity` to learn the target itself.
    relative_to
        What the target is learned relative to: a calculation (`born`, `nlo`, `nlo_half`,
        `nlo_twice`), a column of X in the unit of the target, such as a leading order, or `auto` as
        for `nlobayes fit`; `none` by default. A calculation needs named columns of X: the masses in
        GeV and the mixings of two neutralinos or charginos, such as m1 and n11 to n14.
    unit
        Unit of the target, which is stored with the surrogate; `pb` or `fb` with `relative_to`.
    features
        Settings of a dataset's `features`, such as `{"map": "invariants"}`; by default raw columns.
    validation, test
        Numbers of rows to which error bars are fitted, and with which they are tested. Numbers
        below 1 are shares of all rows. At least two rows must be left to train on. With recipes
        `wide` and `cosines` the scores are those of the train rows, and the surrogate learns all
        rows.
    precision
        `float32`, `float64`, or `auto`: that of the recipe.
    together
        Compute all chains in one job, which is faster for tiny data and on a GPU.
    random_state
        Seed of the run; a number makes the results reproducible byte for byte. A generator or a
        random state of NumPy gives another seed to each fit, and None that of `numpy.random`.
    n_jobs
        Number of processes that run chains in parallel; None uses this process.
    verbose
        Show a progress bar in a terminal, or in a notebook where ipywidgets is installed.

    Attributes
    ----------
    diagnostics_, evaluation_
        Convergence of the chains, and scores of all splits, as in the files of the workflow.
    recipe_
        The recipe of the run.
    surrogate_
        The `Surrogate` of the run, which makes the predictions.
    study_
        Configuration of the run as a study; `to_study` writes it.
    """

    def __init__(
        self,
        hidden: int | Sequence[int] | str = AUTO,
        *,
        activation: str | Sequence[str] = "tanh",
        recipe: str = AUTO,
        prior: Preset = AUTO,
        likelihood: Preset = AUTO,
        pretraining: Preset = AUTO,
        method: Preset = AUTO,
        chains: int | None = None,
        until: Facts | None = None,
        noise: str = "auto",
        scale: str = "identity",
        relative_to: str = NONE,
        unit: str = "",
        features: Facts | None = None,
        validation: float = 0.15,
        test: float = 0.15,
        precision: Precision | Literal["auto"] = "auto",
        together: bool = False,
        random_state: object = 1,
        n_jobs: int | None = None,
        verbose: bool = True,
    ) -> None:
        self.hidden = hidden
        self.activation = activation
        self.recipe = recipe
        self.prior = prior
        self.likelihood = likelihood
        self.pretraining = pretraining
        self.method = method
        self.chains = chains
        self.until = until
        self.noise = noise
        self.scale = scale
        self.relative_to = relative_to
        self.unit = unit
        self.features = features
        self.validation = validation
        self.test = test
        self.precision = precision
        self.together = together
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: Points, y: Points, sample_sd: Points = None, **unknown: Any
    ) -> BayesianNetworkRegressor:
        """Sample the posterior of the network, check its convergence, and fit its error bars.

        Parameters
        ----------
        X
            Points (point, input).
        y
            Target (point,).
        sample_sd
            Known standard deviation of the noise of each target, in the unit of the target
            (point,), or one number for all. With scale `log10` none may be larger than its target.
        unknown
            Other arguments, such as `sample_weight`, are refused.

        Raises
        ------
        InputError
            If a parameter or a row cannot be used. It is a ValueError.
        """
        refuse_unknown(unknown)
        X, y = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=FEWEST_ROWS
        )
        y = np.asarray(y, np.float64)
        columns = dict(zip(self._columns(), X.T, strict=True))
        target, error = (unused(name, columns) for name in ("y", "error_of_y"))
        columns[target] = y
        settings: Document = {"column": target, "unit": self.unit, "scale": self.scale}
        if sample_sd is not None:
            relative = self.scale == "log10"
            columns[error] = _errors(sample_sd, y, relative=relative)
            settings["relative_error" if relative else "error"] = error
        train, validation, test = sizes_of(len(y), self.validation, self.test)
        split = {"train": train, "validation": validation, "test": test}
        relative_to = self._names_in_files().get(self.relative_to, self.relative_to)
        table = Table(columns, self._units(target, relative_to), {})
        self._run(table, settings, split, train, relative_to)
        self.surrogate_ = self._loaded(Surrogate)
        return self

    def _units(self, target: str, relative_to: str) -> dict[str, str]:
        """Return the units of the target, with a reference also of masses and leading orders."""
        units = {target: self.unit} if self.unit else {}
        if relative_to == NONE:
            return units
        columns = self._columns()
        known = [name for name in columns if name == relative_to or is_leading_order(name)]
        masses = {name: "GeV" for name in columns if name in MASSES}
        return units | masses | (dict.fromkeys(known, self.unit) if self.unit else {})

    def predict(
        self,
        X: Points,
        return_std: bool = False,
        quantiles: float | Sequence[float] | None = None,
    ) -> Any:
        """Predict points, with a warning if some lie outside the domain.

        Returns
        -------
        numpy.ndarray or tuple
            Mean (point,), followed by the total standard deviation (point,) and the quantiles
            (quantile, point) if they are requested.
        """
        points = self._warned(X)
        probabilities = np.array(
            0.5 if quantiles is None else quantiles, np.float64, ndmin=1
        ).tolist()
        predicted = self.surrogate_.predict(points, quantiles=probabilities)
        more = [predicted.total_sd] if return_std else []
        more += [] if quantiles is None else [predicted.quantiles]
        return (predicted.mean, *more) if more else predicted.mean

    def sample(self, X: Points, *, noise: bool = True, random_state: object = 0) -> np.ndarray:
        """Draw predictions (draw, point), one for each draw of the posterior.

        It warns if some points lie outside the domain.
        """
        points = self._warned(X)
        return self.surrogate_.sample(points, noise=noise, seed=seed_of(random_state))


def _errors(sample_sd: Points, y: np.ndarray, *, relative: bool) -> np.ndarray:
    """Check the errors (point,), and return them in the unit of the target or relative to it."""
    each = np.full(y.shape, sample_sd) if np.ndim(sample_sd) == 0 else sample_sd
    sd = np.asarray(check_array(each, ensure_2d=False, dtype=np.float64))
    if sd.shape != y.shape:
        raise InputError("estimators.sd_shape", given=sd.shape, rows=y.shape)
    negative = np.flatnonzero(sd < 0)
    if negative.size:
        row = int(negative[0]) + 1
        raise InputError("estimators.sd_negative", row=row, count=negative.size, rows=y.size)
    if not relative:
        return sd
    large = np.flatnonzero((sd > y) & (y > 0))  # fitting refuses targets without a logarithm
    if large.size:
        row = int(large[0]) + 1
        raise InputError("estimators.sd_of_log10", row=row, count=large.size, rows=y.size)
    return np.divide(sd, y, out=np.zeros_like(sd), where=y > 0)
