"""Predictions compared with formulas and with the evaluation, for both engines; files; errors."""

import subprocess
import sys
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from nlobayes.data.transforms import FeatureTransform, apply_features
from nlobayes.evaluation.predictive.noise_fit import noise_at_points
from nlobayes.evaluation.predictive.predictive_density import (
    predictive_moments,
    predictive_quantiles,
)
from nlobayes.surrogate import trained
from nlobayes.surrogate.surrogate import Engine, Surrogate
from nlobayes.types import SurrogateContent
from tests.refusals import refused
from tests.unit.surrogate.conftest import COLUMNS, DRAWS, NOISES, make_exported, points

X = points(300)
ENGINES: tuple[Engine, ...] = ("numpy", "jax")


def seen(exported: SurrogateContent, x: np.ndarray) -> np.ndarray:
    """Compute the features of points."""
    constants = exported.facts["transforms"]["features"]
    mean, scale = np.array(constants["mean"]), np.array(constants["scale"])
    return apply_features(FeatureTransform(constants["map"], mean, scale), x)


def by_hand(exported: SurrogateContent, x: np.ndarray) -> np.ndarray:
    """Evaluate every draw on the model scale (draw, point) in double precision."""
    hidden = np.broadcast_to(seen(exported, x), (DRAWS, len(x), 5))
    w = {name: values.astype(np.float64) for name, values in exported.variables.items()}
    for layer in (1, 2):
        hidden = np.tanh(hidden @ w[f"weights_{layer}"] + w[f"biases_{layer}"][:, None])
    output: np.ndarray = (hidden @ w["weights_3"] + w["biases_3"][:, None])[..., 0]
    return output * 1.2 - 2.0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("family", NOISES)
def test_predicts_what_the_evaluation_computes(family: str, engine: Engine) -> None:
    exported = make_exported(family)
    predicted = Surrogate(exported, engine).predict(X, quantiles=(0.025, 0.84), on="model")
    functions = by_hand(exported, X)
    noise = noise_at_points(NOISES[family], functions, seen(exported, X))
    moments = predictive_moments(functions, noise)
    np.testing.assert_allclose(predicted.mean, moments.mean, rtol=0, atol=1e-6)
    np.testing.assert_allclose(predicted.posterior_sd, moments.posterior_sd, rtol=1e-5)
    np.testing.assert_allclose(predicted.total_sd, moments.total_sd, rtol=1e-5)
    expected = predictive_quantiles(functions, noise, [0.025, 0.5, 0.84])
    found = [predicted.quantiles[0], predicted.median, predicted.quantiles[1]]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_target_is_ten_to_the_model_scale() -> None:
    exported = make_exported()
    surrogate, functions = Surrogate(exported), by_hand(exported, X)
    on_model, on_target = surrogate.predict(X, on="model"), surrogate.predict(X)
    np.testing.assert_allclose(on_target.median, 10**on_model.median, rtol=1e-12)
    np.testing.assert_allclose(on_target.quantiles, 10**on_model.quantiles, rtol=1e-12)
    np.testing.assert_allclose(on_target.posterior_sd, (10**functions).std(axis=0), rtol=1e-4)
    square = np.square(np.log(10) * NOISES["gaussian"].scale)
    mean = (10**functions).mean(axis=0) * np.exp(square / 2)
    second = (100**functions).mean(axis=0) * np.exp(2 * square)
    np.testing.assert_allclose(on_target.mean, mean, rtol=1e-5)
    np.testing.assert_allclose(on_target.total_sd, np.sqrt(second - mean**2), rtol=1e-4)


@pytest.mark.statistical
@pytest.mark.parametrize("family", NOISES)
@pytest.mark.parametrize("scale", ["log10", "identity"])
def test_mean_sd_and_quantiles_are_of_what_is_sampled(family: str, scale: str) -> None:
    """480 000 samples of three points: mean and sd to 1 %, quantiles to 0.25 % in probability."""
    surrogate = Surrogate(make_exported(family, scale))
    probabilities = (0.01, 0.16, 0.84, 0.99)
    predicted = surrogate.predict(X[:3], quantiles=probabilities)
    for point in range(3):
        sampled = surrogate.sample(np.repeat(X[point : point + 1], 8000, axis=0), seed=4).ravel()
        assert sampled.mean() == pytest.approx(predicted.mean[point], rel=0.01)
        assert sampled.std() == pytest.approx(predicted.total_sd[point], rel=0.01)
        below = [np.mean(sampled < each[point]) for each in predicted.quantiles]
        np.testing.assert_allclose(below, probabilities, atol=0.0025)


@pytest.mark.parametrize("family", NOISES)
def test_no_sd_exceeds_the_whole_that_it_is_part_of(family: str) -> None:
    """Noise about the draws: spread and noise add up. About the mean: the spread is no part."""
    found = Surrogate(make_exported(family)).predict(X)
    assert not any("epistemic" in name for name in found._fields)
    if NOISES[family].family in ("gaussian", "scaled_gaussian", "student_t"):
        assert (found.posterior_sd <= found.total_sd).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_do_not_know_each_other(engine: Engine) -> None:
    """Permuted, or in batches of any size, every point has its prediction."""
    surrogate = Surrogate(make_exported(), engine)
    whole = surrogate.predict(X)
    order = np.random.default_rng(5).permutation(len(X))
    for field, permuted in zip(whole, surrogate.predict(X[order]), strict=True):
        np.testing.assert_allclose(field[..., order], permuted, rtol=1e-5)
    for size in (1, 7, 128):
        parts = [surrogate.predict(X[start : start + size]) for start in range(0, 140, size)]
        means = np.concatenate([part.mean for part in parts])
        np.testing.assert_allclose(means, whole.mean[: len(means)], rtol=1e-5)


def test_signs_of_mass_and_row_do_not_matter() -> None:
    surrogate = Surrogate(make_exported())
    for signs in ([-1, 1, 1, 1, 1], [1, -1, -1, -1, -1]):
        np.testing.assert_array_equal(surrogate.predict(X * signs).mean, surrogate.predict(X).mean)


@pytest.mark.statistical
@pytest.mark.parametrize("family", NOISES)
def test_samples_have_the_moments_and_quantiles(family: str) -> None:
    """One point, repeated until its 60 draws are 60 000 samples: 68 % within 0.68 +- 0.01."""
    surrogate = Surrogate(make_exported(family))
    x = np.repeat(X[:1], 1000, axis=0)
    sampled = surrogate.sample(x, seed=2, on="model")
    assert sampled.shape == (DRAWS, 1000)
    (low,), (high,) = surrogate.predict(X[:1], on="model").quantiles
    assert np.mean((sampled > low) & (sampled < high)) == pytest.approx(0.68, abs=0.01)
    functions = surrogate.sample(X, noise=False, on="model")
    np.testing.assert_allclose(functions, by_hand(make_exported(family), X), atol=1e-5)
    np.testing.assert_allclose(surrogate.sample(X, noise=False), 10**functions, rtol=1e-12)
    assert np.array_equal(sampled, surrogate.sample(x, seed=2, on="model"))
    assert not np.array_equal(sampled, surrogate.sample(x, seed=3, on="model"))


def test_domain_is_that_of_the_train_rows() -> None:
    surrogate = Surrogate(make_exported())
    held, train = points(200, seed=4), points(200, seed=3)
    low, high = train.min(axis=0), train.max(axis=0)
    signs = [np.array([mass, *[row] * 4]) for mass in (1, -1) for row in (1, -1)]
    others = [held * sign for sign in signs]
    beyond = np.all([((low > one) | (one > high)).any(axis=1) for one in others], axis=0)
    beyond |= np.abs(held[:, 0]) < np.abs(train[:, 0]).min()
    assert surrogate.domain(held).tolist() == np.where(beyond, "outside", "inside").tolist()
    assert 0 < beyond.mean() < 0.1
    np.testing.assert_allclose(surrogate.distance(train), 0, atol=2e-3)
    assert set(surrogate.domain(train)) == {"inside"}
    far = np.array([[900.0, 3.0, 0.0, 0.0, 0.0], [31.0, *train[0, 1:]]])
    assert surrogate.domain(far).tolist() == ["outside", "outside"]


def test_file_predicts_as_before(surrogate_file: Path) -> None:
    loaded, original = Surrogate.load(surrogate_file), Surrogate(make_exported())
    for one, other in zip(loaded.predict(X), original.predict(X), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(loaded.domain(X), original.domain(X))
    assert loaded.inputs == COLUMNS
    assert loaded.units["sigma_pb"] == "pb"
    assert loaded.draws == DRAWS
    assert loaded.limits["m1"][0] < loaded.typical["m1"] < loaded.limits["m1"][1]
    assert loaded.facts["verb"] == "export"


def test_numpy_engine_needs_neither_scipy_nor_jax_nor_xarray(surrogate_file: Path) -> None:
    """They take longer to import than a thousand networks to evaluate."""
    program = (
        "import sys, numpy as np, nlobayes\n"
        f"s = nlobayes.Surrogate.load({str(surrogate_file)!r})\n"
        "s.predict([[200.0, 0.5, 0.5, 0.5, 0.5]]); s.domain([[200.0, 0.5, 0.5, 0.5, 0.5]])\n"
        "print({m.split('.')[0] for m in sys.modules} & {'scipy', 'jax', 'xarray', 'pymc', "
        "'pandas', 'pydantic', 'snakemake', 'arviz'})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr


@pytest.mark.parametrize(
    ("x", "code", "fields"),
    [
        (np.ones(5), "surrogate.other_shape", {"shape": (5,), "count": 5}),
        (np.ones((2, 4)), "surrogate.other_shape", {"shape": (2, 4), "inputs": COLUMNS}),
        ([["a"] * 5], "surrogate.not_numbers", {"inputs": COLUMNS}),
        ([[1.0, 2.0], [3.0]], "surrogate.not_numbers", {}),
    ],
)
def test_refuses_what_is_no_point(x: object, code: str, fields: dict[str, object]) -> None:
    with refused(code, **fields):
        Surrogate(make_exported()).predict(x)


def test_refuses_files_that_are_no_surrogate(surrogate_file: Path, tmp_path: Path) -> None:
    content = bytearray(surrogate_file.read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "flipped.nc").write_bytes(content)
    (tmp_path / "cut.nc").write_bytes(content[:1000])
    (tmp_path / "text.nc").write_text("hello")
    for name, code, fields in (
        ("flipped.nc", "artifacts.changed_bytes", {"where": tmp_path / "flipped.nc"}),
        ("cut.nc", "artifacts.no_seal", {}),
        ("text.nc", "artifacts.no_artifact", {"what": "surrogate"}),
        ("missing.nc", "artifacts.unreadable_artifact", {"path": tmp_path / "missing.nc"}),
    ):
        with refused(code, **fields):
            Surrogate.load(tmp_path / name)


def test_refuses_impossible_quantiles_and_engines() -> None:
    for probability in (0.0, 1.0, -1.0, float("nan")):
        with refused("surrogate.beyond_table", probability=probability):
            Surrogate(make_exported()).predict(X, quantiles=(probability,))
    with refused("surrogate.unknown_engine", engine="torch", known=("numpy", "jax")):
        Surrogate(make_exported(), cast(Engine, "torch"))


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of points whose features were computed."""
    counted: list[int] = []
    standardise = trained.standardise_features

    def count(transform: FeatureTransform, mapped: np.ndarray) -> np.ndarray:
        counted.append(len(mapped))
        return standardise(transform, mapped)

    monkeypatch.setattr(trained, "standardise_features", count)
    return counted


def test_the_features_of_the_same_points_are_computed_once(computed: list[int]) -> None:
    surrogate, x = Surrogate(make_exported()), points(3)
    for _ in range(2):
        surrogate.predict(x.copy())
        surrogate.reasons(x)
        surrogate.distance(x)
    surrogate.predict(x[:2])
    assert computed == [3, 2]


def test_points_or_answers_changed_in_place_are_not_remembered() -> None:
    surrogate, x, first = Surrogate(make_exported()), points(3), points(3)
    expected = surrogate.distance(x)
    surrogate.distance(x)[0], surrogate.usable(x)[0] = -1.0, False
    x[0] = 1e6
    assert surrogate.distance(x)[0] > expected[0]
    np.testing.assert_array_equal(surrogate.distance(first), expected)
    assert surrogate.usable(first).all()
