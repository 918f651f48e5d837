"""Each kind of output finds the one number of a text, and refuses every other text."""

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from nlobayes.exchange.outputs import Output, number_of
from tests.refusals import invalid, refused

XSECTION = """
XSECTION  1.30E+04  2212 2212 2 1000022 1000023
  0  0  0  1.0  1.0  21200  1.25E-03 prog 1.0
  0  1  0  1.0  1.0  21200  1.50E-03 prog 1.0
"""


def made(**settings: Any) -> Any:
    given = {"column": "sigma", "unit": "pb", **settings}
    return TypeAdapter(Output).validate_python(given)


@pytest.mark.parametrize(
    ("word", "value"),
    [("1.5e-3", 1.5e-3), ("1.5D-03", 1.5e-3), ("-.5", -0.5), (" 7 ", 7.0), ("1.E+2", 100.0)],
)
def test_numbers_of_c_and_of_fortran(word: str, value: float) -> None:
    assert number_of(word) == value


@pytest.mark.parametrize("word", ["", "1,5", "0x10", "1_000", "١", "1.5 pb", "e5", "--1", "infd"])
def test_no_numbers(word: str) -> None:
    with refused("programs.no_number"):
        number_of(word)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"kind": "number"}, " 1.5e-3\n"),
        ({"kind": "pattern", "pattern": r"^NLO = (\S+) pb$"}, "LO = 1 pb\nNLO = 1.5E-03 pb\n"),
        ({"kind": "csv", "header": "nlo"}, "lo, nlo\n1.0, 0.0015\n"),
        ({"kind": "csv", "header": "nlo", "separator": "\t"}, "lo\tnlo\n1.0\t0.0015\n\n"),
        ({"kind": "json", "key": ["all", 1, "nlo"]}, json.dumps({"all": [0, {"nlo": 0.0015}]})),
        ({"kind": "xsection", "process": [1000023, 1000022], "order": 1}, XSECTION),
    ],
)
def test_each_kind_reads_its_number(settings: dict[str, Any], text: str) -> None:
    assert made(**settings).read(text) == 0.0015


@pytest.mark.parametrize(
    ("settings", "text", "code"),
    [
        ({"kind": "number"}, "", "programs.no_number"),
        ({"kind": "number"}, "done", "programs.no_number"),
        ({"kind": "number"}, "1.0 2.0", "programs.several_numbers"),
        ({"kind": "number"}, "nan", "programs.not_finite"),
        ({"kind": "number"}, "-inf", "programs.not_finite"),
        ({"kind": "number"}, "1e999", "programs.not_finite"),
        ({"kind": "number", "above": 0}, "-1.5", "programs.not_above"),
        ({"kind": "number", "above": 0}, "0", "programs.not_above"),
        ({"kind": "pattern", "pattern": r"NLO = (\S+) pb"}, "NLO = 1.5 fb", "programs.no_match"),
        ({"kind": "pattern", "pattern": r"NLO = (\S+) pb"}, "", "programs.no_match"),
        ({"kind": "pattern", "pattern": r"= (\S+)"}, "a = 1\nb = 2", "programs.several_numbers"),
        ({"kind": "pattern", "pattern": r"= (\S+)"}, "a = ****", "programs.no_number"),
        ({"kind": "csv", "header": "nlo"}, "", "programs.no_header"),
        ({"kind": "csv", "header": "nlo"}, "lo\n1\n", "programs.no_header"),
        ({"kind": "csv", "header": "nlo"}, "nlo,nlo\n1,2\n", "programs.no_header"),
        ({"kind": "csv", "header": "nlo"}, "nlo\n1\n2\n", "programs.no_single_row"),
        ({"kind": "csv", "header": "nlo"}, "nlo,lo\n1\n", "programs.no_single_row"),
        ({"kind": "json", "key": ["nlo"]}, "{", "programs.not_json"),
        ({"kind": "json", "key": ["nlo"]}, "[" * 100_000, "programs.not_json"),
        ({"kind": "json", "key": ["nlo"]}, '{"lo": 1}', "programs.no_key"),
        ({"kind": "json", "key": ["nlo", 0]}, '{"nlo": 1}', "programs.no_key"),
        ({"kind": "json", "key": ["nlo"]}, '{"nlo": true}', "programs.no_number"),
        ({"kind": "json", "key": ["nlo"]}, '{"nlo": NaN}', "programs.not_finite"),
        ({"kind": "xsection", "process": [1000022, 1000022], "order": 1}, XSECTION,
         "programs.no_xsection"),
        ({"kind": "xsection", "process": [1000022, 1000023], "order": 2}, XSECTION,
         "slha.xsection_order"),
        ({"kind": "xsection", "process": [1000022, 1000023], "order": 1, "sqrt_s_tev": 8},
         XSECTION, "slha.xsection_energies"),
    ],
)  # fmt: skip
def test_each_fault_has_its_reason(settings: dict[str, Any], text: str, code: str) -> None:
    with refused(code):
        made(**settings).read(text)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"kind": "pattern", "pattern": "("}, "programs.pattern"),
        ({"kind": "pattern", "pattern": "NLO"}, "programs.groups"),
        ({"kind": "pattern", "pattern": "(a)(b)"}, "programs.groups"),
        ({"kind": "json", "key": []}, "too_short"),
        ({"kind": "number", "file": "a/b"}, "programs.file_name"),
        ({"kind": "xsection", "process": [1, 2], "order": 1, "unit": "fb"}, "literal_error"),
    ],
)
def test_bad_settings(settings: dict[str, Any], fault: str) -> None:
    with invalid(fault):
        made(**settings)
