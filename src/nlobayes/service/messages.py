"""Requests and answers of the service with their limits, from which its OpenAPI schema follows."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Optional

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, create_model

from nlobayes.surrogate.identity import in_words, run_of
from nlobayes.surrogate.surrogate import Scale, Surrogate
from nlobayes.untyped import Document

SUMMARIES = ("mean", "median", "posterior_sd", "total_sd", "quantiles")
MOST_POINTS = 10_000
MOST_QUANTILES = 20
MOST_STEPS = 1001
TAIL = 1e-6
"""Smallest probability of a quantile, and of the values above it."""

Number = float | None
"""A number, or None for one that is missing or overflows."""

Finite = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, lt=1)]
Probability = Annotated[float, Field(ge=TAIL, le=1 - TAIL)]


class PointsRequest(BaseModel):
    """Points to predict, each as an array in the order of the inputs or as an object."""

    model_config = ConfigDict(extra="forbid", strict=True)

    points: list[Any]
    quantiles: list[Probability] = Field([0.16, 0.84], max_length=MOST_QUANTILES)
    scale: Scale = Field("target", description="The target, or the scale that it was learned on.")
    given: Any = None
    max_error: Share | None = Field(
        None, description="Largest relative error of points to accept, such as 0.01."
    )


class Line(BaseModel):
    """A line of points along one input; `at.NAME` sets the values of the others."""

    model_config = ConfigDict(extra="forbid")

    along: str
    steps: Annotated[int, Field(ge=2, le=MOST_STEPS)] = 201
    low: Finite | None = Field(None, description="First value; default: smallest train value.")
    high: Finite | None = Field(None, description="Last value; default: largest train value.")
    through: Finite | None = Field(None, description="Value that replaces the nearest one.")
    leave_gap: bool = Field(False, description="Leave out the gap of the input, if it has one.")
    unit_norm: bool = Field(False, description="Scale each row of mixings to norm 1.")


class Predictions(BaseModel):
    """Predictions of points, in their order."""

    target: str
    unit: str = Field(description="Unit of the target; on the scale log10 that of its argument.")
    scale: str
    mean: list[Number]
    median: list[Number]
    posterior_sd: list[Number]
    total_sd: list[Number]
    probabilities: list[float]
    quantiles: list[list[Number]] = Field(description="An array for each probability.")
    errors: dict[str, list[Number]] = Field(
        description="Relative errors by name, if the surrogate has theory errors."
    )
    domain: list[Literal["inside", "near edge", "outside"]]
    reasons: list[str] = Field(
        description="For each point: why it is outside, and fixed parameters that are not given."
    )
    accepted: list[bool] | None = Field(
        None, description="If `max_error` is given, for each point whether it is accepted."
    )
    threshold: Number = Field(None, description="Largest error that an accepted point states.")
    guarantee: str | None = Field(
        None, description="What is guaranteed of accepted points, or why none can be accepted."
    )
    source: list[Literal["surrogate", "program"]] | None = Field(
        None, description="Where a program computes points that are not accepted: what did so."
    )


class LineAnswer(Predictions):
    """Predictions along a line, and its points."""

    along: str
    inputs: list[str]
    points: list[list[Number]]


class Input(BaseModel):
    """One input: its unit, its smallest and largest train value, and a typical value.

    There is no train row between the two values of the gap, which have opposite signs.
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
    origin: dict[str, str] = Field(description="The same by name; `unknown` if no table stated it.")
    inputs: list[Input]
    conditions: list[Condition] = Field(description="Fixed parameters, which are no inputs.")
    mixings: list[list[str]] = Field(description="Inputs that are rows of a mixing matrix.")
    converged: bool | None = Field(description="Null if the draws come from no chains.")
    failed: dict[str, list[str]] = Field(description="Failed checks, of both kinds.")
    theory: list[str] = Field(description="Sources of theory errors of the surrogate.")
    verdict: Document
    scores: Document
    bibtex: str


class Health(BaseModel):
    """Status of a running service."""

    status: Literal["ok"] = "ok"


class Refusal(BaseModel):
    """Reason why a request is refused."""

    detail: str


def describe(surrogate: Surrogate) -> Description:
    """Describe a surrogate."""
    facts = surrogate.facts
    inputs = [
        Input(
            name=name,
            unit=surrogate.units.get(name, ""),
            low=surrogate.limits[name][0],
            high=surrogate.limits[name][1],
            gap=surrogate.gaps.get(name),
            typical=surrogate.typical[name],
        )
        for name in surrogate.inputs
    ]
    return Description(
        target=surrogate.target,
        unit=surrogate.units.get(surrogate.target, ""),
        scale=surrogate.scale,
        draws=surrogate.draws,
        run=run_of(facts),
        of=in_words(surrogate.origin),
        origin=surrogate.origin,
        inputs=inputs,
        conditions=[Condition(**condition._asdict()) for condition in surrogate.conditions],
        mixings=surrogate.mixings,
        converged=facts["verdict"]["converged"],
        failed=surrogate.failed_checks,
        theory=[*surrogate.theory],
        verdict=facts["verdict"],
        scores=facts.get("scores", {}),
        bibtex=facts["bibtex"],
    )


def request_of(surrogate: Surrogate) -> type[PointsRequest]:
    """Make the type of a request for predictions, with the inputs of a surrogate."""
    count, strict = len(surrogate.inputs), ConfigDict(extra="forbid", strict=True)
    units = {name: surrogate.units.get(name, "") for name in surrogate.inputs}
    point = create_model("Point", __config__=strict, **_fields(units, Number))
    units_of = {condition.name: condition.unit for condition in surrogate.conditions}
    fixed = _fields(units_of, spell(Optional, Finite), dict.fromkeys(units_of))
    given = create_model("Given", __config__=strict, **fixed)
    row = Annotated[list[Number], Field(min_length=count, max_length=count)]
    either = spell(
        Annotated,
        spell(Annotated, row, Tag("array")) | spell(Annotated, point, Tag("object")),
        Discriminator(lambda given: "object" if isinstance(given, dict) else "array"),
    )
    points = spell(Annotated, spell(list, either), Field(max_length=MOST_POINTS))
    text = "Fixed parameters, the same at every point, each in its unit; others are unknown."
    field = (spell(Optional, given), Field(None, description=text))
    made = create_model("PointsRequest", __base__=PointsRequest, points=(points, ...), given=field)
    made.model_config["json_schema_extra"] = {"example": example_of(surrogate)}
    return made


def example_of(surrogate: Surrogate) -> Document:
    """Make a request for the prediction of a typical point."""
    point = {name: float(f"{value:.4g}") for name, value in surrogate.typical.items()}
    return {"points": [point]}


def stated_parameters(request: PointsRequest) -> dict[str, float]:
    """Return the fixed parameters of a request by name."""
    given = request.given
    return {} if given is None else given.model_dump(by_alias=True, exclude_none=True)


def line_of(surrogate: Surrogate) -> type[Line]:
    """Make the type of a request for a line of points, with the inputs of a surrogate."""
    along = spell(Literal, *surrogate.inputs)
    units = {name: surrogate.units.get(name, "") for name in surrogate.inputs}
    others = _fields(units, Finite, surrogate.typical, "at.")
    return create_model("Line", __base__=Line, along=(along, ...), **others)


def field_of(position: int) -> str:
    """Name the field of an input, whose own name may be no Python identifier."""
    return f"input_{position}"


def spell(form: Any, *arguments: Any) -> Any:
    """Return the type `form[arguments]`, which is known at run time only."""
    return form[arguments if len(arguments) > 1 else arguments[0]]


def _fields(
    units: Mapping[str, str],
    kind: Any,
    defaults: Mapping[str, float | None] | None = None,
    prefix: str = "",
) -> Document:
    """Make a field of type `kind` for every name in `units`, required without `defaults`."""
    fields = {}
    for position, (name, unit) in enumerate(units.items()):
        text = f"{name} in {unit}" if unit not in ("", "1") else name
        default = ... if defaults is None else defaults[name]
        field = Field(default, alias=f"{prefix}{name}", description=text)
        fields[field_of(position)] = (kind, field)
    return fields
