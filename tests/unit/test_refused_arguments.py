"""Arguments that functions cannot use are refused by the code of their error."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pytensor import wrap_py

from nlobayes.artifacts.audit.origins import _origin_of
from nlobayes.artifacts.thinned import read_weights
from nlobayes.commands.audit.show import show
from nlobayes.commands.audit.verify import verify
from nlobayes.commands.pipeline.compare import _job
from nlobayes.commands.pipeline.ingest import _list_files
from nlobayes.commands.pipeline.plot import plot
from nlobayes.commands.tools.predict import _check_log10
from nlobayes.commands.tools.serve import _listen
from nlobayes.diagnostics import tables, tightness
from nlobayes.diagnostics.autocorrelation import autocorrelation, sokal_time
from nlobayes.diagnostics.draws import located
from nlobayes.diagnostics.thinning import choose_step, kept_ess_share
from nlobayes.errors import InputError
from nlobayes.estimators.classifier import BayesianNetworkClassifier
from nlobayes.estimators.regressor import _errors
from nlobayes.evaluation.calibration.calibration import calibration
from nlobayes.evaluation.calibration.conditional import conditional_table, distance_to_training
from nlobayes.evaluation.comparison.runs import LearnedData, RunMetrics, check_one_target
from nlobayes.evaluation.fidelity import fidelity
from nlobayes.evaluation.predictive.noise_fit import fit_noise
from nlobayes.evaluation.reweighting.importance import (
    importance_weights,
    resample,
    weighted_quantiles,
)
from nlobayes.evaluation.reweighting.sensitivity import sensitivity
from nlobayes.evaluation.scores.classification.classes import checked_labels, predict_classes
from nlobayes.evaluation.scores.information import elpd_difference
from nlobayes.evaluation.scores.regression.accuracy import to_target
from nlobayes.evaluation.tasks import task_of
from nlobayes.evaluation.tasks.stacking import stacking_weights
from nlobayes.evaluation.tasks.stated import _law
from nlobayes.inference.chain_arrays import from_arrays
from nlobayes.inference.windows import mass_matrix_core, plan
from nlobayes.model.density import _mesh
from nlobayes.model.earlier_data import moments
from nlobayes.model.own_function_checks import check_activation
from nlobayes.model.pymc_sampling import sample
from nlobayes.predicting.prediction_files import write_rows
from nlobayes.predicting.surrogate_points import Tally
from nlobayes.study.comparison import ComparedRun, CompareJob
from nlobayes.study.evaluation import CustomScore, check_scores
from nlobayes.study.yaml_files import check_json_keys
from nlobayes.types import PredictedDraws
from tests.refusals import refused
from tests.rows import dataset_of
from tests.run_results import diagnosed
from tests.unit.evaluation.noises import make_noise

NAN = float("nan")
RNG = np.random.default_rng(1)
DRAWS = RNG.normal(size=(2, 50, 3))
EQUAL = importance_weights(np.zeros(30))
TWO = np.array([[0.2, 0.8], [0.6, 0.4]])
WINDOWS = plan(9, adaptation_share=1.0, mass_matrix="identity")
OF_LN = {"target": {"scale": "ln"}}
PB = RunMetrics(
    *("a", "a", "s1", {}, diagnosed(), {}, {}),
    learned=LearnedData(("y",), "pb", "log10", "", None),
)
FB = PB._replace(learned=LearnedData(("y",), "fb", "log10", "", None))
SCORE = CustomScore.model_construct()
COMPARED = CompareJob(runs=(ComparedRun(run="a", setting="a", replicate="s1", values={}),))


def stub(**attributes: Any) -> Any:
    return SimpleNamespace(**attributes)


def _broken_rows() -> Iterator[Any]:
    yield from ()
    raise InputError("commands.no_row", case=2, last=1)


def _no_folder(folder: Path) -> NoReturn:
    raise OSError(f"{folder} is away")


def _untranslated(xp: Any, x: Any) -> Any:
    """A function of Python inside a graph, which no version of PyTensor translates."""
    kept = wrap_py(itypes=[pt.matrix().type], otypes=[pt.matrix().type])(lambda values: values)
    return kept(x) if xp is pt else x


CALLS: list[tuple[str, Callable[[], object]]] = [
    *(("diagnostics.window_width", lambda c=c: sokal_time(DRAWS, c)) for c in (0.0, -1.0, NAN)),
    ("diagnostics.autocorrelation_draws", lambda: autocorrelation(np.zeros((2, 3)))),
    ("diagnostics.autocorrelation_draws", lambda: autocorrelation(np.full((2, 9), NAN))),
    ("diagnostics.divergences_shape", lambda: located(DRAWS, np.zeros((2, 49)))),
    ("diagnostics.weight_names", lambda: tables.history(DRAWS, ["a", "b"], thin=1)),
    ("diagnostics.weight_names", lambda: tables.weight_planes(DRAWS, [*"abcd"])),
    ("diagnostics.step_no_multiple", lambda: kept_ess_share(np.ones(9), 6, stored_every=4)),
    ("diagnostics.step_no_multiple", lambda: kept_ess_share(np.ones(9), 0)),
    ("diagnostics.loss_or_stride", lambda: choose_step(DRAWS, thin=1, loss=1.0)),
    ("diagnostics.loss_or_stride", lambda: choose_step(DRAWS, thin=51, loss=0.1)),
    ("diagnostics.no_tightness", lambda: tightness.tightness(0, 0.1)),
    ("diagnostics.no_tightness", lambda: tightness.tightness(10, NAN)),
    ("evaluation.unknown_scale", lambda: to_target(np.ones(3), "ln")),
    (
        "evaluation.prediction_shapes",
        lambda: calibration(np.zeros((2, 3)), np.zeros(4), make_noise("gaussian", 0.1)),
    ),
    (
        "evaluation.labels_of_other_points",
        lambda: checked_labels(predict_classes(np.stack([TWO, TWO])), np.array([0])),
    ),
    (
        "evaluation.calibration_by",
        lambda: conditional_table({"x": np.array([1.0, NAN])}, np.zeros(2), np.full(2, 0.5)),
    ),
    ("evaluation.fidelity_not_finite", lambda: fidelity(DRAWS, np.full((50, 3), NAN))),
    ("evaluation.fidelity_not_finite", lambda: fidelity(np.full((2, 9, 3), np.inf), DRAWS[0])),
    *(
        (
            "evaluation.relative_efficiency",
            lambda e=e: importance_weights(np.zeros(30), relative_efficiency=e),
        )
        for e in (0.0, 1.1, NAN)
    ),
    (
        "evaluation.probabilities_of_quantiles",
        lambda: weighted_quantiles(EQUAL, np.zeros((30, 1)), [0.5, 1.0]),
    ),
    ("evaluation.nothing_to_choose", lambda: resample(EQUAL, 0, RNG)),
    ("evaluation.elpd_shapes", lambda: elpd_difference(np.zeros(3), np.zeros(4))),
    (
        "evaluation.few_rows_for_conformal",
        lambda: fit_noise(RNG.normal(size=(2, 39)), np.zeros(39), family="conformal"),
    ),
    ("evaluation.unknown_noise", lambda: fit_noise(TWO, np.ones(2), family="laplace")),
    *(
        (
            "evaluation.power_of_sensitivity",
            lambda power=power: sensitivity(np.zeros(30), np.zeros((30, 1)), power=power),
        )
        for power in (1.0, NAN)
    ),
    *(
        ("evaluation.stacking_shape", lambda shape=shape: stacking_weights(np.zeros(shape)))
        for shape in ((1, 8), (8,), (3, 0), (2, 3, 4))
    ),
    ("evaluation.stacking_not_finite", lambda: stacking_weights(np.array([[0.0], [np.inf]]))),
    ("evaluation.other_targets", lambda: check_one_target([PB, FB])),
    ("evaluation.no_task", lambda: task_of(dataset_of(TWO, TWO[0], transforms=OF_LN))),
    ("evaluation.unknown_stated_noise", lambda: _law(PredictedDraws(TWO, "cauchy", np.ones(2)))),
    ("inference.no_curvature", lambda: mass_matrix_core("gauss_newton", WINDOWS, None)),
    ("model.few_devices", lambda: _mesh(999)),
    ("model.few_draws", lambda: moments(np.zeros((2, 3)))),
    ("study.no_json_number", lambda: check_json_keys('{"a": NaN}', "spec")),
    ("artifacts.no_origin", lambda: _origin_of({"verb": None, "inputs": {}}, "out.json")),
    ("evaluation.distance_shapes", lambda: distance_to_training(TWO, TWO[:, :1])),
    ("evaluation.distance_not_finite", lambda: distance_to_training(TWO, TWO * np.inf)),
    ("estimators.sd_shape", lambda: _errors(np.ones(2), np.ones(3), relative=False)),
    ("estimators.sd_of_log10", lambda: _errors(2.0, np.ones(3), relative=True)),
    ("estimators.one_class", lambda: BayesianNetworkClassifier().fit(DRAWS[0], np.zeros(50))),
    ("inference.array_missing", lambda: from_arrays({"step": np.ones(1)}, {}, "warmup")),
    (
        "model.no_nuts_sampler",
        lambda: sample(
            pm.Model(),
            nuts_sampler="no_such_package",
            **dict.fromkeys(("draws", "tune", "chains", "seed"), 1),
            target_accept=0.9,
        ),
    ),
    ("model.own_activation_without_jax", lambda: check_activation(_untranslated, "network")),
    *(
        ("study.score_name", lambda name=name: check_scores({name: SCORE}))
        for name in ("Ab", "a-b")
    ),
    *(
        ("study.score_taken", lambda name=name: check_scores({name: SCORE}))
        for name in ("rmse_log10", "ess_mine", "groups")
    ),
    ("commands.unlisted_folder", lambda: _list_files(Path(), stub(files=_no_folder))),
    (
        "commands.unprintable_name",
        lambda: _list_files(Path(), stub(files=lambda folder: [folder / "a\nb.slha"])),
    ),
    ("commands.runs_not_in_spec", lambda: _job(["other"], COMPARED.model_dump_json())),
    ("commands.no_log10_learned", lambda: _check_log10(stub(scale="identity", target="y"), "")),
    (
        "commands.cannot_listen",
        lambda: _listen(stub(bind_socket=lambda: _no_folder(Path()), port=1), "localhost"),
    ),
    ("commands.printed_in_part", lambda: write_rows(_broken_rows(), "-", "csv", Tally(points=1))),
    ("commands.no_weights", lambda: read_weights({"posterior": stub(data_vars={})}, Path("p.nc"))),
    ("commands.no_artifact", lambda: show(Path("no.nc"))),
    ("commands.unusable_path", lambda: verify(Path("x" * 5000))),
    ("commands.unknown_figure", lambda: plot(Path(), Path(), ["no"])),
]


@pytest.mark.parametrize(("code", "call"), CALLS)
def test_what_cannot_be_used_is_refused(code: str, call: Callable[[], object]) -> None:
    with refused(code):
        call()
