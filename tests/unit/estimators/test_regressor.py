"""The regressor predicts by the surrogate that it writes, and its study gives the same bytes."""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import yaml
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nlobayes import BayesianNetworkRegressor, Surrogate
from nlobayes.artifacts.contents import read_dataset
from nlobayes.data.simulators.simulate import Settings, scan_table
from nlobayes.estimators import base
from nlobayes.fitting.fits import fit
from nlobayes.fitting.studies import Choices, plan_of
from tests.unit.estimators.settings import CHAINS, MAPS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = 5 + X[:, 0] ** 2 + 0.1 * RNG.normal(size=60)
SD = np.full(60, 0.1)


@pytest.fixture(scope="module")
def fitted() -> BayesianNetworkRegressor:
    one = BayesianNetworkRegressor(**{**CHAINS, "hidden": np.int64(4)})
    with pytest.warns(ConvergenceWarning, match="NOT CONVERGED") as caught:
        regressor = one.fit(X, Y, sample_sd=0.1)
    (text,) = [str(each.message) for each in caught if each.category is ConvergenceWarning]
    assert "must be at most 1.01" in text
    assert "calibration not tested, for there are too few held-out rows" in text
    assert "all chains are drawn again" in text
    assert not any(word in text for word in ("is kept", "logs/", "figure"))
    return regressor


@pytest.mark.filterwarnings("ignore:.*lie outside the training data")
def test_predictions_are_those_of_the_surrogate_that_it_writes(
    fitted: BayesianNetworkRegressor, tmp_path: Path
) -> None:
    fitted.to_surrogate(tmp_path / "own.nc")
    surrogate = Surrogate.load(tmp_path / "own.nc")
    assert surrogate.inputs == ("x0", "x1", "x2")
    found = surrogate.predict(X, quantiles=(0.1, 0.9))
    outside = np.count_nonzero(surrogate.domain(X) == "outside")
    np.testing.assert_array_equal(fitted.domain(X), surrogate.domain(X))
    with pytest.warns(UserWarning, match=f"^{outside} of 60 points lie outside") as caught:
        mean, sd, quantiles = fitted.predict(X, return_std=True, quantiles=(0.1, 0.9))
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.predict(X[fitted.domain(X) != "outside"])
    np.testing.assert_array_equal(mean, found.mean)
    np.testing.assert_array_equal(sd, found.total_sd)
    np.testing.assert_array_equal(quantiles, found.quantiles)
    np.testing.assert_array_equal(fitted.predict(X, quantiles=0.9)[1], quantiles[1:])
    np.testing.assert_array_equal(fitted.predict(X), found.mean)
    np.testing.assert_array_equal(fitted.sample(X), surrogate.sample(X))
    residual = Y - found.mean
    score = 1 - residual @ residual / np.square(Y - Y.mean()).sum()
    assert fitted.score(X, Y) == pytest.approx(score)
    assert score > 0.5


@pytest.mark.filterwarnings("ignore:.*lie outside the training data")
def test_a_copy_by_pickle_predicts_the_same(fitted: BayesianNetworkRegressor) -> None:
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    assert copy.diagnostics_ == fitted.diagnostics_


def test_its_study_gives_the_same_bytes(
    fitted: BayesianNetworkRegressor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The jobs run in the folder of the study, as with Snakemake. A number is one layer."""
    study = yaml.safe_load(fitted.to_study(tmp_path).read_text())
    assert study["networks"]["own"]["hidden"] == [4]
    monkeypatch.chdir(tmp_path)
    again = fit(study, tmp_path, shown=False)
    fitted.to_surrogate("own.nc")
    assert Path("own.nc").read_bytes() == again.files["surrogates"]
    _, run = plan_of(study)
    assert study["likelihoods"]["own"]["floor"] == 0.03  # that of few train rows
    assert (tmp_path / f"results/surrogates/{run.run_id}.nc").read_bytes() == again.files[
        "surrogates"
    ]


def test_draws_and_model_are_those_of_the_run(fitted: BayesianNetworkRegressor) -> None:
    draws = fitted.idata_
    posterior = draws.posterior
    assert dict(posterior.sizes).items() >= {"chain": 2, "draw": 15}.items()
    assert draws.log_likelihood["target"].shape == (2, 15, 42)
    np.testing.assert_allclose(draws.observed_data["error"] * Y[~_held()].std(), 0.1, rtol=1e-6)
    free = fitted.pymc_model_.free_RVs
    names = {variable.name.removesuffix("_whitened") for variable in free}
    assert {"weights_1", "biases_1", "weights_2", "biases_2"} <= names
    assert {variable.dtype for variable in free} == {"float64"}, "that of PyTensor, to be sampled"
    assert isinstance(posterior, xr.DataTree)


def _held() -> np.ndarray:
    """The rows of validation and test split, as `Split` shuffles them."""
    order = np.random.default_rng(0).permutation(60)
    return np.isin(np.arange(60), order[42:])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_recipe_follows_the_target_and_the_settings() -> None:
    """Without noise the target is a parabola, with the known errors as with none.

    A constant column changes neither.
    """
    smooth = {**MAPS, "pretraining": "auto", "method": "auto", "recipe": "smooth"}
    few = {"draws_per_segment": 60, "thin": 4, "warmup": {"steps": 60}}
    few |= {"kernel": {"kind": "hmc", "integration_steps": 4}, "chains": 2}
    x, y = np.column_stack([X[:, 0], np.ones(60)]), X[:, 0] ** 2
    fitted = BayesianNetworkRegressor(**{**smooth, "method": few}, until={}, together=True)
    fitted.fit(x, y, sample_sd=np.full(len(y), 1e-3))
    (network,) = fitted.study_["networks"].values()
    assert (fitted.recipe_, network["output"]) == ("smooth", "marginalised")
    assert fitted.study_["precision"] == "float64"
    assert np.isfinite(fitted.predict(x)).all()
    plain = BayesianNetworkRegressor(**MAPS).fit(x, y)
    assert (plain.recipe_, plain.study_["precision"]) == ("plain", "float32")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_of_two_attempts_the_one_that_converges_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains of 60 draws do not converge; an ensemble of MAPs has no chains that could fail."""

    def two(run: Choices) -> list[Choices]:
        chains = run._replace(recipe="smooth", method=CHAINS["method"], precision="float64")
        return [chains, run._replace(recipe="plain")]

    monkeypatch.setattr(base, "attempts", two)
    regressor = BayesianNetworkRegressor(**MAPS)
    with pytest.warns(UserWarning, match="'smooth' has no chains that converge .* 'plain'"):
        fitted = regressor.fit(X, Y)
    assert (fitted.recipe_, fitted.diagnostics_["exact"]) == ("plain", False)
    (method,) = fitted.study_["methods"].values()
    assert method["kind"] == "map_ensemble"
    assert np.isfinite(fitted.predict(X)).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("asked", ["auto", "born"])
def test_cross_sections_are_learned_relative_to_a_calculation(asked: str) -> None:
    """Columns in any order, and points in the order of these."""
    engine = scan_table(3, 60, Settings(sqrt_s_tev=13.0, squark_mass_gev=3000.0)).columns
    names = ("n12", "n11", "n14", "n13", "m1")
    points = pd.DataFrame({name: engine[name] for name in names})
    sigma = 1e3 * engine["lo_pb"] * (1.2 - 1e-4 * np.abs(engine["m1"]))
    regressor = BayesianNetworkRegressor(**MAPS, scale="log10", relative_to=asked, unit="fb")
    predicted = regressor.fit(points, sigma).predict(points)
    assert np.median(np.abs(np.log(predicted / sigma))) < 0.01
    (dataset,) = regressor.study_["datasets"].values()
    assert dataset["target"]["relative_to"] == {"calculation": "born", "pair": [1, 1]}
    assert dataset["features"]["columns"] == ["m1", "n11", "n12", "n13", "n14"]
    assert regressor.surrogate_.units == {"m1": "GeV", "y": "fb"} | dict.fromkeys(names[:-1], "")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.by_day(1)
@pytest.mark.parametrize(("asked", "unit"), [("auto", "fb"), ("near", "pb")])
def test_cross_sections_are_learned_relative_to_a_column(asked: str, unit: str) -> None:
    """The column may be anywhere among those of X."""
    name = "sigma_lo" if asked == "auto" else asked
    mass, near = np.linspace(1, 3, 60), np.geomspace(1, 1e3, 60)
    points = pd.DataFrame({name: near, "mass": mass})
    sigma = near * (1.2 + 1e-2 * mass)
    regressor = BayesianNetworkRegressor(**MAPS, scale="log10", relative_to=asked, unit=unit)
    predicted = regressor.fit(points, sigma).predict(points)
    assert np.median(np.abs(np.log(predicted / sigma))) < 0.01
    assert regressor.surrogate_.inputs == ("mass", name)
    assert regressor.surrogate_.units == {"mass": "", name: unit, "y": unit}


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_it_works_in_a_pipeline_and_in_cross_validation() -> None:
    """Also with a rare category, which most train rows do not have."""
    pipeline = make_pipeline(StandardScaler(), BayesianNetworkRegressor(**MAPS))
    rare = np.column_stack([X, np.arange(60) == 0])
    scores = cross_val_score(pipeline, rare, Y, cv=2, error_score="raise")
    assert scores.shape == (2,)
    assert np.isfinite(scores).all()


def test_names_that_no_file_carries_and_a_constant_column() -> None:
    names = ["row", "mass\n(GeV)", "0", "flag"]
    points = pd.DataFrame(np.column_stack([X, np.full(60, 0.1)]), columns=names)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        fitted = BayesianNetworkRegressor(**MAPS).fit(points, Y)
    renamed, constant, *_ = (str(each.message) for each in caught)
    assert renamed.endswith(r": 'row' is x0, 'mass\n(GeV)' is x1, '0' is x2")
    assert constant.startswith("'flag' is 0.1 in every train row; points with another value lie")
    assert fitted.feature_names_in_.tolist() == names
    assert fitted.surrogate_.inputs == ("x0", "x1", "x2", "flag")
    inside = points[fitted.domain(points) == "inside"]
    assert len(inside) > 40
    for value in (0.1 + 1e-9, 0.0, 1.0):
        assert {*fitted.domain(inside.assign(flag=value))} == {"outside"}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("scale", ["identity", "log10"])
def test_errors_are_stored_in_units_of_the_network(scale: str) -> None:
    """On the linear scale they may be larger than their targets, which may be 0 or below.

    A row that repeats is warned of, without the temporary folder of the table.
    """
    shift = 5.0 if scale == "identity" else 0.0
    order = [0, 0, *range(2, 60)]
    rows, target, sd = X[order], Y[order] - shift, SD * np.linspace(0, 3, 60)
    with pytest.warns(UserWarning, match="^an earlier row repeated in 1 of 60 rows, first row 2"):
        fitted = BayesianNetworkRegressor(**MAPS, scale=scale).fit(rows, target, sd)
    assert (target.min() < 0.1) == bool(shift)
    with fitted._on_disk() as (_, dataset):
        data = read_dataset(dataset)
    assert data.error is not None
    expected = sd if shift else sd / target / np.log(10)
    np.testing.assert_allclose(data.error, expected, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_workers_give_the_same_bytes() -> None:
    apart = {**CHAINS, "together": False}
    one, two = (BayesianNetworkRegressor(**apart, n_jobs=n).fit(X, Y) for n in (1, 2))
    assert one._files == two._files
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        inside = X[one.domain(X) != "outside"]
        np.testing.assert_array_equal(one.predict(inside), two.predict(inside))
