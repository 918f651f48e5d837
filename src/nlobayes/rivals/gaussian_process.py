"""Gaussian process with a length scale for each feature and a learned noise.

The hyperparameters are at the maximum of the marginal likelihood (type-II maximum likelihood;
Rasmussen and Williams 2006, section 5.4.1), as scikit-learn finds it by L-BFGS-B from one start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.rivals import SCIKIT_LEARN, FittedRival, RivalSettings

if TYPE_CHECKING:
    import numpy as np


class GaussianProcessRival(RivalSettings):
    """A Gaussian process, fitted by type-II maximum: length scale of each feature, and noise."""

    library: ClassVar[str | None] = SCIKIT_LEARN

    kind: Literal["gaussian_process"]
    kernel: Literal["matern_5_2", "rbf"] = "matern_5_2"
    """Form of its covariance; functions of `rbf` are infinitely smooth."""
    most_rows: Annotated[int, Field(ge=10, le=5000)] = 2000
    """Most train rows that it is conditioned on, chosen at random if there are more."""
    most_rows_of_search: Annotated[int, Field(ge=10, le=2000)] = 1000
    """Most of these rows for the fit of length scales, amplitude and noise."""

    def fit(self, features: np.ndarray, target: np.ndarray) -> FittedRival:
        """Fit the hyperparameters, and condition on the train rows.

        The search of the hyperparameters uses no more rows than fit into memory. If the matrix of
        all used rows stays singular, only the rows of the search are kept; `rows` is their number.
        """
        import numpy as np

        from nlobayes.rivals._gaussian_process import (
            condition,
            hyperparameters,
            predict,
            rows_in_memory,
            search,
        )

        searched = min(self.most_rows_of_search, rows_in_memory(features.shape[1]))
        order = np.random.default_rng(self.seed).permutation(len(target))
        used = np.sort(order[: self.most_rows])
        some = np.sort(order[: min(self.most_rows, searched)])
        found = search(self.kernel, features[some], target[some])
        more = len(used) > len(some)
        whole = condition(found.kernel_, features, target, used) if more else None
        process = found if whole is None else whole
        facts = {
            "rows": len(process.y_train_),
            "rows_of_search": len(some),
            "log_marginal_likelihood": float(found.log_marginal_likelihood_value_),
            "jitter": process.alpha,
            **hyperparameters(process.kernel_),
        }
        return FittedRival(lambda points: predict(process, points), facts)
