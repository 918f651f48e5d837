"""Limits within which chains agree, for the verdict on a run and for stopping to draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import model_validator

from nlobayes.errors import InputError
from nlobayes.settings.values import Frozen, Positive


class Agreement(Frozen):
    """Limits for f at every reference point, the log density, the noise and learned scales."""

    REMOVED: ClassVar[Mapping[str, str]] = {
        "rhat_f_median": "rhat_max",
        "rhat_f_p99": "rhat_max",
        "ess_f_bulk_min": "ess_min",
    }
    """Limits of the previous release, and those that now also do their work."""

    rhat_max: Positive = 1.01
    """Largest R-hat of any of them."""
    ess_min: Positive = 400.0
    """Smallest effective sample size of any of them, bulk or tails, of all chains together."""

    @model_validator(mode="before")
    @classmethod
    def _has_no_limits_of_a_share(cls, value: Any) -> Any:
        for key, new in cls.REMOVED.items():
            if isinstance(value, dict) and key in value:
                raise InputError("study.removed_limit", key=key, new=new)
        return value
