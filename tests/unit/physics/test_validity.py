"""Rows that no other calculation was compared with are counted, with the reason."""

import numpy as np

from nlobayes.physics.processes import make_process, neutralino_pair
from nlobayes.physics.validity import not_compared

SQUARKS = np.array([2000.0, 2499.0, 2500.0, 3000.0, np.inf])


def test_every_reason_counts_its_rows() -> None:
    counts = not_compared(neutralino_pair((3, 3)), 8.0, SQUARKS)
    assert counts == (
        "5 of 5 rows at 8 TeV (13 to 13.6 were); 2 of 5 rows with squarks below 2500 GeV; "
        "5 of 5 rows of the pair chi0_3 chi0_3 (the other nine were)"
    )
    pair = neutralino_pair((1, 2))
    assert not_compared(pair, 14.0, SQUARKS[2:]) == "3 of 3 rows at 14 TeV (13 to 13.6 were)"


def test_charginos_were_compared_with_heavier_squarks() -> None:
    light = "3 of 5 rows with squarks below 3000 GeV"
    for process in (make_process(1000023, -1000024), make_process(1000037, -1000037)):
        assert not_compared(process, 13.0, SQUARKS) == light
        assert not_compared(process, 13.0, SQUARKS[3:]) == ""
    unlike = make_process(-1000024, 1000037)
    reason = "5 of 5 rows of unlike charginos (equal ones were)"
    assert not_compared(unlike, 13.0, SQUARKS) == f"{light}; {reason}"


def test_sleptons_were_compared_whatever_the_squarks() -> None:
    assert not_compared(make_process(-1000011, 1000012), 13.6, SQUARKS) == ""
    assert not_compared(make_process(1000015, -1000015), 7.0, SQUARKS) == (
        "5 of 5 rows at 7 TeV (13 to 13.6 were)"
    )
    for pair in ((1000015, -2000015), (-1000015, 2000015)):
        found = not_compared(make_process(*pair), 13.0, SQUARKS)
        assert found == "5 of 5 rows of unlike staus (equal ones were)"
