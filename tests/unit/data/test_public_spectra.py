"""Spectra and blocks XSECTION of public programs; their files are not part of the project."""

from pathlib import Path

import pytest

from nlobayes.data.prospino import make_layout
from nlobayes.data.slha import spectrum_of
from nlobayes.data.slha_blocks import is_slha, read_text
from nlobayes.data.spectra import SpectrumRequest, read_file
from nlobayes.physics.processes import make_process
from tests.refusals import refused

INPUTS = Path(__file__).parents[4] / "shared/data/inputs"
NEEDED = pytest.mark.skipif(not INPUTS.is_dir(), reason=f"{INPUTS} is not there")
REQUEST = SpectrumRequest(
    make_process(1000023, 1000024), 13000.0, "nlo_ms", False, make_layout(None, "nlo_ms"), order=0
)
FAILED = "failed"
ABSENT = "absent"


@NEEDED
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SPheno.spc", {"m1": 97.0853366, "m3": -366.356414, "msq": 562.102981, "mu": 359.041048}),
        ("param_card.dat", {"m1": 475.218, "m3": -1946.449, "msq": 2221.479, "mu": 1948.072}),
        ("slha2_flavour_ordered.spc", {"m3": -627.346605, "msq": 1039.41899}),
        (
            "sarah_spheno_positive_masses.spc",
            {"m1": 657.648553, "m3": -2066.05902, "n34": -0.707227531},
        ),
        ("light_42.8GeV.slha", {"m1": 42.7861916, "msq": 5000.00012}),
        ("pure_higgsino.slha", {"n11": 0.0, "n13": 0.707}),
    ],
)
def test_spectra_are_read_whatever_their_name(name: str, expected: dict[str, float]) -> None:
    path = INPUTS / "slha" / name
    assert is_slha(path)
    found = spectrum_of(read_text(path), name, ["m1", "m3", "mc1", "msq"], ["mu"])
    assert {key: found[key] for key in expected} == pytest.approx(expected, rel=1e-8)


@NEEDED
@pytest.mark.parametrize(
    ("name", "code", "field"),
    [
        ("nmssm_nmnmix.spc", "slha.other_model", {"found": "block NMNMIX"}),
        ("nan_higgs_mass.spc", "slha.line_of_block", {"line": 274, "words": "25 NAN"}),
    ],
)
def test_spectra_of_other_models_and_failed_ones_are_refused(
    name: str, code: str, field: dict[str, object]
) -> None:
    with refused(code, where=name, **field) as caught:
        spectrum_of(read_text(INPUTS / "slha" / name), name, ["m1"])
    assert "\n" not in str(caught.value)


@NEEDED
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, 0.04) for name in ("energy_int", "lower", "no_code", "no_version", "ok_lo_nll")),
        *((name, 0.04) for name in ("order_in_ew", "reversed", "scale_kappa")),
        *((name, FAILED) for name in ("minus_one", "nan")),
        *((name, ABSENT) for name in ("ppbar", "three_body")),
        *((name, "slha.xsection_head") for name in ("fortran", "pids_wrong_count")),
        *((name, "slha.xsection_twice") for name in ("kappa0_and_1", "pdf_variants", "same_twice")),
        ("two_same", "slha.xsection_twice"),
        ("energy_tev", "slha.xsection_energies"),
        ("one_line", "slha.xsection_order"),
    ],
)
def test_forms_of_xsection_are_read_or_refused(name: str, expected: float | str) -> None:
    found = read_file(INPUTS / "xsection_forms" / name / "p.slha", REQUEST)
    if isinstance(expected, float):
        assert found.values is not None
        assert found.values[-1] == expected
    elif expected in {FAILED, ABSENT}:
        assert (found.values, found.refusal) == (None, None)
        assert bool(found.failed) == (expected == FAILED)
    else:
        assert found.refusal is not None
        assert found.refusal.code == expected
