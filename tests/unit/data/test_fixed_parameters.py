"""Parameters of SLHA files: from which block, in which order, and what is refused."""

import pytest

from nlobayes.data.slha import read_parameters
from nlobayes.data.slha_blocks import read_sections
from tests.refusals import refused

NAMES = ("mass_1000021", "tan_beta", "mu", "msq", "soft_mass")
MASS = "Block MASS\n 1000021 -2500.0 # gluino\n"
INPUT = "BLOCK MINPAR\n 3 10.0\nBLOCK EXTPAR\n 0 1000\n 23 -400.0\n 25 11.0\n"
RUN = "block hmix Q= 1.0e3\n 1 -390.0\n 2 9.7\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MASS, {"mass_1000021": 2500.0}),
        (MASS + RUN + INPUT, {"mass_1000021": 2500.0, "tan_beta": 10.0, "mu": -400.0}),
        (INPUT.replace("3 10.0", "1 100"), {"tan_beta": 11.0, "mu": -400.0}),
        (RUN, {"tan_beta": 9.7, "mu": -390.0}),
        ("", {}),
    ],
    ids=["mass", "what was given is first", "input scale", "run to another", "nothing"],
)
def test_a_parameter_is_where_it_stands_first(text: str, expected: dict[str, float]) -> None:
    assert read_parameters(read_sections(text, "a"), NAMES, "a") == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (2 * RUN, "slha.block_twice"),
        (RUN + RUN.replace("Q= 1.0e3", ""), "slha.block_twice"),
        (RUN + RUN.replace("1.0e3", "-1"), "slha.block_twice"),
        (RUN + RUN.replace("1.0e3", "2e3") + RUN, "slha.block_twice"),
        (RUN + " 1 -380.0\n", "slha.entry_twice"),
        ("Block HMIX\n 1 large\n", "slha.line_of_block"),
        ("Block HMIX\n 1 nan\n", "slha.line_of_block"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, code: str) -> None:
    with refused(code):
        read_parameters(read_sections(text, "a"), ("mu",), "a")


@pytest.mark.parametrize(
    ("masses", "scales", "expected"),
    [
        ("", ("91.2", "900", "2.0e16"), 1),
        ("", ("2.0e16", "91.2"), 1),
        (" 1000006 400.0\n 2000006 -900.0\n", ("91.2", "500", "1000"), 1),
        (" 1000006 400.0\n", ("500", "1000"), 1),
    ],
    ids=["1 TeV without stops", "by the ratio", "600 GeV by the stops", "one stop is none"],
)
def test_of_several_scales_that_of_the_stops_counts(
    masses: str, scales: tuple[str, ...], expected: int
) -> None:
    blocks = (f"Block HMIX Q= {q} # run\n 1 {number}\n" for number, q in enumerate(scales))
    text = f"{MASS}{masses}{''.join(blocks)}"
    assert read_parameters(read_sections(text, "a"), ("mu",), "a") == {"mu": expected}
