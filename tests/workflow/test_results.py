"""A study from nothing to its report: what comes out is complete, sound and readable."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import netCDF4
import pandas as pd
import pytest

from nlobayes.figures import ALL

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
CHAINS, DRAWS, THIN, WARMUP, TRAIN, REFERENCE = 2, 60, 4, 60, 150, 20
MODEL = "tiny/n4/fan_in/tolerance_10/tiny/s1"
CHAIN_TABLES = (
    *("verdict", "trace", "convergence", "quantities", "autocorrelation", "weight_autocorrelation"),
    *("history", "weight_planes", "marginals", "divergences", "loss", "thinning"),
)
TABLES = {
    *CHAIN_TABLES,
    *("predictions", "coverage", "levels", "pit", "conditional", "cases", "calibration_checks"),
    "regressors",
}
OF_ONE_INPUT = {"curves", "maps", "predictive_quantiles", "density"}
"""Without rows where there are several inputs."""
OTHER_TABLES = {"labels", "deciles", *OF_ONE_INPUT}
DATA_TABLES = ("data_rows", "data_columns", "data_splits")
FIGURES = {
    *("verdict", "trace", "convergence", "autocorrelation", "divergences", "thinning"),
    *("weight_planes", "marginals", "history", "loss"),
    "overview",
    *("predicted_vs_true", "residuals", "residual_histogram", "deciles"),
    *("pulls", "coverage", "levels", "pit", "conditional", "cases"),
}
DRAWN = {
    "results/figures/data/tiny/data.svg",
    *(f"results/figures/{RUN}/{figure}.svg" for figure in FIGURES),
}
RULES = {
    *("simulate", "prepare", "pretrain", "warmup", "draw", "assemble", "diagnose"),
    *("thin", "posterior_predictive", "evaluate", "export", "tabulate", "tabulate_chains"),
    *("plot", "plot_chains", "describe", "plot_data"),
}
MADE_OF_RUN = ("posterior", "thinned", "predictions", "surrogates")
RECORDED_OF_RUN = (
    *("diagnose", "thin", "evaluate", "export", "tabulate", "tabulate_chains", "plot"),
    "plot_chains",
)


def test_writes_every_result_and_no_other(tiny: Project) -> None:
    chains = range(CHAINS)
    expected = {
        "results/tables/tiny.parquet",
        "results/data/tiny.nc",
        *(f"results/pretrain/{MODEL}/{chain}.nc" for chain in chains),
        *(
            f"results/chains/{RUN}/{chain}/{part}_0.nc"
            for chain in chains
            for part in ("warmup", "segment")
        ),
        *(f"results/{kind}/{RUN}.nc" for kind in MADE_OF_RUN),
        *(f"results/metrics/{RUN}/{name}.json" for name in ("diagnostics", "evaluation")),
        *(f"results/plots/{RUN}/{table}.csv" for table in TABLES | OTHER_TABLES),
        *(f"results/plots/data/tiny/{table}.csv" for table in DATA_TABLES),
        *(path.replace("svg", kind) for path in DRAWN for kind in ("svg", "png")),
        *(f"results/records/{rule}/{RUN}.json" for rule in RECORDED_OF_RUN),
        *(f"results/records/{rule}/tiny.json" for rule in ("simulate", "describe", "plot_data")),
    }
    assert set(tiny.digests()) == expected


def test_every_job_leaves_a_log_and_its_timing(tiny: Project) -> None:
    for folder in ("logs", "timings"):
        files = [path for path in (tiny.root / folder).glob("*/**/*") if path.is_file()]
        assert {path.relative_to(tiny.root / folder).parts[0] for path in files} == RULES
        assert len(files) == 3 * CHAINS + len(RULES) - 3
    assert "frozen: step_size" in (tiny.root / f"logs/warmup/{RUN}/0/0.log").read_text()


def test_posterior_opens_in_arviz(tiny: Project) -> None:
    import arviz

    posterior = arviz.from_netcdf(tiny.root / f"results/posterior/{RUN}.nc")
    sizes = {
        ("posterior", "chain"): CHAINS,
        ("posterior", "draw"): DRAWS // THIN,
        ("sample_stats", "chain"): CHAINS,
        ("sample_stats", "draw"): DRAWS // THIN,
        ("all_sample_stats", "draw"): DRAWS,
        ("warmup_sample_stats", "chain"): CHAINS,
        ("warmup_sample_stats", "draw"): WARMUP,
        ("predictions", "chain"): CHAINS,
        ("predictions", "draw"): DRAWS,
        ("predictions", "reference_point"): REFERENCE,
        ("predictions_constant_data", "reference_point"): REFERENCE,
        ("observed_data", "point"): TRAIN,
        ("constant_data", "point"): TRAIN,
        ("constant_data", "feature"): 5,
    }
    assert {place: posterior[place[0]].sizes[place[1]] for place in sizes} == sizes
    stats = {"lp", "diverging", "acceptance_rate", "n_steps"}
    assert stats <= set(posterior["sample_stats"].data_vars)
    assert {*stats, "energy"} <= set(posterior["all_sample_stats"].data_vars)
    assert posterior["posterior"]["draw"].values.tolist() == list(range(THIN - 1, DRAWS, THIN))
    weights = posterior["posterior"].data_vars.values()
    assert sum(w.size for w in weights) == CHAINS * DRAWS // THIN * (5 * 4 + 4 + 4 + 1)


def test_artifacts_say_how_they_were_made_and_not_when(tiny: Project) -> None:
    paths = sorted((tiny.root / "results").rglob("*.nc"))
    assert len(paths) == 5 + 3 * CHAINS
    for path in paths:
        with netCDF4.Dataset(path) as file:
            attrs = file.__dict__
        assert {"kind", "verb", "code_digest", "spec", "versions"} <= set(attrs)
        assert not {"created_at", "date", "host", "user", "seconds"} & set(attrs)
        assert str(tiny.root) not in str(attrs)


def test_tables_behind_the_figures_have_the_columns_that_these_name(tiny: Project) -> None:
    read = {path.stem: pd.read_csv(path) for path in (tiny.root / "results/plots").rglob("*.csv")}
    assert [name for name in TABLES if len(read[name]) < 2] == []
    named = {name for figure in ALL for name in figure.tables} & {*read} - OF_ONE_INPUT
    assert TABLES - {"quantities"} <= named
    for figure in ALL:
        for name, columns in figure.tables.items():
            if name in named and columns != "*":
                assert {*columns.replace("?", "").split()} <= {*read[name]}, (figure.name, name)


def test_no_table_holds_a_number_that_is_not_one(tiny: Project) -> None:
    """Empty cells: a fixed noise, no divergence, no reference, ten to the power of a Student-t.

    The scale of an input is none either, and none was varied.
    """
    allowed = {"noise", "reference", "deviation", "low", "crps_target", "nll_gaussian_target"}
    allowed |= {"scale", "error_over_scale"}
    for path in (tiny.root / "results/plots").rglob("*.csv"):
        table = pd.read_csv(path, keep_default_na=False, na_values=[""])
        assert not re.search(r"\bnan\b", path.read_text()), path
        assert set(table.columns[table.isna().any()]) <= allowed, path


def test_report_is_one_file_with_every_figure_and_its_caption(
    tiny: Project, tmp_path: Path
) -> None:
    project = tiny.copy_to(tmp_path / "project")
    project.snakemake("--report", "report.html")
    html = (project.root / "report.html").read_text()
    assert not re.search(r"<(script|link|iframe|img)[^>]* (src|href)=[\"']?(https?:)?//", html)
    assert str(project.root) not in html
    assert (project.root / "workflow/report/page.css").read_text() in html
    reported, _ = json.JSONDecoder().raw_decode(
        html.split('<script id="results">\n    var results = ')[1]
    )
    assert set(reported) == DRAWN
    for path, result in reported.items():
        kind, content = result["data_uri"].split(",", 1)
        assert re.fullmatch("data:image/svg.xml;.*;base64", kind)
        assert base64.b64decode(content) == (project.root / path).read_bytes()
        assert ElementTree.fromstring(base64.b64decode(content)).tag.endswith("svg")
        of = "dataset.*tiny" if "/data/" in path else f"{RUN}|{MODEL}"
        assert re.search(of, result["caption"]), path
