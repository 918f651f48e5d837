"""What a study asks for is planned, or refused in one line, before any job starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

GRIDS = ("ci", "check", "quickstart", "quickstart_raw", "sharp", "full", "thesis")
ACROSS_RUNS = ("agree", "compare", "plot_scan", "plot_differences", "plot_pulls_by_setting")


def presets(project: Project, kind: str) -> dict[str, Any]:
    """Read the presets of one kind."""
    text = (project.root / f"config/presets/{kind}.yaml").read_text()
    found: dict[str, Any] = yaml.safe_load(text)[kind]
    return found


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.by_day(2)
def test_dry_run_of_every_grid(pristine: Project, grid: str) -> None:
    names = presets(pristine, "grids")[grid]["method"]
    names = [names] if isinstance(names, str) else names
    samplers = [presets(pristine, "methods")[name] for name in names]
    chains = [sampler.get("chains", 4) for sampler in samplers]
    segments = [sampler.get("segments", 1) for sampler in samplers]
    warmups = [sampler.get("warmup", {}).get("segments", 1) for sampler in samplers]
    verdicts = sum(sampler["segments"] - 1 for sampler in samplers if sampler.get("until"))
    per_run = (
        "assemble",
        "diagnose",
        "thin",
        "posterior_predictive",
        "evaluate",
        "export",
        "tabulate",
        "tabulate_chains",
        "plot_with_scale",
        "plot_chains",
    )
    expected = {
        "simulate": 1,
        "prepare": 1,
        "pretrain": max(chains),  # samplers share their starts
        "describe": 1,
        "plot_data": 1,
        "landscape": 1,
        "plot_landscape": 1,
        "warmup": sum(n * k for n, k in zip(chains, warmups, strict=True)),
        "draw": sum(n * k for n, k in zip(chains, segments, strict=True)),
        **dict.fromkeys(per_run, len(samplers)),
        **({"check_convergence": verdicts} if verdicts else {}),
        **(dict.fromkeys(ACROSS_RUNS, 1) if len(samplers) > 1 else {}),
        grid: 1,
    }
    assert pristine.planned(grid) == expected


def test_dry_run_of_the_priors(pristine: Project) -> None:
    """Each is drawn from, none is sampled with data."""
    priors = len(presets(pristine, "grids")["priors"]["prior"])
    assert pristine.planned("priors") == {
        **{"simulate": 1, "prepare": 1, "priors": 1},
        **dict.fromkeys(("prior_predictive", "plot_prior_predictive"), priors),
    }


def test_default_study_builds_its_targets(pristine: Project) -> None:
    targets = yaml.safe_load((pristine.root / "config/config.yaml").read_text())["targets"]
    asked = pristine.planned(*targets)
    assert {rule: count for rule, count in asked.items() if rule not in targets} | {
        "all": 1
    } == pristine.planned()


def test_a_run_is_cut_into_chain_groups_and_segments(unbuilt: Project) -> None:
    """Five chains are three chain groups of at most two; a verdict stands between two segments."""
    sampler = {"chains": 5, "warmup": {"segments": 2}, "segments": 3, "until": {}}
    changes = {"methods": {"tiny": sampler}, "execution": {"chains_per_job": 2}}
    planned = unbuilt.planned(changes=changes)
    cut = {"pretrain": 5, "warmup": 3 * 2, "draw": 3 * 3, "check_convergence": 2, "assemble": 1}
    assert {rule: planned[rule] for rule in cut} == cut


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"targets": ["nope"]}, "targets: unknown name 'nope'; known: ['check', 'ci',"),
        ({"grids": {"tiny": {"network": "n5"}}}, "grids.tiny.network: unknown name 'n5'; known:"),
        ({"networks": {"n4": {"hiden": [4]}}}, "networks.n4: unknown key 'hiden'; known:"),
        ({"network": {"n4": {"hidden": [4]}}}, "unknown key 'network'; known:"),
        ({"methods": {"tiny": {"chains": 1}}}, "methods.tiny.chains: got 1, must be at least 2"),
        (
            {"methods": {"tiny": {"warmup": {"segments": 7}}}},
            "methods.tiny.warmup.windows: steps (60) must be a multiple of segments (7)",
        ),
        ({"execution": {"device": "tpu"}}, "execution.device"),
        ({"execution": {"chains_per_job": 0}}, "execution.chains_per_job"),
        ({"likelihoods": {"tolerance_10": {"sigma": -1}}}, "likelihoods.tolerance_10"),
        ({"networks": {"n/4": {"hidden": [4]}}}, "networks: name 'n/4' must match"),
    ],
)
@pytest.mark.by_day(4)
def test_refuses_in_one_line(unbuilt: Project, changes: dict[str, Any], said: str) -> None:
    refused = unbuilt.snakemake("--dry-run", changes=changes, status=2)
    notice = "Using workflow specific profile"
    (line,) = [line for line in refused.stderr.splitlines() if not line.startswith(notice)]
    assert line.startswith(f"nlobayes: error: configuration: {said}"), line
