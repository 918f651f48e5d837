"""What the service takes and gives, and within which limits: the source of its OpenAPI schema."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, create_model

from nlobayes.surrogate.surrogate import Scale, Surrogate

MOST_POINTS = 10_000
MOST_QUANTILES = 20
MOST_STEPS = 1001
TAIL = 1e-6
"""Least probability of a quantile, and of what is above the greatest."""

Number = float | None
"""None where no number exists: the point has no features, or the prediction overflows."""

Finite = Annotated[float, Field(allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=TAIL, le=1 - TAIL)]


class Ask(BaseModel):
    """Points to predict, each as an array in the order of the inputs or as an object."""

    model_config = ConfigDict(extra="forbid", strict=True)

    points: list[Any]
    quantiles: list[Probability] = Field([0.16, 0.84], max_length=MOST_QUANTILES)
    scale: Scale = Field("target", description="The target, or the scale that it was learned on.")
    given: Any = None


class Line(BaseModel):
    """A line of points along one input; `at.NAME` sets the values of the others."""

    model_config = ConfigDict(extra="forbid")

    along: str
    steps: Annotated[int, Field(ge=2, le=MOST_STEPS)] = 201
    low: Finite | None = Field(None, description="Where it starts; the smallest train value.")
    high: Finite | None = Field(None, description="Where it ends; the greatest train value.")
    through: Finite | None = Field(None, description="One of the points: the nearest moves there.")
    leave_gap: bool = Field(False, description="Leave out the gap of the input, if it has one.")
    unit_norm: bool = Field(False, description="Keep each row of mixings at a norm of one.")


class Predictions(BaseModel):
    """Predictions of points, in their order."""

    target: str
    unit: str = Field(description="Unit of the target; on the scale log10 that within it.")
    scale: str
    mean: list[Number]
    median: list[Number]
    posterior_sd: list[Number]
    total_sd: list[Number]
    probabilities: list[float]
    quantiles: list[list[Number]] = Field(description="An array for each probability.")
    errors: dict[str, list[Number]] = Field(
        description="Relative errors of a surrogate that knows theory errors, by name."
    )
    domain: list[Literal["inside", "near edge", "outside"]]


class Answer(Predictions):
    """Predictions of points, and the fixed parameters that they violate or lack."""

    reasons: list[str] = Field(description="For each point; empty where all are as they were.")


class LineAnswer(Predictions):
    """Predictions along a line, and its points."""

    along: str
    inputs: list[str]
    points: list[list[Number]]


class Input(BaseModel):
    """One input: its unit, smallest and greatest train value, and that of a train row.

    Between the two values of the gap, which are of opposite signs, there is no train row.
    """

    name: str
    unit: str
    low: float
    high: float
    gap: tuple[float, float] | None
    typical: float


class Condition(BaseModel):
    """A parameter that was fixed in the training data, and the range in which it must lie."""

    name: str
    value: float
    unit: str
    low: float
    high: float


class Description(BaseModel):
    """The surrogate, the results of its checks, and its citation."""

    target: str
    unit: str
    scale: str
    draws: int
    run: str
    of: str = Field(description="Process, energy and settings in words.")
    origin: dict[str, str] = Field(description="The same by name; unknown what no table stated.")
    inputs: list[Input]
    conditions: list[Condition] = Field(description="Fixed parameters, which are no inputs.")
    mixings: list[list[str]] = Field(description="Inputs that are rows of a mixing matrix.")
    converged: bool | None = Field(description="Null of draws that are no chains.")
    failed: dict[str, list[str]] = Field(description="Checks that failed, of both kinds.")
    theory: list[str] = Field(description="Sources of theory errors that it knows.")
    verdict: dict[str, Any]
    scores: dict[str, Any]
    bibtex: str


class Health(BaseModel):
    """That the service answers."""

    status: Literal["ok"] = "ok"


class Refusal(BaseModel):
    """Why a request is refused."""

    detail: str


def ask_of(surrogate: Surrogate) -> type[Ask]:
    """Make the request for predictions of a surrogate with these inputs."""
    count = len(surrogate.inputs)
    strict = ConfigDict(extra="forbid", strict=True)
    units = {name: surrogate.units.get(name, "") for name in surrogate.inputs}
    point = create_model("Point", __config__=strict, **_fields(units, "", {}))
    held = {one.name: one.unit for one in surrogate.conditions}
    fixed = _fields(held, "", dict.fromkeys(held), spell_optional(Finite))
    given = create_model("Given", __config__=strict, **fixed)
    row = Annotated[list[Finite], Field(min_length=count, max_length=count)]
    either = spell(
        Annotated,
        spell(Annotated, row, Tag("array")) | spell(Annotated, point, Tag("object")),
        Discriminator(lambda given: "object" if isinstance(given, dict) else "array"),
    )
    limits = Field(min_length=1, max_length=MOST_POINTS)
    points = spell(Annotated, spell(list, either), limits)
    said = "Fixed parameters, the same at every point, each in its unit; others are unknown."
    told = (spell_optional(given), Field(None, description=said))
    return create_model("Ask", __base__=Ask, points=(points, ...), given=told)


def given_of(ask: Ask) -> dict[str, float]:
    """Take the fixed parameters that a request gives, by name."""
    given = ask.given
    return {} if given is None else given.model_dump(by_alias=True, exclude_none=True)


def line_of(surrogate: Surrogate) -> type[Line]:
    """Make the request for a line of points of a surrogate with these inputs."""
    along = spell(Literal, *surrogate.inputs)
    units = {name: surrogate.units.get(name, "") for name in surrogate.inputs}
    others = _fields(units, "at.", surrogate.typical)
    return create_model("Line", __base__=Line, along=(along, ...), **others)


def field_of(position: int) -> str:
    """Name the field of an input: its own name may be none in Python."""
    return f"input_{position}"


def spell(form: Any, *arguments: Any) -> Any:
    """Spell a type that is known only now: `form[arguments]`."""
    return form[arguments if len(arguments) > 1 else arguments[0]]


def spell_optional(form: Any) -> Any:
    """Spell a type that is known only now, or None."""
    return form | None


def _fields(
    units: Mapping[str, str],
    prefix: str,
    defaults: Mapping[str, float | None],
    of: Any = Finite,
) -> dict[str, Any]:
    """Make a field for every name, which has a unit."""
    return {
        field_of(position): (
            of,
            Field(
                defaults.get(name, ...),
                alias=f"{prefix}{name}",
                description=f"{name} in {units[name]}" if units[name] not in ("", "1") else name,
            ),
        )
        for position, name in enumerate(units)
    }
