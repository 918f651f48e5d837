"""Presets of datasets: a table, the features that are read from it, and its splits."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from nlobayes.data.feature_maps import FEATURE_MAPS
from nlobayes.errors import InputError
from nlobayes.settings.values import Each, Frozen, PositiveInt, Rows, Seed
from nlobayes.study.process import Finite, Process
from nlobayes.study.sources import Source
from nlobayes.study.target import Target

if TYPE_CHECKING:
    FeatureMap = str
else:
    FeatureMap = Literal[tuple(FEATURE_MAPS)]


class Features(Frozen):
    """Columns that are read, and how they enter the network."""

    columns: tuple[str, ...] = ("m1", "n11", "n12", "n13", "n14")
    """Columns of the table, in the order of the network's inputs."""
    map: FeatureMap = "invariants"
    """Functions of the columns (docs/physics.md): `invariants` of a neutralino,
    `threshold_invariants` with the mass above half the Z mass, `resolved_invariants` stretched
    around zero, `channels` for a target relative to a calculation; `pair_invariants`,
    `chargino_neutralino_invariants`, `chargino_invariants`, `chargino_pair_invariants` of two
    particles; `ratios`: the first column, and the others over it. `raw`: the columns, on which
    chains of finite networks do not converge."""
    units: dict[str, str] = {"m1": "GeV"}
    """Unit in which a column enters; a column in another unit is converted."""
    components: Annotated[PositiveInt | None, Field(exclude_if=lambda count: count is None)] = None
    """Number of principal components of largest variance that replace the features; computed from
    the train rows alone."""
    standardise: bool = True
    """Centre and scale each feature, or each component, with the train rows."""
    constant: Annotated[
        Literal["keep", "reject"], Field(exclude_if=lambda choice: choice == "keep")
    ] = "keep"
    """Keep features that are constant on the train rows, with a warning, or refuse them."""
    covariate: str | None = None
    """Column along which residuals and calibration are shown; the first column by default."""

    @property
    def along(self) -> str:
        """Name of the covariate."""
        return self.covariate or next(iter(self.columns), "")

    @property
    def units_of_columns(self) -> dict[str, str]:
        """Unit of each column that has one; the default is for a column of physics."""
        return {name: unit for name, unit in self.units.items() if name in self.columns}

    @model_validator(mode="after")
    def _units_are_of_columns(self) -> Features:
        unused = [name for name in self.units if name not in self.columns]
        if unused and self.units != {"m1": "GeV"}:
            raise InputError(
                "study.unit_of_no_column", where="units", name=unused[0], columns=self.columns
            )
        return self

    @model_validator(mode="after")
    def _covariate_is_read(self) -> Features:
        if self.covariate is not None and self.covariate not in self.columns:
            raise InputError("study.covariate", name=self.covariate, columns=self.columns)
        return self


class Split(Frozen):
    """Rows of each split: numbers of rows, or fractions that sum to one."""

    train: Rows
    validation: Rows
    test: Rows
    shuffle: bool = True
    """Draw the rows at random; otherwise take them in order."""
    seed: Seed = 0
    """Seed of the shuffle."""
    train_from: Annotated[int, Field(ge=0, strict=True)] = 0
    """Rows, in the order of the shuffle, before the first train row: splits that differ in it
    can share validation and test rows."""
    validation_from: Annotated[int, Field(ge=1, strict=True)] | None = None
    """Rows before the first validation row; null: the train rows."""
    per_class: Annotated[bool, Field(exclude_if=lambda given: not given)] = False
    """Apply these numbers, or fractions, to each class; for a target of scale `classes`."""

    @model_validator(mode="after")
    def _fits_the_table(self) -> Split:
        share = sum(size for size in (self.train, self.validation, self.test) if size < 1)
        if share > 1 + 1e-9:
            raise InputError("study.fractions", share=share)
        return self


class SplitByColumn(Frozen):
    """Rows of each split as a column of the table states them."""

    per_class: ClassVar[bool] = False
    train: ClassVar[float] = 1.0
    """Upper bound of the share of train rows, for the resources of jobs."""

    column: Annotated[str, Field(min_length=1)]
    """Column whose cells are `train`, `validation` or `test`; rows with an empty cell are left out.
    """


def _form_of(split: object) -> str:
    stated = isinstance(split, SplitByColumn) or (isinstance(split, dict) and "column" in split)
    return "split[column]" if stated else "split[sizes]"


AnySplit = Annotated[
    Annotated[Split, Tag("split[sizes]")] | Annotated[SplitByColumn, Tag("split[column]")],
    Discriminator(_form_of),
]

SPLIT_PRESETS = {"thesis": Split(train=0.8, validation=0.05, test=0.15, shuffle=False)}


class RowFilter(Frozen):
    """Rows that are kept: those whose column holds one of the values, or a number above one."""

    column: Annotated[str, Field(min_length=1)]
    """Column of the table, of numbers or of text."""
    among: Annotated[Each[float | str], Field(exclude_if=lambda among: not among)] = ()
    """Values of the rows that are kept; each must occur."""
    above: Annotated[Finite | None, Field(exclude_if=lambda above: above is None)] = None
    """Instead of `among`: rows with a larger value are kept."""

    @model_validator(mode="after")
    def _has_one(self) -> RowFilter:
        if (self.above is None) == (not self.among):
            raise InputError("study.among_or_above")
        return self


KeptRows = Annotated[RowFilter | None, Field(exclude_if=lambda rows: rows is None)]
"""Rows that are kept; files and jobs omit the key if all rows are kept."""

Image = Annotated[
    tuple[PositiveInt, PositiveInt] | None, Field(exclude_if=lambda image: image is None)
]
"""Rows and columns of an image; jobs omit the key if there is none."""

GroupColumn = Annotated[str | None, Field(min_length=1, exclude_if=lambda column: column is None)]
"""Name of a column; files and jobs omit the key if there is none."""


StatedProcess = Annotated[Process | None, Field(exclude_if=lambda process: process is None)]
"""Process of a table of the user; by default files and jobs do not contain it."""


class DatasetPreset(Frozen):
    """A table with its features, target and splits."""

    source: Source
    """Where the table comes from."""
    features: Features = Features()
    """Inputs of the network."""
    target: Target = Target()
    """What is learned."""
    split: AnySplit
    """Row numbers or fractions, the name of a split preset (`thesis`), or `{column: split}`."""
    rows: KeptRows = None
    """Rows of the table that are used, as `{column: digit, among: [0, 1, 2]}`; all rows by
    default."""
    process: StatedProcess = None
    """Process of your own table. The surrogate states it and flags points for which it is not
    valid. Other sources state their process themselves."""
    reference_points: PositiveInt = 500
    """Held-out rows at which convergence is checked."""
    image: Image = None
    """Rows and columns of the image that the features form, row by row, as `[8, 8]`; figures
    show some test rows."""
    groups: GroupColumn = None
    """Column that names at most 20 groups of rows, such as the quality of each row: validation
    and test rows of each group are also scored separately."""

    @model_validator(mode="after")
    def _reads_what_matters(self) -> DatasetPreset:
        features, target = self.features.columns, self.target
        for name, times in Counter((*features, *target.columns)).most_common(1):
            if times > 1:
                raise InputError("study.column_twice", name=name)
        errors = {"target.relative_error": target.relative_error, "target.error": target.error}
        theory = target.theory.columns if target.theory else ()
        targets = target.columns[: len(target.columns) - len(theory)]
        requested = {
            "features.columns": features,
            "target.column": targets,
            "target.theory": theory,
        }
        requested |= {"target.scale_variations": target.scale_variations}
        requested |= {"target.relative_to.column": target.reference_columns}
        requested |= {"groups": (self.groups,) if self.groups else ()}
        if isinstance(self.split, SplitByColumn):
            requested["split.column"] = (self.split.column,)
        requested |= {"rows.column": (self.rows.column,) if self.rows else ()}
        requested |= {key: (name,) for key, name in errors.items() if name}
        self.source.check_columns(requested)
        units = dict.fromkeys(target.columns, target.unit)
        self.source.check_units(self.features.units_of_columns | units)
        _ = self.whole_target
        if self.split.per_class and target.scale != "classes":
            raise InputError("study.per_class_of_numbers", where="split", scale=target.scale)
        if self.process is not None and self.source.states_process:
            raise InputError("study.process_of_source", where="process", kind=self.source.kind)
        self._check_image()
        return self

    def _check_image(self) -> None:
        if self.image is None:
            return
        if self.target.scale != "classes":
            raise InputError("study.image_of_numbers", where="image", scale=self.target.scale)
        rows, columns = self.image
        if rows * columns != len(self.features.columns):
            raise InputError(
                "study.image_of_other_columns",
                where="image",
                rows=rows,
                columns=columns,
                given=len(self.features.columns),
            )

    @property
    def whole_target(self) -> Target:
        """The target with the complete settings of its reference."""
        reference = self.target.relative_to
        if reference is None:
            return self.target
        whole = reference.completed(self.source, self.features.columns)
        return self.target.model_copy(update={"relative_to": whole})

    @field_validator("split", mode="before")
    @classmethod
    def _named_split(cls, split: Any) -> Any:
        if isinstance(split, str) and split not in SPLIT_PRESETS:
            raise InputError("study.unknown_split", name=split, known=sorted(SPLIT_PRESETS))
        return SPLIT_PRESETS[split] if isinstance(split, str) else split
