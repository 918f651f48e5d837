"""Fields in texts are filled by columns; one that is no column, or no format, is refused."""

import pytest

from nlobayes.exchange.fields import check_fields, fields_of, filled
from tests.refusals import refused

TEMPLATE = 'Block MASS\n 1000022 {m1:.8E} # {m1}\n{"json": {m2}, "empty": {}} {n:04d}\n'


def test_fields_are_filled_and_all_other_braces_stay() -> None:
    text = filled(TEMPLATE, {"m1": 100.1, "m2": 0.1 + 0.2, "n": 7.0})
    exact = repr(0.1 + 0.2)
    first = "Block MASS\n 1000022 1.00100000E+02 # 100.1\n"
    assert text == first + f'{{"json": {exact}, "empty": {{}}}} 0007\n'
    assert fields_of(TEMPLATE) == ("m1", "m2", "n")


def test_a_field_without_a_format_is_read_back_exactly() -> None:
    for value in (1 / 3, 1e-300, -2.5, 1e22, 5e-324):
        assert float(filled("{x}", {"x": value})) == value


def test_a_field_without_a_column_is_named() -> None:
    with refused("programs.no_column", field="m2", columns=["m1", "n"]):
        check_fields(TEMPLATE, ("m1", "n"))


@pytest.mark.parametrize("form", ["q", ".8", "s", "{}", "d"])
def test_formats(form: str) -> None:
    """Of these only `.8` is a format of every number, and `{}` is no field."""
    if form in (".8", "{}"):
        assert filled(f"{{x:{form}}}", {"x": 1.5})
        return
    with refused("programs.format", field="x", form=form, value=1.5):
        filled(f"{{x:{form}}}", {"x": 1.5})
