"""A failed check can be overlooked neither with nor without colours."""

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from nlobayes.checks import label_of
from nlobayes.plots.style import RED
from nlobayes.plots.verdict import verdict as draw_verdict
from tests.unit.plots.chain_tables import calibration_checks, verdict
from tests.unit.plots.drawing import drawn, shown

NAMES = tuple(verdict()["check"])


def drawn_verdict(failed: tuple[str, ...] = (), uncalibrated: tuple[str, ...] = ()) -> Figure:
    return drawn(draw_verdict, verdict(failed), calibration_checks(uncalibrated))


def red_texts(figure: Figure) -> list[str]:
    found = figure.findobj(Text)
    return [text.get_text() for text in found if text.get_color() == RED and text.get_text()]


@pytest.mark.parametrize(
    ("failed", "headline"),
    [
        (NAMES[:1], "NOT CONVERGED: 1 check failed"),
        (NAMES[2:5], "NOT CONVERGED: 3 checks failed"),
        (NAMES, "NOT CONVERGED: 9 checks failed"),
    ],
)
def test_failed_checks_are_red_and_in_words(failed: tuple[str, ...], headline: str) -> None:
    figure = drawn_verdict(failed)
    red = red_texts(figure)
    assert headline in red
    assert red.count("FAILED") == len(failed)
    assert set(map(label_of, NAMES)) & set(red) == set(map(label_of, failed))


def test_failed_calibration_is_red_but_leaves_the_run_converged() -> None:
    figure = drawn_verdict((), ("sigma_z",))
    red = red_texts(figure)
    assert "calibration on the test split: 1 check failed" in red
    assert {"sigma_z", "FAILED"} <= set(red)
    assert "converged: all checks passed" in shown(figure)
    assert "NOT CONVERGED" not in shown(figure)


def test_values_and_limits_are_written_out() -> None:
    text = shown(drawn_verdict()).splitlines()
    for expected in (
        "1.018",
        "at most 1.05",
        "13,512",
        "at least 100",
        "0.9 to 1.1",
        "at most 0.043",
    ):
        assert expected in text
