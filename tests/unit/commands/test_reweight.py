"""A reweighted posterior, compared with closed forms and with draws of the new posterior."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import softmax

from nlobayes.artifacts.contents import write_dataset, write_map
from nlobayes.artifacts.netcdf import open_artifact, read_attrs
from nlobayes.commands.pipeline.posterior_predictive import posterior_predictive
from nlobayes.commands.thinned_model import model_of
from nlobayes.commands.tools.reweight import reweight
from nlobayes.data.splits import TRAIN
from nlobayes.types import Dataset, MAPEstimate, NamedArrays
from tests.refusals import refused
from tests.unit.commands import linear
from tests.unit.commands.linear import CHAINS, CHECKS, DRAWS, MODEL, Gaussian, write_thinned

LAPLACE = "{kind: laplace, scale: 0.8}"
STUDENT_T = "{kind: student_t, sigma: 0.45, degrees_of_freedom: 6}"
PRINTED = re.compile(
    r"Pareto k (-?[\d.]+) \(limit ([\d.]+)\); 4000 draws are worth (\d+)\n"
    r"log evidence changes by ([+-][\d.]+) \+- ([\d.]+)\n"
)
ALLOWED = 5.0
"""Limit in Monte-Carlo standard errors; 60 points are compared, in six dimensions."""


@pytest.fixture(scope="module")
def old(dataset: Dataset) -> Gaussian:
    """The posterior that is drawn from."""
    return linear.posterior(dataset)


@pytest.fixture(scope="module")
def drawn(old: Gaussian) -> np.ndarray:
    """4000 independent draws of it."""
    return old.draw(CHAINS * DRAWS, seed=1)


@pytest.fixture(scope="module")
def thinned(dataset: Dataset, drawn: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """These draws in a file, as four chains."""
    path = tmp_path_factory.mktemp("linear") / "thinned.nc"
    return write_thinned(path, dataset, drawn.reshape(CHAINS, DRAWS, -1))


def parameters_of(path: Path) -> np.ndarray:
    """Read the draws of a thinned posterior (draw, parameter)."""
    group = open_artifact(path, "thinned").groups["posterior"]
    weights, bias = (group[name].values for name in ("weights_1", "biases_1"))
    return np.concatenate([weights[..., 0], bias], axis=2).reshape(-1, weights.shape[2] + 1)


def assert_moments(
    found: tuple[np.ndarray, np.ndarray], expected: tuple[np.ndarray, np.ndarray], ess: float
) -> None:
    """Check means and sds of nearly normal quantities, given the number of effective draws."""
    error = expected[1] / np.sqrt(ess)
    np.testing.assert_array_less(np.abs(found[0] - expected[0]), ALLOWED * error)
    np.testing.assert_array_less(np.abs(found[1] - expected[1]), ALLOWED * error / np.sqrt(2))


def assert_moved(
    thinned: Path,
    dataset_path: Path,
    dataset: Dataset,
    folder: Path,
    expected: tuple[np.ndarray, np.ndarray],
    capsys: pytest.CaptureFixture[str],
    **changes: Any,
) -> None:
    """Check that table and resampled draws have these moments of f."""
    out, table = folder / "out.nc", folder / "table.csv"
    reweight(thinned, dataset_path, out, table=table, **changes)
    printed = PRINTED.fullmatch(capsys.readouterr().err)
    assert printed
    assert float(printed[1]) < float(printed[2]) == 0.7
    ess = float(printed[3])
    assert 400 < ess < 4000
    found = pd.read_csv(table)
    assert_moments((found["mean"].to_numpy(), found["sd"].to_numpy()), expected, ess)
    f = linear.f_of(parameters_of(out), dataset)
    assert_moments((f.mean(axis=0), f.std(axis=0)), expected, ess)
    before = found["mean_before"].to_numpy(), found["sd_before"].to_numpy()
    moved = np.abs(before[0] - expected[0]) > ALLOWED * expected[1] / np.sqrt(ess)
    widened = np.abs(before[1] / expected[1] - 1) > ALLOWED / np.sqrt(2 * ess)
    assert moved.any() or widened.any()


@pytest.mark.parametrize(
    ("changes", "to"),
    [
        ({"prior": "{kind: fan_in, scale: 0.6}"}, {"scale": 0.6}),
        ({"prior": "{kind: gaussian, precision: 20, bias_precision: 1}"}, {"scale": 0.5}),
        ({"likelihood": "{kind: gaussian, sigma: 0.42}"}, {"sigma": 0.42}),
        (
            {
                "prior": "{kind: fan_in, scale: 0.8}",
                "likelihood": "{kind: gaussian, sigma: 0.44}",
            },
            {"scale": 0.8, "sigma": 0.44},
        ),
    ],
    ids=["scale", "family of the same law", "sigma", "both"],
)
def test_gaussian_models_are_reached_as_in_closed_form(
    thinned: Path,
    dataset_path: Path,
    dataset: Dataset,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, str],
    to: dict[str, float],
) -> None:
    expected = linear.posterior(dataset, **to).of_f(dataset)
    assert_moved(thinned, dataset_path, dataset, tmp_path, expected, capsys, **changes)


@pytest.mark.parametrize("scale", [0.7, 1.3])
def test_the_change_of_the_log_evidence_is_that_of_the_closed_form(
    thinned: Path,
    dataset_path: Path,
    dataset: Dataset,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    scale: float,
) -> None:
    """So a search over priors finds the one of the highest evidence."""
    train = dataset.split == TRAIN
    rows = linear.design(dataset)[train]

    def log_evidence(scale: float) -> float:
        prior = np.diag([scale**2 / 5] * 5 + [1.0])
        covariance = rows @ prior @ rows.T + linear.SIGMA**2 * np.eye(len(rows))
        return float(stats.multivariate_normal(cov=covariance).logpdf(dataset.target[train]))

    out = tmp_path / "out.nc"
    reweight(thinned, dataset_path, out, prior=f"{{kind: fan_in, scale: {scale}}}")
    printed = PRINTED.fullmatch(capsys.readouterr().err)
    assert printed
    found, error = float(printed[4]), float(printed[5])
    assert found == pytest.approx(log_evidence(scale) - log_evidence(1.0), abs=5 * error)
    assert 0 < error < 0.05 < abs(found)
    assert read_attrs(out)["log_evidence_ratio"] == pytest.approx(found, abs=6e-4)


def log_laplace_prior(drawn: np.ndarray) -> np.ndarray:
    """Weights of scale 0.8 / sqrt(5), of the bias 1, over the Gaussian prior."""
    wide = np.array([1 / 5**0.5] * 5 + [1.0])
    laplace = np.array([0.8 / 5**0.5] * 5 + [1.0])
    ratio = stats.laplace.logpdf(drawn, scale=laplace) - stats.norm.logpdf(drawn, scale=wide)
    return np.asarray(ratio.sum(axis=1))


def log_student_t(drawn: np.ndarray, dataset: Dataset) -> np.ndarray:
    """Student-t of scale 0.45 over the Gaussian likelihood, at the train rows."""
    train = dataset.split == TRAIN
    residual = dataset.target[train] - drawn @ linear.design(dataset)[train].T
    student = stats.t.logpdf(residual, 6, scale=0.45)
    return np.asarray((student - stats.norm.logpdf(residual, scale=linear.SIGMA)).sum(axis=1))


@pytest.mark.parametrize(
    ("changes", "log_ratio"),
    [
        ({"prior": LAPLACE}, lambda drawn, _: log_laplace_prior(drawn)),
        ({"likelihood": STUDENT_T}, log_student_t),
    ],
    ids=["Laplace prior", "Student-t likelihood"],
)
def test_other_families_are_reached_as_twenty_times_the_draws_say(
    thinned: Path,
    dataset_path: Path,
    dataset: Dataset,
    old: Gaussian,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, str],
    log_ratio: Callable[[np.ndarray, Dataset], np.ndarray],
) -> None:
    """Plain weights of other draws, from densities by SciPy."""
    many = old.draw(20 * CHAINS * DRAWS, seed=7)
    weights, f = softmax(log_ratio(many, dataset)), linear.f_of(many, dataset)
    mean = weights @ f
    expected = mean, np.sqrt(weights @ (f - mean) ** 2)
    assert_moved(thinned, dataset_path, dataset, tmp_path, expected, capsys, **changes)


def test_the_new_posterior_is_one_that_posterior_predictive_takes(
    thinned: Path, dataset_path: Path, dataset: Dataset, tmp_path: Path
) -> None:
    out = tmp_path / "out.nc"
    reweight(thinned, dataset_path, out, likelihood=STUDENT_T)
    model = model_of(out)
    assert model.likelihood.model_dump() == {
        **{"kind": "student_t", "sigma": 0.45, "scale": 1.0, "floor": 0.0, "precision": None},
        "degrees_of_freedom": 6.0,
    }
    assert model.model_dump(exclude={"likelihood"}) == model_of(thinned).model_dump(
        exclude={"likelihood"}
    )
    drawn = parameters_of(out)
    named = {"weights_1": drawn[0, :-1, np.newaxis], "biases_1": drawn[0, -1:]}
    dims = {"weights_1": ("feature", "output"), "biases_1": ("output",)}
    coords = {"feature": dataset.feature_names, "output": [0]}
    blank = np.zeros((1, 6))
    history = np.zeros(1), np.zeros(1), np.zeros(1), blank
    start = MAPEstimate(0, blank[0], NamedArrays(named, dims, coords), *history)
    write_map(tmp_path / "start.nc", start, {})
    spec = json.dumps({"model": model.model_dump()})
    posterior_predictive(spec, out, dataset_path, [tmp_path / "start.nc"], tmp_path / "p.nc")
    predictions = open_artifact(tmp_path / "p.nc", "predictions").groups["predictions"]
    f = linear.f_of(drawn, dataset)
    np.testing.assert_allclose(predictions["f"].values[0], f, rtol=1e-9)
    sd = dataset.transforms["target"]["sd"]
    assert predictions.attrs["family"] == "student_t"
    assert (predictions["scale"].dims, predictions["degrees_of_freedom"].dims) == ((), ())
    assert float(predictions["scale"]) == pytest.approx(0.45 * sd)
    assert float(predictions["degrees_of_freedom"]) == 6


def test_a_posterior_that_was_moved_can_be_moved_back(
    thinned: Path, dataset_path: Path, dataset: Dataset, tmp_path: Path
) -> None:
    there, back = tmp_path / "there.nc", tmp_path / "back.nc"
    reweight(thinned, dataset_path, there, prior="{kind: fan_in, scale: 0.8}")
    reweight(there, dataset_path, back, prior="{kind: fan_in, scale: 1.0}")
    assert model_of(back) == model_of(thinned)
    f = linear.f_of(parameters_of(back), dataset)
    assert_moments((f.mean(0), f.std(0)), linear.posterior(dataset).of_f(dataset), 1000)


def test_the_file_states_its_origin_and_the_checks_of_the_weights(
    thinned: Path, dataset_path: Path, tmp_path: Path
) -> None:
    reweight(thinned, dataset_path, tmp_path / "o.nc", likelihood=STUDENT_T, seed=3)
    made = read_attrs(tmp_path / "o.nc")
    assert made["verb"] == "reweight"
    assert made["spec"]["seed"] == 3
    assert made["spec"]["model"]["likelihood"]["kind"] == "gaussian"
    k, ess = (made["checks"].pop(name) for name in ("pareto_k", "weights_ess"))
    assert ess == {"value": made["weights_ess"], "threshold": 100.0, "passed": True}
    assert made["checks"] == CHECKS
    assert k["value"] < k["threshold"] == 0.7
    assert k["passed"] is True
    assert 400 < made["weights_ess"] < 4000
    assert made["exact"] is True
    assert len(made["inputs"]) == 2
    before, after = (open_artifact(path, "thinned").groups for path in (thinned, tmp_path / "o.nc"))
    for name in ("observed_data", "constant_data"):
        assert after[name].identical(before[name])
    assert dict(after["posterior"].sizes)["chain"] == 1
    assert dict(after["posterior"].sizes)["draw"] == CHAINS * DRAWS


def test_equal_seeds_give_equal_bytes_and_other_seeds_do_not(
    thinned: Path, dataset_path: Path, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{name}.nc" for name in "abc"]
    for path, seed in zip(paths, (1, 1, 2), strict=True):
        reweight(thinned, dataset_path, path, likelihood=STUDENT_T, seed=seed)
    first, again, other = paths
    assert first.read_bytes() == again.read_bytes()
    assert not np.array_equal(parameters_of(first), parameters_of(other))


def refusal_message(folder: Path, thinned: Path, dataset: Path, *words: str) -> str:
    """Check that the command line writes nothing, and return its error message of one line."""
    out, table = folder / "made/out.nc", folder / "made/table.csv"
    command = [sys.executable, "-c", "from nlobayes.cli import main; main()", "reweight"]
    done = subprocess.run(
        [*command, thinned, "--dataset", dataset, "--out", out, "--table", table, *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONWARNINGS": "error"},
    )
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("nlobayes: error: ")
    assert not (folder / "made").exists()
    return done.stderr


def test_weights_that_mislead_are_refused_in_one_line(
    thinned: Path, dataset_path: Path, tmp_path: Path
) -> None:
    message = refusal_message(
        tmp_path, thinned, dataset_path, "--likelihood", "{kind: gaussian, sigma: 0.1}"
    )
    assert "the target is too far from the draws to be reached by weights: Pareto k is " in message
    assert "must be below 0.70 for 4000 draws" in message
    assert "sample the new model directly" in message


def test_draws_worth_too_little_are_refused_unless_fewer_are_accepted(
    dataset: Dataset, dataset_path: Path, drawn: np.ndarray, tmp_path: Path
) -> None:
    """Two chains of 75 draws hardly move, so that their effective number is small."""
    slow = np.repeat(drawn[:6], 25, axis=0) + 1e-3 * np.repeat(drawn[:25], 6, axis=0)
    thinned = write_thinned(tmp_path / "slow.nc", dataset, slow.reshape(2, 75, -1))
    out, table = tmp_path / "o.nc", tmp_path / "t.csv"
    changes: dict[str, Any] = {"likelihood": "{kind: gaussian, sigma: 0.499}", "table": table}
    with refused("evaluation.worth_too_few", draws=150, least=100.0) as caught:
        reweight(thinned, dataset_path, out, **changes)
    assert not out.exists()
    assert not table.exists()
    ess = caught.value.fields["ess"]
    assert 2 < ess < 40
    with refused("evaluation.worth_too_few", least=ess + 0.1):
        reweight(thinned, dataset_path, out, least_ess=ess + 0.1, **changes)
    reweight(thinned, dataset_path, out, least_ess=ess - 0.1, **changes)
    check = read_attrs(out)["checks"]["weights_ess"]
    assert check == {"value": ess, "threshold": ess - 0.1, "passed": True}


@pytest.mark.parametrize(
    ("changes", "code", "fields"),
    [
        (
            {"prior": "{kind: fan_in, scale: [}"},
            "study.not_yaml",
            {"where": "YAML text of a preset"},
        ),
        (
            {"prior": "{kind: fan_in, scale: -1}"},
            "greater_than",
            {"places": ["prior.fan_in.scale"]},
        ),
        ({"prior": "{kind: fan}"}, "union_tag_invalid", {"places": ["prior"]}),
        ({"likelihood": "{sigma: 0.1}"}, "union_tag_not_found", {"places": ["likelihood"]}),
        (
            {"prior": "{kind: hierarchical}"},
            "builder.variables_not_drawn",
            {"missing": ["scale_weights_1"]},
        ),
        (
            {"likelihood": "{kind: gaussian, sigma: null}"},
            "builder.variables_not_drawn",
            {"missing": ["noise"]},
        ),
        (
            {"likelihood": "{kind: heteroscedastic}"},
            "builder.other_size",
            {"variable": "weights_1", "expected": 10, "received": 5},
        ),
    ],
)
def test_models_that_cannot_be_reached_are_refused(
    thinned: Path,
    dataset_path: Path,
    tmp_path: Path,
    changes: dict[str, Any],
    code: str,
    fields: dict[str, Any],
) -> None:
    with refused(code, **fields):
        reweight(thinned, dataset_path, tmp_path / "o.nc", table=tmp_path / "t.csv", **changes)
    assert not [*tmp_path.iterdir()]


def test_no_other_model_is_refused(thinned: Path, dataset_path: Path, tmp_path: Path) -> None:
    with refused("commands.no_other_model"):
        reweight(thinned, dataset_path, tmp_path / "o.nc")
    assert not [*tmp_path.iterdir()]


def test_a_likelihood_of_classes_is_refused_for_numbers(
    thinned: Path, dataset_path: Path, tmp_path: Path
) -> None:
    with refused("commands.other_targets", likelihood="bernoulli", old="gaussian"):
        reweight(thinned, dataset_path, tmp_path / "o.nc", likelihood="{kind: bernoulli}")
    assert not [*tmp_path.iterdir()]


def test_presets_are_known_by_their_names(
    thinned: Path, dataset_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with refused("study.no_presets", where="config/presets"):
        reweight(thinned, dataset_path, tmp_path / "o.nc", prior="wide")
    folder = tmp_path / "config/presets"
    folder.mkdir(parents=True)
    (folder / "priors.yaml").write_text("priors: {narrow: {kind: fan_in, scale: 0.8}}\n")
    with refused("study.unknown_preset", where="priors", name="wide", known=["narrow"]):
        reweight(thinned, dataset_path, tmp_path / "o.nc", prior="wide")
    assert not (tmp_path / "o.nc").exists()
    reweight(thinned, dataset_path, tmp_path / "o.nc", prior="narrow")
    assert model_of(tmp_path / "o.nc").prior.model_dump()["scale"] == 0.8


def test_another_dataset_is_refused(thinned: Path, dataset: Dataset, tmp_path: Path) -> None:
    other = tmp_path / "other.nc"
    write_dataset(other, dataset._replace(target=2 * dataset.target), {})
    with refused("commands.other_train_rows", where=thinned):
        reweight(thinned, other, tmp_path / "o.nc", prior=LAPLACE)
    assert not (tmp_path / "o.nc").exists()


def test_slopes_need_a_prior_in_the_new_model_too(
    dataset: Dataset, dataset_path: Path, drawn: np.ndarray, tmp_path: Path
) -> None:
    slopes = {"kind": "fan_in", "slopes": {"kind": "exponential"}}
    model = {**MODEL, "network": {"hidden": [2], "activation": "prelu"}, "prior": slopes}
    path = write_thinned(tmp_path / "t.nc", dataset, drawn[np.newaxis], model)
    with refused("commands.slopes_without_prior"):
        reweight(path, dataset_path, tmp_path / "o.nc", prior=LAPLACE)
