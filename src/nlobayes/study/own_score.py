"""Custom scores, and their allowed names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from nlobayes.errors import InputError
from nlobayes.settings.own_function import OwnFunction

NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
OF_OTHER_THINGS = {
    *("run", "setting", "replicate", "converged", "failed_checks", "exact", "checks", "chains"),
    *("divergences", "gradients_total", "draws_per_chain", "between_chain_variance_share"),
    *("undefined", "groups", "points"),
}
PREFIXES = ("baseline_", "coverage_", "ess_", "loo_", "rhat_", "stated_", "waic_")
"""Prefixes of keys that are not scores."""


class CustomScore(OwnFunction):
    """A score of your own: a function in a Python file, of the predictions of one split."""

    compared: bool = False
    """Whether runs are also compared by this score, in the tables and the figure of differences."""


def check_scores(scores: Mapping[str, CustomScore]) -> Mapping[str, CustomScore]:
    """Refuse names that are not valid keys, or that other scores have.

    Raises
    ------
    InputError
        If there is such a name.
    """
    if not scores:
        return scores
    from nlobayes.metrics import METRICS  # imported here, since jobs of other verbs do not need it

    taken = OF_OTHER_THINGS.union(*(metric.keys for metric in METRICS))
    for name in scores:
        if not NAME.fullmatch(name):
            raise InputError("study.score_name", name=name, pattern=NAME.pattern)
        if name in taken or name.startswith(PREFIXES):
            raise InputError("study.score_taken", name=name, prefixes=PREFIXES)
    return scores
