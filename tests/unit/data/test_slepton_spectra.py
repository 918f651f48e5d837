"""Sleptons of SLHA files: their columns, cross sections and refusals."""

import numpy as np
import pytest

from nlobayes.data.prospino import make_layout
from nlobayes.data.slha import spectrum_of
from nlobayes.data.spectra import SpectrumRequest, read_point, tabulate
from nlobayes.physics.hadronic import of_process
from nlobayes.physics.processes import make_process
from tests.refusals import refused
from tests.spectra import xsection

TEXT = """\
Block MASS
 1000011  210.0
 1000012  195.0
 2000011  150.0
 1000015  120.0
 2000015  230.0
 1000016  190.0
Block STAUMIX
 1 1  0.28
 1 2  0.96
 2 1  0.96
 2 2  -0.28
"""


def request_of(first: int, second: int) -> SpectrumRequest:
    layout = make_layout(None, "nlo_ms")
    return SpectrumRequest(make_process(first, second), 13000.0, "nlo_ms", False, layout, order=1)


def test_a_file_is_a_row_with_masses_left_parts_and_its_cross_section() -> None:
    pair = (-1000016, 2000015)
    block = xsection(pair, [(1, "1", 0.02), (0, "1", 0.017)])
    table, _ = tabulate({"a": read_point(TEXT + block, request_of(*pair), "a")}, request_of(*pair))
    row = {name: values[0] for name, values in table.columns.items()}
    assert row == {
        "mass_1000016": 190.0,
        "mass_2000015": 230.0,
        "left_2000015": pytest.approx(0.96**2, rel=1e-12),
        "sigma_pb": 0.02,
        "lo_pb": 0.017,
        "file": "a",
    }
    assert [*table.units.values()] == ["GeV", "GeV", "1", "pb", "pb", ""]
    assert table.metadata["process"] == "p p -> ~nubar_tau ~tau-_2"


@pytest.mark.parametrize("pair", [(1000015, -2000015), (-1000011, 1000012)], ids=str)
def test_the_engine_computes_the_sleptons_of_a_spectrum(pair: tuple[int, int]) -> None:
    process = make_process(*pair)
    found = of_process(process, spectrum_of(TEXT, "a", process.columns), 13.6)
    named = {"mass_1000011": 210.0, "mass_1000012": 195.0, "mass_1000015": 120.0}
    named |= {"left_1000015": 0.28**2, "mass_2000015": 230.0, "left_2000015": 0.96**2}
    np.testing.assert_allclose(found, of_process(process, named, 13.6), rtol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "code", "fields"),
    [
        (" 1000015  120.0\n", "", "slha.no_entry", {"block": "MASS", "entry": "of mass_1000015"}),
        ("120.0", "-120.0", "slha.negative_mass", {"particle": 1000015, "mass": -120.0}),
        ("120.0", "nan", "slha.line_of_block", {}),
        ("STAUMIX", "STOPMIX", "slha.no_entry", {"block": "STAUMIX"}),
        (" 1 1  0.28\n", "", "slha.no_entry", {"entry": "of left_1000015"}),
        ("STAUMIX", "SELMIX", "slha.other_model", {"found": "block SELMIX"}),
        ("Block MASS", "Block MESS", "slha.no_block", {"block": "MASS"}),
    ],
)  # fmt: skip
def test_incomplete_spectra_are_refused_in_one_line(
    old: str, new: str, code: str, fields: dict[str, object]
) -> None:
    with refused(code, **fields) as caught:
        read_point(TEXT.replace(old, new), request_of(1000015, -1000015), "a")
    assert "\n" not in str(caught.value)
