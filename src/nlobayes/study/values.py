"""What presets are made of: bounded numbers, lists without repetition, frozen models."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator


def _each_once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    repeated = [value for place, value in enumerate(values) if value in values[:place]]
    if repeated:
        raise ValueError(f"{repeated[0]!r} is given twice; give each once")
    return values


Fraction = Annotated[float, Field(gt=0, lt=1)]
PositiveInt = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Rows = Annotated[int, Field(ge=1, strict=True)] | Fraction
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Seeds = Annotated[tuple[Seed, ...], Field(min_length=1), AfterValidator(_each_once)]
Names = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_each_once)]


class Frozen(BaseModel):
    """A value that cannot change and knows all its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _knows_its_keys(cls, value: Any) -> Any:
        for key in value if isinstance(value, dict) else ():
            if key not in cls.model_fields:
                raise ValueError(f"unknown key {key!r}; known: {sorted(cls.model_fields)}")
        return value
