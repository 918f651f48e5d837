"""The curve is visible in the frame, for every kind of dataset and along every input.

Each surrogate has error bars of tens of decades on part of its axes, as a fit may have them.
"""

import base64
import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import uvicorn
from matplotlib import image

from nlobayes import service
from nlobayes.data.dataset_of_table import Choices, make_dataset
from nlobayes.data.selection import Selection
from nlobayes.data.simulators.simulate import Settings, scan_table
from nlobayes.data.splits import Split
from nlobayes.service.application import application
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import SurrogateContent

FOLDER = Path(service.__path__[0]) / "page"
PAGE = {path.name: path.read_text("utf-8") for path in FOLDER.iterdir()}
READY = (
    "document.querySelector('#plot .line') "
    "&& document.querySelector('#plot').getAttribute('aria-busy') === 'false'"
)
PLACES = """(() => {
  const box = (it) => ["x", "y", "width", "height"].map((name) => Number(it.getAttribute(name)));
  const all = (what) => [...document.querySelectorAll(`#plot ${what}`)].map(box);
  const plot = document.getElementById("plot").getBoundingClientRect();
  return { plot: [plot.x + scrollX, plot.y + scrollY, plot.width, plot.height],
    frame: all(".frame")[0], hidden: [...all(".gap"), ...all(".domain .outside")] };
})()"""
LIGHT = {"name": "prefers-color-scheme", "value": "light"}
CURVE = np.array([0, 114, 178]) / 255
BETWEEN = 5
"""Slightly more than the pixels between two points; the curve may leave the frame so early."""

ROWS = 400
WITHOUT = "document.styleSheets[0].insertRule('#plot .{} {{ display: none }}')"
"""Script that hides a part of the plot permanently, whenever the page draws it again."""
SEEN = 0.95
"""Share of the columns of pixels where the curve must be seen."""

NEUTRALINO = ("m1", "n11", "n12", "n13", "n14")


class Example(NamedTuple):
    """A dataset of one of the kinds that are shipped."""

    columns: tuple[str, ...]
    map: str
    settings: Settings | None = None
    scale: str = "log10"


EMBEDDED = Settings(sqrt_s_tev=13, squark_mass_gev=3000.0)
EXAMPLES = {
    "invariants": Example(NEUTRALINO, "invariants", EMBEDDED),
    "resolved": Example(NEUTRALINO, "resolved_invariants", EMBEDDED),
    "raw": Example(NEUTRALINO, "raw", EMBEDDED),
    "pair": Example(
        (*NEUTRALINO, "m2", "n21", "n22", "n23", "n24"),
        "pair_invariants",
        EMBEDDED._replace(pair=(1, 2)),
    ),
    "squark": Example(
        (*NEUTRALINO, "msq"),
        "resolved_invariants",
        EMBEDDED._replace(squark_mass_gev=(2500.0, 5000.0)),
    ),
    "own": Example(("a", "b", "c"), "raw", scale="identity"),
}


simulated = cache(partial(scan_table, 3, ROWS))


def rows_of(example: Example) -> Selection:
    """Simulate points, or make a table whose target goes through zero."""
    if example.settings is None:
        x = np.random.default_rng(2).uniform(-3, 3, (ROWS, 3))
        return Selection(x, np.sin(x[:, 0]) + 0.3 * x[:, 1], {})
    table = simulated(example.settings)
    inputs = np.column_stack([table.columns[name] for name in example.columns])
    return Selection(inputs, table.columns["sigma_pb"], table.units)


def with_tall_error_bars(exported: SurrogateContent) -> SurrogateContent:
    """Let draws differ by decades where the first feature is small, by one more hidden unit."""
    drawn = dict(exported.variables)
    draws, width = drawn["weights_1"].shape[:2]
    unit = np.zeros((draws, width, 1), np.float32)
    unit[:, 0] = -4
    tall = np.random.default_rng(1).normal(0, 6, (draws, 1)).astype(np.float32)
    drawn["weights_1"] = np.concatenate([drawn["weights_1"], unit], axis=2)
    drawn["biases_1"] = np.concatenate(
        [drawn["biases_1"], np.full((draws, 1), -3.2, np.float32)], axis=1
    )
    drawn["weights_2"] = np.concatenate([drawn["weights_2"], tall[:, :, np.newaxis]], axis=1)
    drawn["biases_2"] = drawn["biases_2"] + tall
    return exported._replace(variables=drawn)


@pytest.fixture(scope="module", params=EXAMPLES)
def example(request: Any, make_surrogate: Callable[..., SurrogateContent]) -> Surrogate:
    chosen = EXAMPLES[request.param]
    choices = Choices(
        feature_map=chosen.map,
        standardise_features=True,
        target_scale=chosen.scale,
        standardise_target=True,
        split=Split(ROWS // 2, ROWS // 4, ROWS // 4, shuffle=True, seed=0),
        reference_points=6,
    )
    dataset = make_dataset(rows_of(chosen), chosen.columns, ("sigma_pb",), choices)
    exported = with_tall_error_bars(make_surrogate(dataset, hidden=30))
    surrogate = Surrogate(exported)
    assert {*surrogate.gaps} == {*surrogate.inputs} & {"m1", "m2"}
    return surrogate


@contextmanager
def served(surrogate: Surrogate) -> Iterator[str]:
    """Serve from a thread, at a port that is free."""
    app = application(surrogate, PAGE, {"127.0.0.1"})
    config = uvicorn.Config(app, "127.0.0.1", 0, log_level="warning", lifespan="off")
    socket, server = config.bind_socket(), uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join(30)
        socket.close()


@pytest.mark.by_day(3)
def test_the_curve_is_seen_along_every_input(browser: Any, example: Surrogate) -> None:
    """This holds even if error bars reach far beyond the frame. No number is cut in its box."""
    with served(example) as url:
        browser.command("Emulation.setEmulatedMedia", features=[LIGHT])
        browser.open(url)
        browser.wait_for(READY)
        browser.value(WITHOUT.format("mark"))
        log = example.scale == "log10"
        assert browser.value("document.querySelector('input[value=log]').checked") == log
        for name in example.inputs:
            set_and_wait(browser, "along", name)
            for axis in ("log", "linear") if log else ("linear",):
                browser.value(f"document.querySelector('input[value={axis}]').click()")
                assert seen(browser) >= SEEN, (name, axis)
            assert (
                browser.value(
                    "[...document.querySelectorAll('input[type=number]')]"
                    ".filter(it => it.scrollWidth > it.clientWidth).map(it => it.value)"
                )
                == []
            ), name
        browser.value(WITHOUT.format("line"))
        assert seen(browser) == 0
        assert browser.complaints == []


def set_and_wait(browser: Any, id_: str, value: str) -> None:
    browser.value(
        f"(() => {{ const it = document.getElementById('{id_}'); it.value = '{value}'; "
        "document.getElementById('plot').setAttribute('aria-busy', 'true'); "
        "it.dispatchEvent(new Event('change')); })()"
    )
    browser.wait_for(READY)


def seen(browser: Any) -> float:
    """Return the share of columns in the frame and inside the domain where the curve is seen."""
    places = browser.value(PLACES)
    x, y, width, height = places["plot"]
    whole = np.floor([x, y])  # between pixels all would be blurred
    clip = {"x": whole[0], "y": whole[1], "width": width + 1, "height": height + 1, "scale": 1}
    shot = browser.command("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
    pixels = image.imread(io.BytesIO(base64.b64decode(shot["data"])))[..., :3]
    shift = np.array([x, y, 0, 0]) - [*whole, 0, 0]
    left, top, wide, high = np.round(places["frame"] + shift).astype(int)
    inside = pixels[top + 1 : top + high - 1, left + 2 : left + wide - 2]
    found = (np.abs(inside - CURVE).max(axis=2) < 0.1).any(axis=0)
    column = np.arange(left + 2, left + wide - 2)
    shown = np.ones(len(column), bool)
    for start, _, span, _ in places["hidden"]:
        shown &= (column < start - BETWEEN) | (column > start + span + BETWEEN)
    shown = shown if shown.any() else np.ones(len(column), bool)
    return float(found[shown].mean())
