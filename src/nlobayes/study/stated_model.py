"""Reading of the model that an artifact stores."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from nlobayes.study.jobs import ModelJob
from nlobayes.study.refusal import refusal


def stated_model(spec: Any, where: str) -> ModelJob | None:
    """Read the model of a specification, the new one if reweighted; None if it has none.

    Raises InputError if the model is not a known one, or names a file that has changed.
    """
    stated = spec.get("target", spec.get("model")) if isinstance(spec, dict) else None
    if stated is None:
        return None
    try:
        return ModelJob.model_validate(stated)
    except ValidationError as error:
        raise refusal(error, f"{where}: model") from None
