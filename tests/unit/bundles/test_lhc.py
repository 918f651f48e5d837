"""The bundle `lhc` in the package: what its page shows, and the numbers of the published grids."""

import contextlib
import csv
import gzip
import io
import math
import re
from pathlib import Path

import numpy as np
import pytest

from nlobayes import Bundle
from nlobayes.surrogate.theory import SIDES
from tests.five_lines import PRINTED, PYTHON, README, SLHA
from tests.prospino_points import SHARED
from tests.refusals import refused

GRIDS = SHARED / "data/grids"
MOST_BYTES = 10 * 2**20
GRID_POINTS = {
    "13000_wino_1000023_1000024_NNLL": ("unc_scale_up_pb", "unc_pdf_up_pb"),
    "13600_hino_nondeg_1000022_1000023_NNLL": ("unc_scale_up_pb", "unc_pdf_up_pb"),
    "13600_sleptons_1000011_-1000011_NNLL": ("unc_scale_up_pb", "unc_pdf_up_pb"),
    "pp13_gluino_NNLO_NNLL": ("unc_pb",),
    "pp13_slep_L_NLO_NLL_PDF4LHC": ("unc_up_pb",),
}
"""Five grids, and columns of their errors up."""


@pytest.fixture(scope="module")
def lhc() -> Bundle:
    return Bundle.load("lhc")


@pytest.fixture
def beside_the_spectrum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.slha").write_text(SLHA)
    monkeypatch.chdir(tmp_path)


def _printed(program: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "example", "exec"), {})
    return printed.getvalue()


@pytest.mark.usefixtures("beside_the_spectrum")
def test_the_five_lines_print_what_the_page_says() -> None:
    assert _printed(PYTHON) == PRINTED


@pytest.mark.usefixtures("beside_the_spectrum")
def test_the_lines_of_the_readme_print_each_process_also_those_without_a_prediction() -> None:
    lines = _printed(README).splitlines()
    without = [line for line in lines if " nan pb +nan% the spectrum does not give " in line]
    with_errors = [line for line in lines if re.search(r" \+\d+\.\d%", line)]
    assert len(without) == 3
    assert len(with_errors) == len(PRINTED.splitlines()) - 1
    assert len(lines) == len(without) + len(with_errors)


def test_the_bundle_has_all_grids_in_ten_megabytes(lhc: Bundle) -> None:
    assert len(lhc.entries) == 90
    assert lhc.energies == (13000.0, 13600.0)
    assert all(entry.converged for entry in lhc.entries)
    folder = next(iter(lhc.surrogates.paths.values())).parent
    assert sum(path.stat().st_size for path in folder.iterdir()) < MOST_BYTES


def test_every_entry_cites_its_source(lhc: Bundle) -> None:
    for name, surrogate in lhc.surrogates.items():
        assert "arXiv:" in surrogate.origin["source"], name


@pytest.mark.parametrize("grid", GRID_POINTS)
def test_grid_points_have_the_published_numbers(lhc: Bundle, grid: str) -> None:
    """Six of each of five grids: the central value and its errors, within the stated error."""
    path = GRIDS / f"{grid}.csv.gz"
    if not path.is_file():
        pytest.skip("the published grids are not on this machine (NLOBAYES_SHARED)")
    with gzip.open(path, "rt") as file:
        rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
    surrogate = lhc.surrogates[grid]
    chosen = np.random.default_rng(1).choice(len(rows), 6, replace=False)
    for row in (rows[number] for number in chosen):
        point = [[_inputs(grid, row)[name] for name in surrogate.inputs]]
        quantiles = surrogate.predict(point, quantiles=(0.0015, 0.9985)).quantiles[:, 0]
        assert quantiles[0] <= row["xsec_pb"] <= quantiles[1], row
        errors = surrogate.errors(point)
        stated = float(np.sqrt(sum((row[c] / row["xsec_pb"]) ** 2 for c in GRID_POINTS[grid])))
        found = float(errors["total_up"][0])
        assert found == pytest.approx(stated, rel=0.03), row


def _inputs(grid: str, row: dict[str, float]) -> dict[str, float]:
    first, second = row["parameter_1"], row.get("parameter_2", np.nan)
    if "nondeg" in grid:  # the chargino lies in the middle
        return {"mass_1000022": first, "mass_1000023": 2 * second - first}
    return dict.fromkeys(("mass_1000023_1000024", "mass_1000011", "mass_1000021"), first)


def test_a_sum_has_the_errors_of_the_sum(lhc: Bundle) -> None:
    """Theory errors add linearly, those of the surrogates as independent."""
    pairs = [(1000011, -1000011), (1000022, 1000023), (1000024, -1000024)]
    found, total = (call(SLHA, pairs, energy=13600.0) for call in (lhc.predict, lhc.total))
    parts = [one for one in found.values() if one.domain != "outside"]
    assert total.median == pytest.approx(sum(one.median for one in parts), rel=1e-3)
    for side in SIDES:
        name = f"pdf_{side}"
        linear = sum(one.median * one.errors[name] for one in parts) / total.median
        assert total.errors[name] == pytest.approx(linear, rel=1e-6)


def test_a_mixed_neutralino_is_flagged_and_computed_by_the_engine(lhc: Bundle) -> None:
    """The reason says how far the nearest pure state is."""
    mixed = SLHA.replace("2  2  -3.00000000e-02", "2  2   6.00000000e-01").replace(
        "2  4   7.07000000e-01", "2  4   3.76000000e-01"
    )
    pair = (1000023, 1000024)
    for one in lhc.candidates(mixed, pair, energy=13000.0):
        assert one.domain == "outside"
        assert "block MASS lacks" in one.reason or re.search(
            r"(wino|higgsino)_10000\d\d is 0\.\d+, must be within 0.98 to", one.reason
        )
    found = lhc.predict(mixed, [pair], energy=13000.0, engine=True)[pair]
    assert (found.entry, found.domain) == ("embedded engine", "inside")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"energy": 8000.0}, "bundles.no_energy"),
        ({"energy": 13000.0, "order": "NNNLO"}, "bundles.no_order"),
        ({"energy": 13600.0, "processes": [(1000021, 1000021)]}, "bundles.lacks"),
    ],
)
def test_what_the_bundle_lacks_is_refused(
    lhc: Bundle, arguments: dict[str, object], code: str
) -> None:
    with refused(code):
        lhc.predict(SLHA, **arguments)


def test_a_squark_mass_outside_the_grid_is_flagged(lhc: Bundle) -> None:
    """Gluinos of 2500 GeV beside squarks of 20 TeV: neither in the plane nor decoupled."""
    squarks = [side + flavour for side in (1000000, 2000000) for flavour in range(1, 5)]
    masses = {1000021: 2500.0, **dict.fromkeys(squarks, 20000.0)}
    text = "BLOCK MASS\n" + "".join(f" {number} {mass}\n" for number, mass in masses.items())
    pair = (1000021, 1000021)
    found = lhc.predict(text, [pair], energy=13000.0)[pair]
    assert found.domain == "outside"
    assert "msq" in found.reason


def test_a_grid_of_one_energy_is_taken_to_the_other(lhc: Bundle) -> None:
    """The ratio is that of two published grids of left-handed sleptons to 0.15 %."""
    pair, at = (1000011, -1000011), {"energy": 13600.0, "order": "NLO+NLL"}
    scaled = lhc.predict(SLHA, [pair], **at)[pair]
    own = lhc.predict(SLHA, [pair], energy=13000.0, order="NLO+NLL")[pair]
    assert scaled.entry == own.entry
    assert "from 13 to 13.6 TeV by the NLO of the embedded engine" in scaled.reason
    resummed = [lhc.predict(SLHA, [pair], energy=e)[pair].median for e in (13000.0, 13600.0)]
    assert scaled.median / own.median == pytest.approx(resummed[1] / resummed[0], rel=1.5e-3)
    assert scaled.errors == own.errors


def test_a_grid_of_neutralinos_is_taken_to_the_other_energy(lhc: Bundle) -> None:
    """The ratio, for which the engine reads mixings of a file, is that of published grids."""
    pair = (1000022, 1000023)
    scaled = lhc.predict(SLHA, [pair], energy=13600.0, order="NLO+NLL")[pair]
    own = lhc.predict(SLHA, [pair], energy=13000.0, order="NLO+NLL")[pair]
    assert "from 13 to 13.6 TeV by the NLO of the embedded engine" in scaled.reason
    resummed = [lhc.predict(SLHA, [pair], energy=e)[pair].median for e in (13000.0, 13600.0)]
    assert scaled.median / own.median == pytest.approx(resummed[1] / resummed[0], rel=3e-3)


def test_a_pair_of_unknown_states_is_outside(lhc: Bundle) -> None:
    """A chargino of no stated mixing may be a wino or a higgsino with a quarter of the pairs."""
    pair, text = (1000024, -1000024), re.sub(r"(?m)^BLOCK [NUV]MIX.*\n( .*\n)*", "", SLHA)
    found = lhc.predict(text, energy=13000.0)
    assert found[pair].domain == "outside"
    assert math.isnan(found[pair].median)
    assert "several states" in found[pair].reason
    assert found[1000011, -1000011] == lhc.predict(SLHA, energy=13000.0)[1000011, -1000011]
    added = lhc.total(text, energy=13000.0)
    assert added.domain == "outside"
    assert "1000024 -1000024" in added.reason.partition("without ")[2]


@pytest.mark.parametrize("engine", [False, True])
def test_massless_particles_are_outside_and_leave_others_alone(lhc: Bundle, engine: bool) -> None:
    text = re.sub(r"(1000022|1000024)   \S+", r"\1   0.0", SLHA)
    found = lhc.predict(text, energy=13000.0, engine=engine)
    assert found[1000024, -1000024].domain == "outside"
    sleptons = (1000011, -1000011)
    assert found[sleptons] == lhc.predict(SLHA, [sleptons], energy=13000.0)[sleptons]
