"""Base class of both estimators: it turns parameters into a study of one run, and runs it."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from nlobayes.artifacts.files import write_bytes, write_parquet, write_text
from nlobayes.data.column_names import carried, check_known, named_columns
from nlobayes.data.parquet_tables import to_arrow
from nlobayes.errors import InputError, one_line
from nlobayes.estimators.arguments import in_own_folder, seed_of
from nlobayes.evaluation import run_in_words
from nlobayes.fitting.fits import Fitted, fit_best
from nlobayes.fitting.reference_choice import (
    AUTO,
    CALCULATIONS,
    NONE,
    columns_of_points,
    with_reference,
)
from nlobayes.fitting.running import as_a_job
from nlobayes.fitting.studies import (
    Choices,
    Configuration,
    Precision,
    Preset,
    attempts,
    by_snakemake,
    configure,
    in_yaml,
)
from nlobayes.surrogate.domain import OUTSIDE
from nlobayes.surrogate.trained import StoredNetwork
from nlobayes.types import Table
from nlobayes.untyped import Document, Facts, Points

if TYPE_CHECKING:
    from xarray import DataTree

NAME, TABLE = "table", "table.parquet"
STUDY = "study.yaml"
STUDY_OF = """\
The run of {name}. With a checkout of nlobayes, Snakemake makes it again, called from this folder:
  {command}
CHECKOUT is the path of the checkout; its config/README.md explains the keys."""
FOLLOWED = """\
recipe {first!r} has no chains that converge on this table; the network is of recipe {kept!r}
  next: recipe={kept!r} gives the same network without the first attempt"""
RENAMED = """\
files cannot carry the names of some columns of X, and messages call them so: {names}"""
FAR = """\
{outside} of {points} points lie outside the training data (`domain`): neither their predictions \
nor the error bars can be trusted"""
FROM_FIT, FROM_PREDICT = 4, 3
"""Stack levels of warnings that point to the user's call of these methods."""
Loaded = TypeVar("Loaded", bound=StoredNetwork)


class FittedNetwork(BaseEstimator):
    """A fitted run: its verdict, its draws, its PyMC model, its study."""

    hidden: int | Sequence[int] | str
    activation: str | Sequence[str]
    recipe: str
    prior: Preset
    likelihood: Preset
    pretraining: Preset
    method: Preset
    chains: int | None
    until: Facts | None
    noise: str
    features: Facts | None
    validation: float
    test: float
    precision: Precision | Literal["auto"]
    together: bool
    random_state: object
    n_jobs: int | None
    verbose: bool

    def _choices(self, train_rows: int) -> Choices:
        return Choices(
            network={"hidden": self._hidden(), "activation": self.activation},
            recipe=self.recipe,
            prior=self.prior,
            likelihood=self.likelihood,
            pretraining=self.pretraining,
            method=self.method,
            chains=self.chains,
            until=self.until,
            noise=self.noise,
            precision=self.precision,
            seed=seed_of(self.random_state),
            together=self.together,
            train_rows=train_rows,
        )

    def _hidden(self) -> object:
        return self.hidden if isinstance(self.hidden, str) else np.atleast_1d(self.hidden).tolist()

    def _run(
        self,
        table: Table,
        target: Facts,
        split: Facts,
        rows: int,
        relative_to: str = NONE,
    ) -> None:
        """Write the table, run the study, store its files and warn about failed checks."""
        columns = self._columns()
        _warn_of_renamed(self._names_in_files())
        if relative_to not in (AUTO, NONE, *CALCULATIONS):
            check_known(columns, relative_to, "relative_to")
        units = {name: unit for name, unit in table.units.items() if name in columns}
        given = {
            "source": {"kind": "table", "path": TABLE, "duplicates": "keep"},
            "features": {"map": "raw", "columns": columns, "units": units, **self._features()},
            "target": dict(target),
            "split": dict(split),
        }
        dataset = with_reference(given, table, relative_to).dataset
        points = columns_of_points(dataset)
        for name in points:
            check_known(columns, name, "features")
        self._places = [*map(columns.index, points)]
        runs = attempts(self._choices(rows), inputs=len(dataset["features"]["columns"]))
        with in_own_folder() as folder:
            path = folder / TABLE
            write_parquet(path, to_arrow(table))
            studies = [_with_table(configure(NAME, dataset, run), path) for run in runs]
            workers = effective_n_jobs(self.n_jobs)
            recipes = [run.recipe for run in runs]
            best = fit_best(recipes, studies, folder, workers=workers, shown=self.verbose)
            self._files = {**best.fitted.files, TABLE: path.read_bytes()}
        kept = runs[best.number]
        self.recipe_, self.study_ = kept.recipe, configure(NAME, dataset, kept)
        self.diagnostics_, self.evaluation_ = best.fitted.diagnostics, best.fitted.evaluation
        _warn(best.fitted, path, first=runs[best.first].recipe, kept=kept.recipe)

    def _features(self) -> Document:
        if not isinstance(self.features, Mapping | None):
            raise InputError("estimators.features", given=self.features)
        return dict(self.features or {})

    def _columns(self) -> list[str]:
        """Return the names that files have for the columns of X."""
        return [*self._names_in_files().values()]

    def _names_in_files(self) -> dict[str, str]:
        """Return these names by those in X; a column without one has `x` and its number."""
        numbered = [f"x{number}" for number in range(self.n_features_in_)]
        names = [*getattr(self, "feature_names_in_", numbered)]
        return dict(zip(names, carried(names, self._beside()), strict=True))

    def _beside(self) -> Collection[str]:
        """Return names of columns that predictions have beside the inputs."""
        return ()

    def to_surrogate(self, path: str | Path) -> None:
        """Write the surrogate to the file that the workflow would write."""
        check_is_fitted(self)
        write_bytes(Path(path), self._files["surrogates"])

    def _loaded(self, kind: type[Loaded]) -> Loaded:
        """Load the surrogate as an object of class `kind`."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "surrogate.nc"
            path.write_bytes(self._files["surrogates"])
            return kind.load(path)

    def domain(self, X: Points) -> np.ndarray:
        """Classify points as `inside`, `near edge` or `outside` of the training data (point,)."""
        points = self._points(X)
        return self.surrogate_.domain(points)

    def _points(self, X: Points) -> np.ndarray:
        """Check points, and put their columns in the order of the surrogate."""
        check_is_fitted(self)
        points: np.ndarray = validate_data(self, X, dtype=np.float64, reset=False)
        return points[:, self._places]

    def _warned(self, X: Points) -> np.ndarray:
        """Return points as `_points`, and warn of those outside the domain."""
        points = self._points(X)
        outside = np.count_nonzero(self.surrogate_.domain(points) == OUTSIDE)
        if outside:
            text = FAR.format(outside=outside, points=len(points))
            warnings.warn(text, UserWarning, stacklevel=FROM_PREDICT)
        return points

    @property
    def idata_(self) -> DataTree:
        """The draws for ArviZ, with log likelihood and replicates of the train rows."""
        with self._on_disk() as (posterior, dataset), as_a_job(self.study_["precision"]):
            from nlobayes.interop.inference_data import inference_data

            return inference_data(posterior, dataset=dataset)

    @property
    def pymc_model_(self) -> Any:
        """The `pm.Model` of the run with its train rows, in units of the network, to be sampled."""
        with self._on_disk() as (posterior, dataset):
            from nlobayes.interop.pymc_model import pymc_model

            return pymc_model(posterior, dataset=dataset)

    @contextmanager
    def _on_disk(self) -> Iterator[tuple[Path, Path]]:
        """Write posterior and dataset to temporary files, for functions that read files."""
        check_is_fitted(self)
        with TemporaryDirectory() as folder:
            paths = Path(folder) / "posterior.nc", Path(folder) / "data.nc"
            for path, name in zip(paths, ("posterior", "data"), strict=True):
                path.write_bytes(self._files[name])
            yield paths

    def to_study(self, folder: str | Path) -> Path:
        """Write the study and its table, for Snakemake called in that folder.

        The workflow comes from a checkout of nlobayes; the first lines of the study contain the
        command.

        Returns
        -------
        Path
            Path of the study, `study.yaml`.
        """
        check_is_fitted(self)
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / TABLE).write_bytes(self._files[TABLE])
        comment = STUDY_OF.format(name=type(self).__name__, command=by_snakemake(Path(STUDY)))
        write_text(folder / STUDY, in_yaml(self.study_, comment))
        return folder / STUDY


def _with_table(study: Configuration, path: Path) -> Configuration:
    dataset = study["datasets"][NAME]
    source = {**dataset["source"], "path": str(path)}
    return {**study, "datasets": {NAME: {**dataset, "source": source}}}


def _warn_of_renamed(names: Mapping[str, str]) -> None:
    """Warn of columns of X that have another name in files."""
    others = [f"{one_line(repr(own), 60)} is {new}" for own, new in names.items() if own != new]
    if others:
        text = RENAMED.format(names=", ".join(named_columns(others)))
        warnings.warn(text, UserWarning, stacklevel=FROM_FIT)


def _warn(fitted: Fitted, table: Path, *, first: str, kept: str) -> None:
    """Warn about a second recipe, doubtful rows, failed checks with remedies, untested checks."""
    if kept != first:
        warnings.warn(FOLLOWED.format(first=first, kept=kept), UserWarning, stacklevel=FROM_FIT)
    for line in fitted.warnings:
        warnings.warn(line.removeprefix(f"{table}: "), UserWarning, stacklevel=FROM_FIT)
    untested = run_in_words.untested(fitted.evaluation["calibration_checks"])
    failure = run_in_words.describe_failed(fitted.diagnostics, fitted.evaluation, kept_files=False)
    lines = [untested] if untested else []
    if failure is not None:
        steps = (f"next: {step}" for step in failure.steps)
        lines = [failure.headline, *failure.failed, *lines, *steps]
    better = run_in_words.better_rival(fitted.evaluation)
    lines += [better] if better else []
    if lines:
        unconverged = run_in_words.failed(fitted.diagnostics["checks"])
        category = ConvergenceWarning if unconverged else UserWarning
        warnings.warn("\n  ".join(lines), category, stacklevel=FROM_FIT)
