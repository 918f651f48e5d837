"""The page of a bundle in a real browser: all processes in one plot, and a spectrum pasted in."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nlobayes import Bundle
from nlobayes.commands.tools.bundle import bundle
from nlobayes.types import Dataset, SurrogateContent
from tests.spectra import spectrum_text
from tests.unit.service.conftest import served
from tests.unit.spectra_with_surrogates import STATED, write

STATES: dict[str, dict[str, str]] = {
    "chi1_chi1": {},
    "chi1_chi2": {"outgoing": "1000023 1000022", "process": "p p -> chi0_2 chi0_1"},
    "at_13_6": {"sqrt_s_tev": "13.6"},
}
READY = "document.querySelectorAll('#plot .process').length"


@pytest.fixture(scope="module")
def folder(
    make_surrogate: Callable[..., SurrogateContent],
    dataset: Dataset,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    below = tmp_path_factory.mktemp("pages")
    files = [
        write(below / f"{name}.nc", make_surrogate(dataset, draws=40), dataset, STATED | of)
        for name, of in STATES.items()
    ]
    bundle(files, below / "small")
    return below / "small"


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    """The real command, at a port that is free."""
    with served(folder) as url:
        yield url


@pytest.fixture
def page(browser: Any, url: str) -> Any:
    browser.open(url)
    browser.wait_for(READY)
    yield browser
    assert browser.complaints == []
    assert {request.split("/api")[0].rstrip("/") for request in browser.requested} <= {
        url.rstrip("/"),
        *(f"{url}{n}" for n in ("bundle.js", "curves.js", "plot.js", "style.css", "icon.svg")),
    }


def test_all_processes_of_an_energy_are_in_one_plot(page: Any) -> None:
    """The last energy is shown first; the other one has both processes, each with its name."""
    assert page.value(READY) == 1
    page.value(
        "(() => { const it = document.getElementById('energy'); it.value = 13000; "
        "it.dispatchEvent(new Event('change')); })()"
    )
    page.wait_for(f"{READY} === 2")
    names = page.value("[...document.querySelectorAll('#plot .name')].map(t => t.textContent)")
    assert sorted(name.split(", ")[0] for name in names) == ["χ⁰₁ χ⁰₁", "χ⁰₁ χ⁰₂"]
    titles = page.value("[...document.querySelectorAll('#plot .title')].map(t => t.textContent)")
    assert titles == ["mean mass of the pair in GeV", "cross section in pb"]


def test_a_pasted_spectrum_has_the_numbers_of_the_bundle(page: Any, folder: Path) -> None:
    """The engine takes the second process from 13 TeV; a sum follows."""
    text = spectrum_text(1)
    page.value(f"document.getElementById('slha').value = {json.dumps(text)}")
    page.value("document.getElementById('predict').click()")
    page.wait_for("document.querySelectorAll('#answer tr').length === 4")
    cells = page.value(
        "[...document.querySelectorAll('#answer tr')[1].cells].map(c => c.innerText)"
    )
    expected = Bundle.load(folder).predict(text, energy=13600.0)[1000022, 1000022]
    number, unit = cells[1].split("\u00a0")[0].split(" ")[0], cells[1][-2:]
    assert (cells[0], unit, cells[6]) == ("χ⁰₁ χ⁰₁", "pb", expected.entry)
    scale = (
        10.0 ** int(cells[1].split("10")[1].split(" ")[0].translate(POWERS))
        if "×" in cells[1]
        else 1
    )
    assert float(number) * scale == pytest.approx(expected.median, rel=0.01)


POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def test_a_text_that_is_no_spectrum_is_explained(page: Any) -> None:
    page.value("document.getElementById('slha').value = 'BLOCK NOTHING'")
    page.value("document.getElementById('predict').click()")
    page.wait_for("!document.getElementById('problem').hidden")
    assert "MASS" in page.value("document.getElementById('problem').innerText")
    assert [complaint for complaint in page.complaints if "422" not in complaint] == []
    page.complaints.clear()  # the browser itself reports the refusal


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("api/curves?energy=8000", None),
        ("api/curves?energy=-1", None),
        ("api/spectrum", {"slha": "BLOCK MASS", "energy": 8000.0}),
        ("api/spectrum", {"slha": "BLOCK MASS", "energy": 13000.0, "order": "NNNLO"}),
        ("api/spectrum", {"slha": 3, "energy": 13000.0}),
    ],
)
def test_what_cannot_be_answered_is_one_line(url: str, path: str, body: Any) -> None:
    data = None if body is None else json.dumps(body).encode()
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(urllib.request.Request(url + path, data), timeout=30)
    assert caught.value.code == 422
    assert "\n" not in json.load(caught.value)["detail"]
