"""Parameters of SLHA files: from which block, in which order, and what is refused."""

import math

import pytest

from nlobayes.data.slha import spectrum_of
from nlobayes.data.slha_blocks import read_sections
from nlobayes.data.slha_parameters import read_parameters
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


STATES = """\
Block MASS
 1000022 -200.0
 1000023 210.0
 1000024 -205.0
 1000015 300.0
 1000012 0.0
Block NMIX
 1 1 0.1
 1 2 0.2
 1 3 0.6
 1 4 -0.7
Block IMNMIX
 1 4 0.1
Block UMIX
 1 1 0.9
 1 2 -0.4
Block VMIX
 1 1 -0.95
 1 2 0.3
Block STAUMIX
 1 1 0.8
 2 1 -0.6
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mass_1000022_1000023", 205.0),
        ("mass_1000022_1000023_1000024", 205.0),
        ("mass_1000023_over_mass_1000022", 1.05),
        ("mass_1000024_over_mass_1000022_1000023", 1.0),
        ("bino_1000022", 0.01),
        ("wino_1000022", 0.04),
        ("higgsino_1000022", 0.36 + 0.49 + 0.01),
        ("wino_1000024", 0.81),
        ("higgsino_1000024", 0.09),
        ("left_1000015", 0.64),
        ("left_2000015", 0.36),
        ("mass_1000022_over_mass_1000012", math.inf),
        ("mass_1000022_1000035", None),
        ("mass_1000022_over_mass_1000035", None),
        ("wino_1000023", None),
        ("bino_1000024", None),
        ("left_1000011", None),
    ],
)
def test_masses_their_ratios_and_contents_are_those_of_the_entries(
    name: str, expected: float | None
) -> None:
    found = read_parameters(read_sections(STATES, "a"), (name,), "a")
    assert found == ({} if expected is None else {name: pytest.approx(expected, rel=1e-14)})


def test_a_ratio_to_the_squarks_takes_their_mean() -> None:
    squarks = "".join(
        f" {side}00000{flavour} 3000.0\n" for side in (1, 2) for flavour in range(1, 5)
    )
    text = STATES.replace("Block NMIX", f"{squarks}Block NMIX")
    name = "msq_over_mass_1000022"
    assert spectrum_of(text, "a", ("mass_1000022",), (name,)) == {
        "mass_1000022": 200.0,
        name: 15.0,
        "msq": 3000.0,
    }
