"""References of targets: completed from the source, refused if they cannot be computed."""

from typing import Any

import pytest

from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.job_builder import prepare_job
from tests.refusals import invalid

SPLIT = {"train": 10, "validation": 5, "test": 5}
TABLE = {"kind": "table", "path": "data/mine.csv"}
PAIR = ["m1", "n11", "n12", "n13", "n14", "m2", "n21", "n22", "n23", "n24"]
BORN, NLO = {"calculation": "born"}, {"calculation": "nlo"}
LO = {"column": "lo_pb"}
RANGED = {"kind": "simulate", "squark_mass_gev": {"low": 2500, "high": 5000}}
SLHA = {"kind": "slha", "folder": "s", "pair": [2, 2], "sqrt_s_tev": 8}


def preset(relative_to: Any, source: dict[str, Any] | None = None, **changes: Any) -> DatasetPreset:
    target = {"relative_to": relative_to, **changes.pop("target", {})}
    given = {"source": source or {"kind": "simulate"}, "target": target, "split": SPLIT}
    return DatasetPreset.model_validate(given | changes)


def settings_of(*given: Any, **changes: Any) -> dict[str, Any]:
    reference = prepare_job(preset(*given, **changes)).target.relative_to
    assert reference is not None
    return reference.arguments()


@pytest.mark.parametrize(
    ("source", "columns", "expected"),
    [
        ({"kind": "simulate"}, PAIR[:5], ([1, 1], 13.0, 3000.0)),
        (
            {"kind": "simulate", "pair": [2, 1], "sqrt_s_tev": 8, "squark_mass_gev": 2500},
            PAIR,
            ([1, 2], 8.0, 2500.0),
        ),
        (RANGED, [*PAIR[:5], "msq"], ([1, 1], 13.0, "msq")),
        (TABLE, PAIR[:5], ([1, 1], 13.0, 3000.0)),
        (TABLE, ["x", *PAIR[:5], "msq"], ([1, 1], 13.0, "msq")),
        (SLHA, PAIR[5:], ([2, 2], 8.0, 3000.0)),
    ],
    ids=["simulated", "pair", "squarks of a range", "table", "squarks of a column", "slha"],
)  # fmt: skip
def test_a_calculation_takes_from_the_source_what_it_knows(
    source: dict[str, Any], columns: list[str], expected: tuple[Any, ...]
) -> None:
    features = {"columns": columns, "map": "raw"}
    found = settings_of({"calculation": "born"}, source, features=features)
    assert found == {
        "calculation": "born",
        **dict(zip(("pair", "sqrt_s_tev", "squark_mass_gev"), expected, strict=True)),
        "mu_over_q": 1.0,
    }


def test_stated_settings_override_those_of_the_source() -> None:
    settings = {"calculation": "nlo", "sqrt_s_tev": 13.6, "squark_mass_gev": 2769, "mu_over_q": 0.5}
    assert settings_of(settings, TABLE) == settings | {"pair": [1, 1]}
    assert settings_of({"column": "lo_pb"}) == {"column": "lo_pb"}


def test_other_columns_and_numbers_stand_for_columns_of_the_process() -> None:
    """Of sleptons of equal masses, and of a pure wino."""
    sleptons = BORN | {"process": [1000011, -1000012], "columns": {"mass_1000012": "m"}}
    features = {"columns": ["m", "mass_1000011"], "map": "raw"}
    found = settings_of(sleptons, TABLE, features=features)
    assert found == sleptons | {"sqrt_s_tev": 13.0, "mu_over_q": 1.0}
    wino = {"m1": "-m", "n11": 0.0, "n12": 1.0, "n13": 0.0, "n14": 0.0}
    features = {"columns": ["m"], "map": "raw"}
    found = settings_of(BORN | {"columns": wino}, TABLE, features=features)
    assert found["columns"] == wino
    for columns, code, fields in (
        (wino | {"m1": "x"}, "references.inputs", {"missing": ["x"]}),
        (wino | {"m1": 200.0}, "references.no_column", {}),
        (wino | {"m2": "m"}, "references.not_of_process", {"unknown": ["m2"]}),
        (wino | {"m1": float("nan")}, "finite_number", {}),
    ):
        with invalid(code, **fields):
            preset(BORN | {"columns": columns}, TABLE, features=features)


def lacks(*names: str) -> tuple[str, dict[str, Any]]:
    return "references.inputs", {"missing": [*names]}


@pytest.mark.parametrize(
    ("relative_to", "changes", "code", "fields"),
    [
        ({"calculation": "nlo"}, {}, "references.circular", {"calculation": "nlo"}),
        (BORN | {"mu_over_q": 0.5}, {}, "references.scale", {"calculation": "born"}),
        (NLO | {"mu_over_q": 3}, {"source": TABLE}, "references.scale", {"received": 3}),
        ({"calculation": "nnlo"}, {}, "literal_error", {}),
        (BORN | {"sqrt_s_tev": 100}, {"source": TABLE}, "less_than_equal", {}),
        (BORN | {"squark_mass_gev": 100}, {"source": TABLE}, "greater_than_equal", {}),
        (BORN | {"squark_mass_gev": "msq"}, {"source": TABLE}, *lacks("msq")),
        (BORN, {"source": TABLE, "features": {"columns": ["a"], "map": "raw"}}, *lacks(*PAIR[:5])),
        (BORN, {"source": RANGED}, *lacks("msq")),
        (BORN, {"target": {"scale": "classes"}}, "references.of_one_target", {}),
        (LO, {"target": {"column": ["sigma_pb", "scale_up"]}}, "references.of_one_target", {}),
        ({"column": "sigma_pb"}, {}, "references.of_itself", {}),
        ({"column": "m1"}, {}, "references.is_feature", {"column": "m1"}),
        ({"column": "born_pb"}, {}, "study.no_column", {}),
        (LO | BORN, {}, "study.unknown_key", {}),
        ({}, {}, "missing", {}),
        ("lo_pb", {}, "model_type", {}),
    ],
)
def test_references_that_cannot_be_are_refused_when_planned(
    relative_to: Any, changes: dict[str, Any], code: str, fields: dict[str, Any]
) -> None:
    with invalid(code, **fields):
        preset(relative_to, **changes)
