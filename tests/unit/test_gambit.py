"""GAMBIT's three functions give what the surrogate predicts, in fb, and never a silent zero."""

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes.commands.tools.bundle import bundle
from nlobayes.gambit import KEYS, VARIABLE, Backend
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Dataset, SurrogateContent
from tests.refusals import refused
from tests.unit.spectra_with_surrogates import STATED, spectrum_of, write

PAIR = (1000022, 1000022)
FAILED = "calibration failed: coverage_95"


@pytest.fixture(scope="module")
def files(
    exported: SurrogateContent, dataset: Dataset, tmp_path_factory: pytest.TempPathFactory
) -> list[Path]:
    """One process at two energies, and a second one."""
    folder = tmp_path_factory.mktemp("surrogates")
    states = [{}, {"sqrt_s_tev": "13.6"}, {"outgoing": "1000023 -1000024"}]
    return [
        write(folder / f"{n}.nc", exported, dataset, STATED | other)
        for n, other in enumerate(states)
    ]


@pytest.fixture
def backend(files: list[Path]) -> Backend:
    made = Backend()
    made.set_parameters({"surrogates": files, "energy": 13000})
    made.import_slha_string(spectrum_of(Surrogate.load(files[0])))
    return made


def test_the_answer_is_that_of_the_surrogate_in_fb(backend: Backend, files: list[Path]) -> None:
    surrogate, found = Surrogate.load(files[0]), backend.get_xsection(PAIR)
    expected = surrogate.predict([[*surrogate.typical.values()]])
    low, high = 1000 * expected.quantiles[:, 0]
    median = 1000 * expected.median[0]
    assert found["central"] == pytest.approx(median, rel=1e-12)
    assert found["tot_err_up"] == pytest.approx(high - median, rel=1e-9)
    assert found["tot_err_down"] == pytest.approx(median - low, rel=1e-9)
    assert found["regup_rel"] == pytest.approx(high / median - 1, rel=1e-9)
    assert found["regdown_rel"] == pytest.approx(low / median - 1, rel=1e-9)
    assert (found["trust_level"], found["reason"]) == (1, FAILED)
    assert found.keys() == {*KEYS, "trust_level", "reason"}
    assert all(type(found[key]) is float for key in KEYS)


def distrusted(found: dict[str, Any], reason: str) -> bool:
    nothing = all(math.isnan(found[key]) for key in KEYS)
    return nothing and found["trust_level"] == -1 and reason in found["reason"]


def test_energies_are_chosen_and_not_guessed(backend: Backend, files: list[Path]) -> None:
    backend.set_parameters({"energy": 13600.0})
    assert backend.get_xsection(PAIR)["trust_level"] == 1
    other = backend.get_xsection((1000021, 1000021))
    assert distrusted(other, "does not contain 1000021 1000021 at this energy")
    scaled = backend.get_xsection((1000023, -1000024))
    assert distrusted(scaled, "there is no block UMIX")
    backend.set_parameters({"energy": 8000})
    assert distrusted(backend.get_xsection(PAIR), "no process at 8000 GeV")
    free = Backend()
    free.set_parameters({"surrogates": [str(path) for path in files]})
    assert distrusted(free.get_xsection(PAIR), "no SLHA spectrum was imported")
    free.import_slha_string(spectrum_of(Surrogate.load(files[0])))
    assert distrusted(free.get_xsection(PAIR), "several energies (13000.0, 13600.0 GeV)")
    assert free.get_xsection((1000023, -1000024))["trust_level"] == 1


def test_trust_follows_the_domain(backend: Backend, files: list[Path]) -> None:
    surrogate = Surrogate.load(files[0])
    backend.import_slha_string(spectrum_of(surrogate, squarks=1000.0))
    found = backend.get_xsection(PAIR)
    assert found["trust_level"] == -1
    assert float(found["central"]) > 0
    assert found["reason"] == f"outside; msq is 1000, must be within 2970 to 3030 GeV; {FAILED}"
    backend.import_slha_string(spectrum_of(surrogate, squarks=None))
    assert "msq is not given" in str(backend.get_xsection(PAIR)["reason"])


def test_every_fixed_parameter_is_checked(
    exported: SurrogateContent, dataset: Dataset, tmp_path: Path
) -> None:
    held = "mass_1000021 = 2500 GeV (2400 to 2600); tan_beta = 10 1 (9.9 to 10.1)"
    path = write(tmp_path / "a.nc", exported, dataset, STATED | {"fixed": held})
    made = Backend()
    made.set_parameters({"surrogates": str(path), "energy": 13000})
    spectrum = spectrum_of(Surrogate.load(path)).replace("Block MASS", "Block MASS\n 1000021 {}")
    trust = {}
    for mass, tan_beta in ((2500, 10), (-2500, 10), (2700, 10), (2500, 30)):
        made.import_slha_string(f"{spectrum.format(mass)}Block MINPAR\n 3 {tan_beta}\n")
        trust[mass, tan_beta] = made.get_xsection(PAIR)["trust_level"]
    assert [*trust.values()] == [1, 1, -1, -1]
    made.import_slha_string(spectrum.format(2500))
    assert "tan_beta is not given" in str(made.get_xsection(PAIR)["reason"])


def test_chains_that_did_not_converge_are_in_the_reason(
    exported: SurrogateContent, dataset: Dataset, tmp_path: Path
) -> None:
    """The trust level depends on the point only."""
    checks = {"rhat_f": {"value": 1.2, "threshold": 1.05, "passed": False}}
    verdict = {"converged": False, "convergence": checks, "calibration": {}}
    path = tmp_path / "a.nc"
    write(path, exported._replace(facts={**exported.facts, "verdict": verdict}), dataset)
    made = Backend()
    made.set_parameters({"surrogates": path, "energy": 13000.001})
    made.import_slha_string(spectrum_of(Surrogate.load(path)))
    found = made.get_xsection(PAIR)
    assert (found["trust_level"], found["reason"]) == (1, "convergence failed: rhat_f")


def test_wrong_parameters_are_refused_and_change_nothing(
    backend: Backend, files: list[Path], surrogate_path: Path
) -> None:
    before = backend.get_xsection(PAIR)
    with refused("surrogate.gambit_parameter", name="enrgy"):
        backend.set_parameters({"energy": 13600, "enrgy": 1})
    for energy in (0, -1, "x", None, math.nan, math.inf):
        with refused("surrogate.gambit_energy"):
            backend.set_parameters({"energy": energy})
    for paths in (1, [1], None):
        with refused("surrogate.gambit_surrogates", received=paths):
            backend.set_parameters({"surrogates": paths, "energy": 13600})
    with refused("bundles.twice", path=files[0], first=files[0]):
        backend.set_parameters({"surrogates": [files[0], files[0]]})
    with refused("surrogate.no_process", where=surrogate_path):
        backend.set_parameters({"surrogates": surrogate_path})
    with refused("surrogate.not_text", kind="bytes"):
        backend.import_slha_string(b"")  # type: ignore[arg-type]
    assert backend.get_xsection(PAIR) == before


def test_a_bundle_stands_for_its_surrogates(
    backend: Backend, files: list[Path], tmp_path: Path
) -> None:
    bundle(files, tmp_path / "bundled")
    of_bundle = Backend()
    of_bundle.set_parameters({"surrogates": tmp_path / "bundled", "energy": 13000})
    of_bundle.import_slha_string(spectrum_of(Surrogate.load(files[0])))
    for pair in (PAIR, (1000023, -1000024)):
        assert of_bundle.get_xsection(pair) == backend.get_xsection(pair)
    with refused("bundles.twice", path=files[0]):
        of_bundle.set_parameters({"surrogates": [tmp_path / "bundled", files[0]]})
    with refused("bundles.unknown", name="bundle_of_nobody"):
        of_bundle.set_parameters({"surrogates": "bundle_of_nobody"})


def test_a_cross_section_of_several_processes_is_not_given_for_one(
    exported: SurrogateContent, dataset: Dataset, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.nc", exported, dataset, STATED | {"inclusive": "both charges"})
    made = Backend()
    made.set_parameters({"surrogates": path, "energy": 13000})
    made.import_slha_string(spectrum_of(Surrogate.load(path)))
    assert distrusted(made.get_xsection(PAIR), "only known in a sum: both charges")


def test_an_order_is_chosen(exported: SurrogateContent, dataset: Dataset, tmp_path: Path) -> None:
    """The resummed cross section is for lighter squarks than those of the spectrum."""
    light = {"name": "resummed", "order": "NLO+NLL", "fixed": "msq = 500 GeV (400 to 600)"}
    states = {"name": "nlo", "order": "NLO"}, light
    paths = [
        write(tmp_path / f"{state['name']}.nc", exported, dataset, STATED | state)
        for state in states
    ]
    made = Backend()
    made.set_parameters({"surrogates": paths, "energy": 13000})
    made.import_slha_string(spectrum_of(Surrogate.load(paths[0])))
    for order, trust in ((None, 1), (1, 1), ("NLO", 1), (2, -1), ("NLO+NLL", -1), (None, 1)):
        made.set_parameters({"order": order})
        assert made.get_xsection(PAIR)["trust_level"] == trust
    made.set_parameters({"order": "LO"})
    assert distrusted(made.get_xsection(PAIR), "no process of order 'LO'")
    with refused("bundles.no_order", received="N3LO"):
        made.set_parameters({"order": "N3LO"})


def test_files_of_the_environment_are_enough(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The C++ side calls it so and only sets the energy."""
    monkeypatch.setenv(VARIABLE, os.pathsep.join(map(str, files)))
    fresh = Backend()
    fresh.set_parameters({"energy": 13000})
    fresh.import_slha_string(spectrum_of(Surrogate.load(files[0])))
    assert fresh.get_xsection(PAIR)["trust_level"] == 1
    monkeypatch.delenv(VARIABLE)
    without = Backend()
    without.import_slha_string(spectrum_of(Surrogate.load(files[0])))
    assert distrusted(
        without.get_xsection(PAIR), "no surrogates: set `surrogates`, or NLOBAYES_SURROGATES"
    )


@pytest.mark.parametrize(("max_error", "trust"), [(0.99, 1), (0.5, -1), (None, 1)])
def test_a_cross_section_that_is_not_accepted_is_not_trusted(
    exported: SurrogateContent, dataset: Dataset, tmp_path: Path, max_error: Any, trust: int
) -> None:
    stated = np.linspace(0.0001, 2.0, 20_000, dtype=np.float32)
    content = exported._replace(held_out={"stated": stated, "error": 0 * stated})
    made, path = Backend(), write(tmp_path / "a.nc", content, dataset, STATED)
    surrogate = Surrogate.load(path)
    point = [[*surrogate.typical.values()]]
    assert max_error is None or surrogate.accepted(point, max_error).tolist() == [trust == 1]
    made.set_parameters({"surrogates": path, "energy": 13000, "max_error": max_error})
    made.import_slha_string(spectrum_of(surrogate))
    found = made.get_xsection(PAIR)
    assert found["trust_level"] == trust
    error = 100 * surrogate.stated_errors(point)[0]
    assert (f"states an error of {error:.3g} %" in str(found["reason"])) == (trust == -1)
    assert float(found["central"]) > 0


def test_without_errors_of_held_out_rows_no_cross_section_is_trusted(backend: Backend) -> None:
    backend.set_parameters({"max_error": 0.9})
    found = backend.get_xsection(PAIR)
    assert found["trust_level"] == -1
    assert "stores no errors of held-out rows" in str(found["reason"])
    backend.set_parameters({"max_error": None})
    assert backend.get_xsection(PAIR)["trust_level"] == 1
    for wrong in (0, 1.5, "1%"):
        with refused("surrogate.no_share", where="max_error", received=wrong):
            backend.set_parameters({"max_error": wrong})
