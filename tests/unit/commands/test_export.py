"""From a posterior to the file: the surrogate predicts as scored, and states its quality."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from nlobayes import Surrogate
from nlobayes.artifacts.contents import named_group, read_dataset
from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups
from nlobayes.artifacts.seals import digest
from nlobayes.artifacts.surrogate_file import read_surrogate
from nlobayes.artifacts.thinned import flatten
from nlobayes.commands.pipeline.evaluate import evaluate
from nlobayes.commands.pipeline.export import _noise, _refitted, export
from nlobayes.commands.pipeline.posterior_predictive import posterior_predictive
from nlobayes.commands.pipeline.thin import thin
from nlobayes.draws_at_points import predict_draws
from nlobayes.evaluation.predictive.fitted import FittedNoise
from nlobayes.evaluation.predictive.noise_fit import fit_noise, noise_at_points
from nlobayes.evaluation.predictive.predictive_density import (
    predictive_moments,
    predictive_quantiles,
)
from nlobayes.study.jobs import ModelJob
from nlobayes.surrogate import held_out
from nlobayes.surrogate.stored_facts import Target
from nlobayes.surrogate.surrogate import Engine
from nlobayes.types import Dataset, NamedArrays
from tests.refusals import refused
from tests.rows import dataset_of

CHECKS = {"rhat_f": {"value": 1.2, "threshold": 1.05, "passed": False}}
MODEL = {
    "network": {"hidden": [2], "activation": "tanh"},
    "prior": {"kind": "fan_in"},
    "likelihood": {"kind": "gaussian", "sigma": 0.1},
    "precision": "float64",
}
FITTED = ("gaussian", "scaled_gaussian", "student_t", "fitted_student_t", "scaled_student_t")
FAMILIES = (*FITTED, "conformal")


class Scored(NamedTuple):
    """The inputs of an export."""

    thinned: Path
    dataset: Path
    diagnostics: Path
    predictions: Path
    evaluations: dict[str, Path]


@pytest.fixture(scope="module")
def scored(run: Any, tmp_path_factory: pytest.TempPathFactory) -> Scored:
    folder = tmp_path_factory.mktemp("scored")
    diagnostics = folder / "diagnostics.json"
    verdict = {"thinning_step": 4, "checks": CHECKS, "converged": False}
    diagnostics.write_text(json.dumps(verdict))
    thin(run.posterior, diagnostics, run.dataset, folder / "thinned.nc", folder / "t.csv")
    posterior_predictive(
        json.dumps({"model": MODEL}),
        *(folder / "thinned.nc", run.dataset, run.starts, folder / "predictions.nc"),
    )
    evaluations = {family: folder / f"{family}.json" for family in FAMILIES}
    for family in FITTED:
        spec = {"noise": family, "calibration": {}, "covariate": "m1", "seed": 1}
        evaluate(json.dumps(spec), folder / "predictions.nc", run.dataset, evaluations[family])
    _recalibrate(evaluations["scaled_student_t"], evaluations["conformal"])
    files = (folder / "thinned.nc", run.dataset, diagnostics, folder / "predictions.nc")
    return Scored(*files, evaluations)


def _recalibrate(scaled: Path, out: Path) -> None:
    """Make conformal noise by hand: the dataset has too few validation rows to fit one."""
    scores = json.loads(scaled.read_text())
    bins = {"column": 1, "edges": [-0.3, 0.4], "tails": [[0.1, 0.4], [0.05, 0.32], [0.01, 0.2]]}
    scores["predictive_noise"] |= {"family": "conformal", **bins}
    out.write_text(json.dumps(scores))


def exported(scored: Scored, out: Path, family: str = "gaussian", **kept: Any) -> Path:
    spec = {"network": MODEL["network"], "export": {"tolerance": None} | kept}
    inputs = (scored.thinned, scored.dataset, scored.diagnostics, scored.evaluations[family])
    export(json.dumps(spec), *inputs, out)
    return out


@pytest.mark.parametrize("engine", ["numpy", "jax"])
@pytest.mark.parametrize("family", FAMILIES)
def test_file_predicts_what_the_posterior_predicts(
    scored: Scored, dataset: Dataset, tmp_path: Path, family: str, engine: Engine
) -> None:
    """To 1e-6 dex, from the columns as they were read; quantiles to 1e-5 by the table."""
    surrogate = Surrogate.load(exported(scored, tmp_path / "s.nc", family), engine)
    found = surrogate.predict(dataset.inputs, on="model")
    draws = open_artifact(scored.predictions, "predictions").groups["predictions"]["f"].values
    functions = draws.reshape(-1, draws.shape[-1]).astype(np.float64)
    fitted = json.loads(scored.evaluations[family].read_text())["predictive_noise"]
    named = FittedNoise(**{name: fitted[name] for name in FittedNoise._fields})
    noise = noise_at_points(named, functions, dataset.features)
    moments = predictive_moments(functions, noise)
    expected = predictive_quantiles(functions, noise, [0.16, 0.5, 0.84])
    np.testing.assert_allclose(found.mean, moments.mean, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.total_sd, moments.total_sd, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.posterior_sd, moments.posterior_sd, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.median, expected[1], rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.quantiles, expected[::2], rtol=0, atol=1e-5)


def test_the_file_states_its_origin_and_its_quality(scored: Scored, tmp_path: Path) -> None:
    surrogate = Surrogate.load(exported(scored, tmp_path / "s.nc"))
    facts = surrogate.facts
    assert surrogate.failed_checks["convergence"] == ["rhat_f"]
    assert "[pb]: 24 draws, failed: rhat_f" in repr(surrogate)
    assert facts["verdict"]["converged"] is False
    assert facts["verdict"]["convergence"] == CHECKS
    calibration = json.loads(scored.evaluations["gaussian"].read_text())["calibration_checks"]
    assert facts["verdict"]["calibration"] == calibration
    assert set(facts["scores"]) == {"val", "test"}
    assert facts["exact"] is True
    assert digest(scored.thinned)[:16] in facts["bibtex"]
    assert len(facts["inputs"]) == 4
    assert read_attrs(tmp_path / "s.nc")["kind"] == "surrogate"
    assert facts["columns"] == ["m1", "n11", "n12", "n13", "n14"]


@pytest.mark.parametrize("family", ["gaussian", "scaled_student_t"])
def test_tolerance_keeps_the_fewest_draws_that_respect_it(
    scored: Scored, dataset: Dataset, tmp_path: Path, family: str
) -> None:
    """The file states how far its moments at the validation rows are from those of all draws."""
    rows = dataset.inputs[dataset.split == 1]
    whole = Surrogate.load(exported(scored, tmp_path / "all.nc", family))
    assert whole.facts["kept"] == {"draws": 24, "of": 24, "mean_change": 0.0, "sd_change": 0.0}
    expected = whole.predict(rows, on="model")
    for tolerance, draws in ((0.9, 10), (1e-6, 24)):
        file = exported(scored, tmp_path / "few.nc", family, tolerance=tolerance)
        few = Surrogate.load(file)
        found, stated = few.predict(rows, on="model"), few.facts["kept"]
        moved = np.abs(found.mean - expected.mean) / expected.total_sd
        widened = np.abs(found.total_sd / expected.total_sd - 1)
        assert (few.draws, stated["draws"], stated["of"]) == (draws, draws, 24)
        changes = [stated["mean_change"], stated["sd_change"]]
        np.testing.assert_allclose(changes, [moved.max(), widened.max()], atol=1e-5)
        assert max(changes) <= tolerance
    spec = json.dumps({"network": MODEL["network"], "export": {}})
    inputs = (scored.thinned, scored.dataset, scored.diagnostics, scored.evaluations[family])
    export(spec, *inputs, tmp_path / "default.nc")
    kept = Surrogate.load(tmp_path / "default.nc").facts["kept"]
    assert max(kept["mean_change"], kept["sd_change"]) <= 0.1


def test_a_surrogate_holds_no_code(
    scored: Scored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network with a function of the user has none, and no file is written."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("def mine(xp, x):\n    return xp.tanh(x)\n")
    activation = {"kind": "custom", "file": "mine.py", "function": "mine"}
    spec = json.dumps({"network": {"hidden": [2], "activation": activation}, "export": {}})
    inputs = (scored.thinned, scored.dataset, scored.diagnostics, scored.evaluations["gaussian"])
    with refused("commands.own_activation", where=scored.thinned, files=["mine.py"]):
        export(spec, *inputs, tmp_path / "s.nc")
    assert not (tmp_path / "s.nc").exists()


@pytest.mark.parametrize("engine", ["numpy", "jax"])
def test_slopes_come_along_and_a_second_output_stays_behind(
    scored: Scored, tmp_path: Path, engine: Engine
) -> None:
    """The surrogate of a heteroscedastic network with trained slopes returns its first output."""
    rng = np.random.default_rng(0)
    shapes = {"weights_1": (5, 3), "biases_1": (3,), "slopes_1": (3,)}
    shapes |= {"weights_2": (3, 2), "biases_2": (2,), "rate_slopes_1": ()}
    values = {name: rng.normal(size=(2, 4, *shape)) for name, shape in shapes.items()}
    dims = {name: tuple(f"{name}_{i}" for i in range(len(s))) for name, s in shapes.items()}
    stored = NamedArrays(values, dims, {})
    groups = open_artifact(scored.thinned, "thinned").groups
    groups["posterior"] = named_group(stored, ("chain", "draw"))
    write_groups(tmp_path / "thinned.nc", "thinned", groups, read_attrs(scored.thinned))
    network = {"hidden": [3], "activation": "square_prelu"}
    export(
        json.dumps({"network": network, "export": {"draws": 8, "tolerance": None}}),
        *(tmp_path / "thinned.nc", scored.dataset, scored.diagnostics),
        *(scored.evaluations["gaussian"], tmp_path / "surrogate.nc"),
    )
    likelihood = {"kind": "heteroscedastic"}
    model = ModelJob.model_validate(MODEL | {"network": network, "likelihood": likelihood})
    data = read_dataset(scored.dataset)
    expected = predict_draws(flatten(stored), model, data).function
    surrogate = Surrogate.load(tmp_path / "surrogate.nc", engine)
    found = surrogate.sample(data.inputs, noise=False, on="model")
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_file_says_what_it_is_of(scored: Scored, tmp_path: Path) -> None:
    """Statements of the table are kept, with characters that are no commands of BibTeX or TeX."""
    stated = {"process": "p p -> chi0_1 chi0_1", "sqrt_s_tev": "13.0", "order": "50 % {of} \\NLO"}
    dataset = tmp_path / "dataset.nc"
    attrs = read_attrs(scored.dataset) | {"table_metadata": stated}
    write_groups(dataset, "dataset", open_artifact(scored.dataset, "dataset").groups, attrs)
    of_it = scored._replace(dataset=dataset)
    surrogate = Surrogate.load(exported(of_it, tmp_path / "s.nc"))
    assert stated.items() <= surrogate.origin.items()
    assert surrogate.origin["parton_distributions"] == "unknown"
    assert "of p p -> chi0_1 chi0_1 at 13 TeV, 50 % {of}" in repr(surrogate)
    bibtex = surrogate.facts["bibtex"]
    assert r"sigma\_pb of p p to chi0\_1 chi0\_1 at 13 TeV, 50 \% (of) /NLO; unknown: " in bibtex
    assert bibtex.count("{") == bibtex.count("}")


@pytest.mark.parametrize("family", ["gaussian", "scaled_student_t"])
def test_the_file_has_the_errors_of_held_out_rows(
    scored: Scored, dataset: Dataset, tmp_path: Path, family: str
) -> None:
    """Those of validation and test rows inside the domain, to the rounding of float32."""
    file = exported(scored, tmp_path / "s.nc", family)
    surrogate, stored = Surrogate.load(file), read_surrogate(file).held_out
    rows = dataset.split >= 1
    points, observed = dataset.inputs[rows], dataset.observed[rows]
    known = surrogate.domain(points) == "inside"
    assert 0 < known.sum() < len(known)
    found = surrogate.predict(points[known])
    low, high = found.quantiles
    stated = np.maximum(high - found.median, found.median - low) / found.median
    np.testing.assert_allclose(stored["stated"], stated, rtol=1e-6)
    error = np.abs(found.median / observed[known] - 1)
    np.testing.assert_allclose(stored["error"], error, rtol=1e-4)
    assert {values.dtype.name for values in stored.values()} == {"float32"}
    assert len(surrogate.stated_errors(points)) == len(points)


@pytest.mark.parametrize(("held", "scale"), [(60, 1.0), (30, 0.39)])
def test_the_noise_of_all_rows_is_that_of_rows_which_no_draw_has_seen(
    held: int, scale: float
) -> None:
    """Their errors are ten times those of train rows; too few of them are taken with these."""
    rng = np.random.default_rng(3)
    split = np.concatenate([np.zeros(170, int), 1 + np.arange(held) % 2])
    x, error = rng.uniform(size=(len(split), 1)), rng.standard_normal(len(split))
    data = dataset_of(x, 50 + np.where(split == 0, 0.1, 1.0) * error, split=split)
    fitted = fit_noise(np.zeros((2, 170)), error[:170], family="gaussian")._asdict()
    target = Target(data, _noise(fitted), {"predictive_noise": {**fitted, "fitted_on": "val"}})
    (found,) = _refitted([target], np.full((2, len(split), 1), 50.0), data)
    assert found.noise.scale == pytest.approx(scale, rel=0.15)
    assert found.scores["predictive_noise"]["scale"] == found.noise.scale
    named = "val and test" if held == 60 else "train and val and test"
    assert found.scores["predictive_noise"]["fitted_on"] == named


def test_a_few_of_many_held_out_rows_are_stored(
    scored: Scored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = read_surrogate(exported(scored, tmp_path / "all.nc")).held_out["stated"]
    monkeypatch.setattr(held_out, "MOST", 5)
    few = read_surrogate(exported(scored, tmp_path / "few.nc")).held_out["stated"]
    assert 0 < len(few) <= 5 < len(every)
    nearest = np.abs(few[:, None] / every - 1).min(axis=1)
    assert nearest.max() < 1e-6  # products of five rows are rounded unlike those of all
