"""Tables of users, as public reports have them: `fit` learns each from its inputs, or refuses it.

The front part of the command runs as a whole, up to the first job.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nlobayes.commands.tools.fit import fit
from nlobayes.study.study import shipped_presets
from tests.refusals import refused

DATA = Path(__file__).parents[4] / "shared/data"
TABLES = DATA / "inputs"
pytestmark = pytest.mark.skipif(not TABLES.is_dir(), reason="tables that must not be copied here")
ALL = "log10 sigma from mass, squark, tanb"
PAIR = "sigma [pb] from m1, n11, n12, n13, n14"
LEFT_OUT, LIKE, ERRORS = "left out: ", "results like the target", "errors of the target"
PRESETS = cache(shipped_presets)

Front = Callable[..., list[str]]


class Begun(Exception):
    """The first job would begin."""


@pytest.fixture
def front(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Front:
    """Run the command up to the first job, in an empty folder; return the lines that it prints."""

    def stop(*arguments: object, **options: object) -> None:
        raise Begun

    monkeypatch.setattr("nlobayes.commands.recipes.fit_best", stop)
    monkeypatch.setattr("nlobayes.fitting.studies.shipped_presets", PRESETS)
    monkeypatch.chdir(tmp_path)

    def run(path: Path, target: str, **options: Any) -> list[str]:
        with pytest.raises(Begun):
            fit(path, target, **options)
        return capsys.readouterr().err.splitlines()

    return run


@pytest.mark.parametrize(
    ("name", "target", "lines"),
    [
        *(
            (name, "sigma", [ALL])
            for name in (
                *("plain.csv", "blank_lines.csv", "sci_upper.csv", "spaces_header.csv"),
                *(
                    "named.csv.gz",
                    "recs.json",
                    "offset_x.csv",
                    "rows20.csv",
                    "rows8.csv",
                    "pa_decimal.parquet",
                ),
                *("pa_half.parquet", "pa_uint.parquet", "pd_int.parquet", "pd_plain.parquet"),
                *("pd_nullable.parquet", "decimal_comma.csv", "excel_sep.csv", "plain.txt"),
                *("quoted_spaces.csv", "savetxt.csv", "spaces.dat", "spaces_in.csv", "tab_in.csv"),
                *("tsv.tsv", "thousands.csv", "trailing_comma.csv"),
            )
        ),
        ("case_header.csv", "sigma", ["log10 sigma from mass, squark, Mass"]),
        ("category.csv", "sigma", [ALL, f"{LEFT_OUT}model (text)"]),
        ("pd_cat.parquet", "sigma", [ALL, f"{LEFT_OUT}model (text)"]),
        ("pd_date.parquet", "sigma", [ALL, f"{LEFT_OUT}day (text)"]),
        ("dup_feature.csv", "sigma", ["log10 sigma from mass, mass2"]),
        ("dup_rows.csv", "sigma", [ALL, "an earlier row repeated in 80 of 120 rows"]),
        ("epoch.csv", "sigma", [ALL, f"{LEFT_OUT}time (times)"]),
        ("leak.csv", "sigma", [ALL, f"{LEFT_OUT}log10_sigma (repeats the target)"]),
        ("names_colon.csv", "sigma", ["log10 sigma from a, b, c"]),
        ("offset_y.csv", "sigma", ["sigma from mass, squark, tanb"]),
        ("one_feature.csv", "sigma", ["log10 sigma from mass"]),
        ("two_values_y.csv", "sigma", ["sigma from mass, squark, tanb"]),
        *(
            (f"{name}.csv", "sigma", [ALL, " (row numbers)"])
            for name in ("pandas_index", "pandas_index_named", "index_sorted")
        ),
        ("bool.csv", "sigma", ["log10 sigma from pass, mass, squark, tanb"]),
        ("pd_bool.parquet", "sigma", ["log10 sigma from mass, squark, tanb, m"]),
        ("pd_numnames.parquet", "sigma", ["log10 sigma from 0, 1, 2"]),
        ("newline_header.csv", "sigma", ["log10 sigma from mass (GeV), b"]),
        ("names_newline.csv", "sigma", ["log10 sigma from mass (GeV), b, c"]),
        ("names_target_percent.csv", "σ %", ["from a, b, c"]),
        ("names_target_slash.csv", "sigma/pb", ["from a, b, c"]),
        ("names_target_unicode.csv", "σ (fb)", ["log10 σ (fb) [fb] from m_χ̃, b, c"]),
        ("unicode_names.csv", "σ (fb)", ["log10 σ (fb) [fb] from m_χ̃₁⁰, m_q̃, tan β"]),
        ("weird_names.csv", "sigma", ["log10 sigma from m/GeV, m [GeV], squark, tan(b)"]),
        ("units_row2.csv", "sigma", ["log10 sigma [fb] from mass, squark, tanb"]),
        ("heavy_m.csv", "sigma", [f"log10 {PAIR}", "24 of 60 rows have none"]),
        ("pd_filtered.parquet", "sigma", [ALL, f"{LEFT_OUT}__index_level_0__ (row numbers)"]),
        ("pd_named_index.parquet", "sigma", ["log10 sigma from squark, tanb, mass"]),
        *((f"rare{n}.csv", "sigma", ["log10 sigma from a, b, flag"]) for n in (0, 1, 2, 4)),
        ("rare3.csv", "sigma", ["from a, b, flag", "'flag' is 0 in every train row"]),
        ("tev_m.csv", "sigma", [PAIR]),
        ("tev_as_gev.csv", "sigma", [PAIR]),
        ("light_m.csv", "sigma", [PAIR]),
        ("mixed_m.csv", "sigma", [f"log10 {PAIR}"]),
        ("pure_higgsino.csv", "sigma", ["from m1", f"{LEFT_OUT}n11, n12, n13, n14 (one value)"]),
        (
            "hxswg_ggH_13TeV.csv",
            "XS_pb",
            [
                "XS_pb from mH_GeV",
                f"{LEFT_OUT}Sca_Hi, Sca_Lo, Pdf_minus_TH, Gauss, Pdf_alpha_s, Total_pos, Total_neg "
                f"({ERRORS})",
            ],
        ),
        (
            "prospino_nn.csv",
            "NLO_ms",
            [
                "log10 NLO_ms relative to LO from i1, i2, scafac, m1, m2",
                f"{LEFT_OUT}relerr_LO, relerr_NLO ({ERRORS})",
                f"{LEFT_OUT}NLO, K ({LIKE})",
                f"{LEFT_OUT}LO_ms (a reference takes the place of the leading order)",
            ],
        ),
        *(
            (f"wg_13TeV{name}.csv", f"xsec [{unit}]", [f"from {mass} [GeV]", f"({ERRORS})"])
            for name, unit, mass in (
                ("x1x1wino_envelope", "fb", "m χ̃"),
                ("slepslep_pdf4lhc15_ll", "pb", "mass"),
            )
        ),
        ("wg_wino_13TeV.csv", "xsec [fb]", ["from m χ̃ [GeV]", f"uncertainty [fb] ({ERRORS})"]),
        *(
            (f"wg_{name}_136.csv", "xsec_pb", [f"from {inputs}", "unc_up_pb, unc_down_pb (errors"])
            for name, inputs in (("hino_nondeg", "m_N1, m_C1"), ("wino_sq", "msq, mchi"))
        ),
    ],
)
def test_a_table_is_learned_from_its_inputs_and_the_rest_is_said(
    front: Front, name: str, target: str, lines: list[str]
) -> None:
    printed = front(TABLES / name, target)
    assert printed[0].endswith(lines[0])
    for line in lines[1:]:
        assert any(line in one for one in printed), printed


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("sentinel_999.csv", "fitting.failed_rows", "8 of 120 rows are -999 (others 0.436 to 490)"),
        ("sentinel_m1.csv", "fitting.failed_rows", "8 of 120 rows are -1 (others 0.436 to 490)"),
        ("zeros.csv", "fitting.failed_rows", "8 of 120 rows are 0 (others 0.436 to 490)"),
        ("na_text.csv", "fitting.not_all_numbers", "row 1 holds 'N/A'"),
        ("nan_x.csv", "fitting.not_all_numbers", "row 1 holds 'nan'"),
        ("inf_y.csv", "fitting.not_all_numbers", "row 8 holds 'inf'"),
        ("pa_null.parquet", "fitting.not_all_numbers", "--skip-bad"),
        ("constant_y.csv", "data.constant_target", "3.5"),
        ("rows3.csv", "fitting.few_rows", "can be learned: 3; give 6"),
        ("names_row_domain.csv", "commands.name_of_predictions", "'row'"),
        ("long_header.csv", "commands.long_name", "'How many times per week"),
        ("noheader.csv", "data.header_cell", "--names"),
        ("plain.feather", "data.unknown_format", ".parquet"),
        ("dup_header.csv", "data.column_twice", "'mass'"),
        ("ragged.csv", "data.cells_of_row", "row 51"),
        ("pa_dup.parquet", "data.column_twice", "'mass'"),
        ("pa_list.parquet", "data.nested_column", "'mix"),
    ],
)
def test_a_table_that_cannot_be_learned_is_refused_and_nothing_is_written(
    front: Front, name: str, code: str, said: str
) -> None:
    with refused(code) as caught:
        front(TABLES / name, "sigma")
    assert said in str(caught.value)
    assert not [*Path().iterdir()]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("sentinel_999.csv", "left out 8 of 120 rows: sigma: 8 of 120 rows are -999"),
        ("zeros.csv", "left out 8 of 120 rows: sigma: 8 of 120 rows are 0"),
        ("na_text.csv", "left out 10 of 120 rows: squark: 10 of 120 cells are none, row 1 holds"),
        ("nan_x.csv", "left out 10 of 120 rows: squark: 10 of 120 cells"),
        ("inf_y.csv", "left out 1 of 120 rows: sigma: 1 of 120 cells are none, row 8 holds 'inf'"),
    ],
)
def test_bad_rows_are_left_out_on_request(front: Front, name: str, line: str) -> None:
    printed = front(TABLES / name, "sigma", skip_bad=True)
    assert printed[0].endswith(ALL)
    assert any(one.startswith(line) for one in printed), printed


def test_the_output_of_prospino_is_learned_from_the_masses(front: Front) -> None:
    """Pairs of Higgs bosons have no LO_ms and NLO_ms, and some NLO are 0."""
    with refused("fitting.not_all_numbers"):
        front(TABLES / "prospino.dat", "NLO_ms")
    printed = front(TABLES / "prospino.dat", "NLO_ms", skip_bad=True)
    assert printed[0].endswith("NLO_ms [pb] relative to LO_ms from i1, i2, scafac, m1, m2, angle")
    assert f"{LEFT_OUT}NLO, K ({LIKE})" in printed
    assert any(line.startswith("left out 24 of 256 rows: NLO_ms: 16 of 256") for line in printed)


@pytest.mark.parametrize(
    ("name", "target", "inputs"),
    [
        ("airfoil", "sound_pressure_level", 5),
        ("boston_housing", "medv", 13),
        ("concrete", "strength", 8),
        ("naval", "compressor_decay", 15),
        ("prospino_chi1chi1", "sigma_fb", 5),
        ("wine_red", "quality", 11),
    ],
)
def test_ordinary_tables_keep_all_inputs(front: Front, name: str, target: str, inputs: int) -> None:
    learned, *_ = front(DATA / f"{name}.csv.gz", target)
    assert learned.count(", ") == inputs - 1


@pytest.mark.slow
@pytest.mark.parametrize("grid", sorted((DATA / "grids").glob("*.csv.gz")), ids=lambda p: p.name)
def test_published_grids_are_learned_from_their_masses(front: Front, grid: Path) -> None:
    """Those with zeros without these rows."""
    learned, *_ = front(grid, "xsec_pb", skip_bad=True)
    _, _, inputs = learned.partition(" from ")
    assert inputs in ("parameter_1", "parameter_1, parameter_2")
