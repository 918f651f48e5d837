"""The `ci` grid from nothing to its report: what comes out is complete, sound and readable."""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import netCDF4
import pandas as pd
import pytest

from nlobayes.figures import ALL

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

RUN = "embedded_small/n16/fan_in/tolerance_10/adam/hmc_ci/s1"
CHAINS, DRAWS, WARMUP, TRAIN, REFERENCE = 4, 500, 300, 500, 200
MODEL = "embedded_small/n16/fan_in/tolerance_10/adam/s1"
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
LANDSCAPE_TABLES = {"landscape", "landscape_maps", "path", "distances"}
DATA_TABLES = ("data_rows", "data_columns", "data_splits")
DATASET = "embedded_small"
FIGURES = {
    *("verdict", "trace", "convergence", "autocorrelation", "divergences", "thinning"),
    *("weight_planes", "marginals", "history", "loss"),
    "overview",
    *("predicted_vs_true", "residuals", "residual_histogram", "deciles", "scale_ratio"),
    *("pulls", "coverage", "levels", "pit", "conditional", "cases"),
}
LANDSCAPE_FIGURES = ("landscape", "distances")
DRAWN = {
    f"results/figures/data/{DATASET}/data.svg",
    *(f"results/figures/{RUN}/{figure}.svg" for figure in FIGURES),
    *(f"results/figures/landscape/{MODEL}/{figure}.svg" for figure in LANDSCAPE_FIGURES),
}
RULES = {
    *("simulate", "prepare", "pretrain", "warmup", "draw", "assemble", "diagnose"),
    *(
        "thin",
        "posterior_predictive",
        "evaluate",
        "export",
        "tabulate",
        "tabulate_chains",
        "landscape",
    ),
    *("plot", "plot_chains", "plot_landscape"),
    *("describe", "plot_data"),
}
MADE_OF_RUN = ("posterior", "thinned", "predictions", "surrogates")
RECORDED_OF_RUN = (
    *("diagnose", "thin", "evaluate", "export", "tabulate", "tabulate_chains", "plot"),
    "plot_chains",
)
# The keys that other people's tools rely on.


def metrics(project: Project, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        (project.root / f"results/metrics/{RUN}/{name}.json").read_text()
    )
    return content


def test_writes_every_result_and_no_other(ci: Project) -> None:
    chains = range(CHAINS)
    expected = {
        "results/tables/embedded_small.parquet",
        "results/data/embedded_small.nc",
        *(f"results/pretrain/{MODEL}/{chain}.nc" for chain in chains),
        f"results/chains/{RUN}/0/warmup_0.nc",
        f"results/chains/{RUN}/0/segment_0.nc",
        *(f"results/{kind}/{RUN}.nc" for kind in MADE_OF_RUN),
        *(f"results/metrics/{RUN}/{name}.json" for name in ("diagnostics", "evaluation")),
        *(f"results/plots/{RUN}/{table}.csv" for table in TABLES | OTHER_TABLES),
        *(f"results/plots/landscape/{MODEL}/{table}.csv" for table in LANDSCAPE_TABLES),
        *(f"results/plots/data/{DATASET}/{table}.csv" for table in DATA_TABLES),
        *(path.replace("svg", kind) for path in DRAWN for kind in ("svg", "png")),
        *(f"results/records/{rule}/{RUN}.json" for rule in RECORDED_OF_RUN),
        *(f"results/records/{rule}/{MODEL}.json" for rule in ("landscape", "plot_landscape")),
        *(
            f"results/records/{rule}/{DATASET}.json"
            for rule in ("simulate", "describe", "plot_data")
        ),
    }
    assert set(ci.digests()) == expected


def test_every_job_leaves_a_log_and_its_timing(ci: Project) -> None:
    for folder in ("logs", "timings"):
        files = [path for path in (ci.root / folder).glob("*/**/*") if path.is_file()]
        assert {path.relative_to(ci.root / folder).parts[0] for path in files} == RULES
        assert len(files) == CHAINS + len(RULES) - 1
    assert "frozen: step_size" in (ci.root / f"logs/warmup/{RUN}/0/0.log").read_text()


def test_finished_run_has_nothing_to_do(ci: Project) -> None:
    assert ci.planned("ci") == {}


def test_big_files_are_judged_by_content_not_by_time(ci: Project, tmp_path: Path) -> None:
    """As after `dvc pull`: every file older than its inputs, some too big for the default limit."""
    project = ci.copy_to(tmp_path / "project")
    posterior = project.root / f"results/posterior/{RUN}.nc"
    assert posterior.stat().st_size > 1e6
    for path in (project.root / "results").rglob("*"):
        os.utime(path, times=(1e9, 1e9))
    os.utime(posterior)
    assert project.planned("ci") == {}


def test_posterior_opens_in_arviz(ci: Project) -> None:
    import arviz

    posterior = arviz.from_netcdf(ci.root / f"results/posterior/{RUN}.nc")
    sizes = {
        ("posterior", "chain"): CHAINS,
        ("posterior", "draw"): DRAWS,
        ("sample_stats", "chain"): CHAINS,
        ("sample_stats", "draw"): DRAWS,
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
    assert posterior["posterior"]["draw"].values.tolist() == list(range(DRAWS))
    weights = posterior["posterior"].data_vars.values()
    assert sum(w.size for w in weights) == CHAINS * DRAWS * (5 * 16 + 16 + 16 + 1)


def test_artifacts_say_how_they_were_made_and_not_when(ci: Project) -> None:
    paths = sorted((ci.root / "results").rglob("*.nc"))
    assert len(paths) == 5 + CHAINS + 2
    for path in paths:
        with netCDF4.Dataset(path) as file:
            attrs = file.__dict__
        assert {"kind", "verb", "code_digest", "spec", "versions"} <= set(attrs)
        assert not {"created_at", "date", "host", "user", "seconds"} & set(attrs)
        assert str(ci.root) not in str(attrs)


def test_chains_agree_as_well_as_a_short_run_shows(ci: Project) -> None:
    """The grid is too short for the verdict.

    Limits have room, for another processor draws other chains. In 24 runs by two versions of JAX
    the slowest point had 26 to 218 effective draws, 98 in the median, and R-hat was at most 1.105.
    One of them had a divergence.
    """
    found = metrics(ci, "diagnostics")
    assert (found["chains"], found["draws_per_chain"], found["exact"]) == (CHAINS, DRAWS, True)
    assert found["rhat_f_median"] <= 1.01
    assert found["rhat_f"] <= 1.12
    assert found["rhat_log_density"] <= 1.03
    assert found["ess_f"] > 20
    assert found["divergences"] <= 1


def test_surrogate_is_accurate_and_calibrated(ci: Project) -> None:
    test = metrics(ci, "evaluation")["test"]
    assert test["r2_log10"] > 0.95
    assert 0.88 < test["coverage_95"] <= 1


def test_tables_behind_the_figures_have_the_columns_that_these_name(ci: Project) -> None:
    read = {path.stem: pd.read_csv(path) for path in (ci.root / "results/plots").rglob("*.csv")}
    assert [name for name in TABLES | LANDSCAPE_TABLES if len(read[name]) < 2] == []
    named = {name for figure in ALL for name in figure.tables} & {*read} - OF_ONE_INPUT
    assert {*TABLES, *LANDSCAPE_TABLES} - {"quantities"} <= named
    for figure in ALL:
        for name, columns in figure.tables.items():
            if name in named and columns != "*":
                assert {*columns.replace("?", "").split()} <= {*read[name]}, (figure.name, name)


def test_no_table_holds_a_number_that_is_not_one(ci: Project) -> None:
    """Empty cells: a fixed noise, no divergence, no reference, ten to the power of a Student-t.

    The scale of an input is none either.
    """
    allowed = {"noise", "reference", "deviation", "low", "crps_target", "nll_gaussian_target"}
    allowed |= {"scale"}
    for path in (ci.root / "results/plots").rglob("*.csv"):
        table = pd.read_csv(path, keep_default_na=False, na_values=[""])
        assert not re.search(r"\bnan\b", path.read_text()), path
        assert set(table.columns[table.isna().any()]) <= allowed, path


def test_report_is_one_file_with_every_figure_and_its_caption(ci: Project) -> None:
    html = (ci.root / "report.html").read_text()
    assert not re.search(r"<(script|link|iframe|img)[^>]* (src|href)=[\"']?(https?:)?//", html)
    assert str(ci.root) not in html
    assert (ci.root / "workflow/report/page.css").read_text() in html
    reported, _ = json.JSONDecoder().raw_decode(
        html.split('<script id="results">\n    var results = ')[1]
    )
    assert set(reported) == DRAWN
    for path, result in reported.items():
        kind, content = result["data_uri"].split(",", 1)
        assert re.fullmatch("data:image/svg.xml;.*;base64", kind)
        assert base64.b64decode(content) == (ci.root / path).read_bytes()
        assert ElementTree.fromstring(base64.b64decode(content)).tag.endswith("svg")
        of = f"dataset.*{DATASET}" if "/data/" in path else f"{RUN}|{MODEL}"
        assert re.search(of, result["caption"]), path
