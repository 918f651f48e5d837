"""The page in a real browser: its curve follows the inputs, and no other host is contacted."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.service.conftest import served

BUSY = "document.querySelector('#plot').getAttribute('aria-busy')"
READY = f"document.querySelector('#plot .line') && {BUSY} === 'false'"
CURVE = "document.querySelector('#plot .line').getAttribute('d')"
READING = "document.querySelector('#reading').innerText"
PROBLEM = (
    "document.querySelector('#problem').hidden ? '' : document.querySelector('#problem').innerText"
)
WIDTHS = ((1200, 900), (390, 844))


@pytest.fixture(scope="module")
def url(surrogate_path: Path) -> Iterator[str]:
    """The real command, at a port that is free."""
    with served(surrogate_path) as url:
        yield url


@pytest.fixture
def page(browser: Any, url: str) -> Any:
    """The page with its first curve; it must report no error, neither now nor later."""
    browser.open(url)
    browser.wait_for(READY)
    yield browser
    assert browser.complaints == []
    assert {request.split("/api")[0].rstrip("/") for request in browser.requested} <= {
        url.rstrip("/"),
        *(f"{url}{name}" for name in ("page.js", "plot.js", "style.css", "icon.svg")),
    }


def set_value(page: Any, id_: str, value: Any, event: str = "input") -> None:
    """Set the value of a control as a user would, and wait for the curve."""
    page.value(
        f"(() => {{ const it = document.getElementById('{id_}'); it.value = {value!r}; "
        f"it.dispatchEvent(new Event('{event}')); }})()"
    )
    page.wait_for(READY)


def test_the_page_describes_what_it_shows(page: Any) -> None:
    assert page.value("document.title") == "sigma_pb – nlobayes"
    badges = page.value("document.querySelector('#verdict').innerText")
    assert "✓ chains converged" in badges
    assert "✗ error bars NOT calibrated: coverage_95" in badges
    labels = page.value("[...document.querySelectorAll('#plot .title')].map(t => t.textContent)")
    assert labels == ["m₁ in GeV", "sigma in pb"]
    assert page.value("document.querySelectorAll('#inputs .input').length") == 4
    assert "68 % interval" in page.value(READING)
    assert "that states no process" in page.value("document.getElementById('of').textContent")
    origin = page.value("document.getElementById('origin').textContent")
    assert "parton distributionsunknown" in origin
    meaning = page.value("document.getElementById('meaning').textContent")
    assert "in the 68 % interval at 68 of 100 points" in meaning
    assert "Do not rely on them: coverage_95 failed." in meaning
    assert "sd" not in page.value("document.getElementById('legend').textContent")


def test_a_slider_moves_the_curve_and_the_other_mixings(page: Any) -> None:
    before = page.value(CURVE)
    set_value(page, "range-n13", 0.5)
    assert page.value(CURVE) != before
    names = ("n11", "n12", "n13", "n14")
    values = [
        float(page.value(f"document.getElementById('number-{name}').value")) for name in names
    ]
    assert values[2] == 0.5
    assert np.linalg.norm(values) == pytest.approx(1, abs=1e-4)
    page.value("document.getElementById('reset').click()")
    page.wait_for(f"{READY} && {CURVE} === {before!r}")


def test_a_value_beyond_the_training_data_is_not_taken(page: Any) -> None:
    before = page.value(CURVE)
    set_value(page, "number-n13", 7)
    assert page.value("document.getElementById('number-n13').matches(':invalid')")
    assert page.value(CURVE) == before


@pytest.mark.parametrize(
    ("value", "sd", "digits"),
    [
        (2.8111e-6, 1.3e-10, 6),
        (5.0, 2.0, 3),
        (5.0, 0.0, 3),
        (1.0, 1e-20, 12),
    ],
)
def test_a_value_has_the_digits_that_its_sd_needs(
    page: Any, value: float, sd: float, digits: int
) -> None:
    found = f"import(new URL('plot.js', location)).then((plot) => plot.digitsOf({value}, {sd}))"
    assert page.value(found) == digits


def widths(page: Any, *what: str) -> list[float]:
    found = (f"document.querySelector('#plot {one}').getAttribute('width')" for one in what)
    return [float(page.value(one)) for one in found]


def test_stripes_inside_the_range_are_explained(page: Any) -> None:
    """Only where such a stripe is shown; at both ends it is the edge."""
    hidden = "document.getElementById('gaps').hidden"
    answered = """(() => { const real = window.fetch; window.fetch = async (...given) => {
      const answer = await (await real(...given)).json();
      answer.domain = answer.domain.map((_, i) => i < 5 || (i > 80 && i < 90 && window.striped) ?
        'near edge' : 'inside');
      return new Response(JSON.stringify(answer)); }; })()"""
    page.value(answered)
    set_value(page, "range-n13", 0.3)
    assert page.value(hidden)
    page.value("(() => { window.striped = true; })()")
    set_value(page, "range-n13", 0.5)
    assert not page.value(hidden)
    assert "gaps between training rows" in page.value("document.getElementById('gaps').innerText")
    page.value(
        "document.getElementById('plot').dispatchEvent(new KeyboardEvent('keydown', {key: 'Home'}))"
    )
    assert "near edge: farther from training rows" in page.value(READING)


def test_where_the_surrogate_is_not_to_be_trusted_is_shaded(page: Any) -> None:
    """Mixings that are not of unit length are outside."""
    page.value("document.getElementById('unit-norm').click()")
    set_value(page, "along", "n11", "change")
    page.wait_for("document.querySelector('#plot .title').textContent === 'N₁₁'")
    shade, frame = widths(page, ".domain .outside", ".frame")
    assert 0 < shade <= frame


def test_masses_that_no_train_row_has_are_left_out(page: Any) -> None:
    """The axis has a short strip there, the curve two parts, and no such mass can be entered."""
    gap, frame = widths(page, ".gap", ".frame")
    assert 0 < gap < 0.1 * frame
    assert page.value(f"({CURVE}).split('M').length") == 3
    before = page.value(READING)
    set_value(page, "number-m1", 10)
    message = page.value("document.getElementById('number-m1').validationMessage")
    assert "no training data between" in message
    assert page.value(READING) == before
    set_value(page, "along", "n11", "change")
    set_value(page, "range-m1", 10)
    assert float(page.value("document.getElementById('number-m1').value")) > 100


def test_the_curve_is_read_by_keyboard_and_pointer(page: Any) -> None:
    page.value("document.getElementById('plot').focus()")
    page.press("End")
    last = page.value(READING)
    page.press("ArrowLeft")
    left = page.value(READING)
    assert left != last
    page.press("ArrowRight")
    assert page.value(READING) == last
    box = page.value(
        "(() => { const b = document.getElementById('plot').getBoundingClientRect(); "
        "return [b.left, b.top, b.width, b.height]; })()"
    )
    x, y = box[0] + 0.7 * box[2], box[1] + 0.5 * box[3]
    page.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    page.wait_for(f"{READING} !== {last!r}")
    cursor = float(page.value("document.querySelector('#plot .cursor').getAttribute('x1')"))
    assert cursor == pytest.approx(0.7 * box[2], abs=3)


def test_all_controls_are_reached_by_keyboard_in_order(page: Any) -> None:
    page.value("document.body.focus()")
    reached = []
    for _ in range(16):
        page.press("Tab")
        reached.append(page.value("document.activeElement.id || document.activeElement.name"))
    order = ["along", "axis", "number-n11", "range-n11", "unit-norm", "reset", "plot", "download"]
    places = [reached.index(name) for name in order]
    assert places == sorted(places)
    unnamed = page.value(
        "[...document.querySelectorAll('input, select, button')]"
        ".filter(e => !(e.labels?.length || e.ariaLabel || e.textContent)).map(e => e.id)"
    )
    assert unnamed == []


def test_the_curve_is_downloaded_as_the_columns_of_predict(page: Any, tmp_path: Path) -> None:
    page.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.value("document.getElementById('download').click()")
    path = tmp_path / "sigma_pb_along_m1.csv"
    for _ in range(200):
        if path.exists() and path.stat().st_size:
            break
        page.value("new Promise(done => setTimeout(done, 50))")
    header, *rows = path.read_text().splitlines()
    assert header == (
        "m1:GeV,n11,n12,n13,n14,sigma_pb_mean:pb,sigma_pb_median:pb,sigma_pb_posterior_sd:pb,"
        "sigma_pb_total_sd:pb,sigma_pb_q2.5:pb,sigma_pb_q16:pb,sigma_pb_q84:pb,sigma_pb_q97.5:pb,"
        "domain"
    )
    assert len(rows) == 201
    assert rows[0].split(",")[-1] in {"inside", "near edge", "outside"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), WIDTHS)
def test_nothing_is_wider_than_the_window_and_text_can_be_read(
    page: Any, scheme: str, width: int, height: int
) -> None:
    page.command(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=height,
        deviceScaleFactor=1,
        mobile=False,
    )
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page.command("Emulation.setEmulatedMedia", features=features)
    assert page.value("document.documentElement.scrollWidth <= innerWidth")
    for what in ("body", ".note", ".failed", ".passed", "#reading dt"):
        ink, paper = page.value(
            f"(() => {{ let it = document.querySelector({what!r}); "
            "const ink = getComputedStyle(it).color; let paper; "
            "do { paper = getComputedStyle(it).backgroundColor; it = it.parentElement; } "
            "while (it && paper === 'rgba(0, 0, 0, 0)'); return [ink, paper]; })()"
        )
        assert contrast(ink, paper) >= 4.5, (what, ink, paper)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG defines it."""
    lights = []
    for colour in (one, other):
        parts = np.array([int(part) / 255 for part in re.findall(r"\d+", colour)[:3]])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        lights.append(float(linear @ [0.2126, 0.7152, 0.0722]))
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_a_service_that_has_ended_is_reported(browser: Any, url: str) -> None:
    browser.open(url)
    browser.wait_for(READY)
    browser.command("Network.emulateNetworkConditions", **OFFLINE)
    set_range = "document.getElementById('range-n13')"
    browser.value(f"{set_range}.value = 0.4; {set_range}.dispatchEvent(new Event('input'))")
    browser.wait_for(f"({PROBLEM}).includes('is it still running')")
    browser.command("Network.emulateNetworkConditions", **OFFLINE | {"offline": False})
    set_value(browser, "range-n13", 0.3)
    browser.wait_for(f"({PROBLEM}) === ''")


OFFLINE = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
