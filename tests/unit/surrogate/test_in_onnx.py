"""An ONNX model gives what `predict` gives, and its metadata describe it."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlobayes import Surrogate
from nlobayes.artifacts.contents import write_surrogate
from nlobayes.artifacts.seals import digest
from nlobayes.commands.tools.onnx import onnx
from nlobayes.surrogate.reduction import spread_evenly
from nlobayes.types import SurrogateContent
from tests.refusals import refused
from tests.unit.spectra_with_surrogates import STATED
from tests.unit.surrogate.conftest import COLUMNS, DRAWS, dataset, make_exported, points
from tests.unit.surrogate.test_in_jax import (
    ENGINE,
    in_double,
    infinitely_wide,
    relative_to,
    seen_by,
)

pytestmark = pytest.mark.skipif(
    not all(map(find_spec, ("onnxruntime", "jax2onnx"))), reason="needs the extra `onnx`"
)

X = points(1000, seed=9)
MOMENTS, FURTHER = ["mean", "posterior_sd", "total_sd"], ["median", "q2.5", "q84"]


def in_file(path: Path, whole: SurrogateContent) -> Path:
    facts = whole.facts | {"table_metadata": STATED}
    write_surrogate(path, whole._replace(facts=facts), dataset(), {"verb": "export"})
    return path


def loaded(path: Path) -> Any:
    import onnxruntime  # seconds with what it brings, which only this worker pays

    return onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("family", "activation"),
    [("conformal", "tanh"), ("student_t", "tanh"), ("conformal", "erf"), ("conformal", "relu")],
)
def test_onnxruntime_gives_what_predict_gives(
    tmp_path: Path, family: str, activation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Noise is about the mean of the draws, or about each draw, where quantiles are no formulas.

    Networks of erf and relu are infinitely wide.
    """
    names = [*MOMENTS, *(FURTHER if family == "conformal" else ())]
    whole = in_double(make_exported(family))
    if activation != "tanh":
        whole = infinitely_wide(whole, activation)
    path = in_file(tmp_path / "s.nc", whole)
    onnx(path, tmp_path / "s.onnx", quantiles="0.025,0.84")
    assert ("no quantiles" in capsys.readouterr().err) == (family == "student_t")
    session, surrogate = loaded(tmp_path / "s.onnx"), Surrogate.load(path)
    (given,) = session.get_inputs()
    assert (given.name, given.type) == ("points", "tensor(double)")
    assert [each.name for each in session.get_outputs()] == [f"sigma_pb_{name}" for name in names]
    found = dict(zip(names, session.run(None, {"points": X}), strict=True))
    expected = surrogate.predict(X, quantiles=(0.025, 0.84))
    for name in MOMENTS:
        assert found[name].dtype == np.float64
        np.testing.assert_allclose(found[name], getattr(expected, name), rtol=1e-6, err_msg=name)
    for name, values in zip(FURTHER, (expected.median, *expected.quantiles), strict=True):
        if name in found:
            np.testing.assert_allclose(found[name], values, rtol=1e-6, err_msg=name)

    one = session.run(None, {"points": X[:1]})
    np.testing.assert_allclose(one[0], found["mean"][:1], rtol=1e-12)
    unusable = X[:3].copy()
    unusable[0, 0], unusable[1, 2] = 0.0, np.nan
    for rows, expected in ((3, [True, True, False]), (1, [True]), (0, [])):
        for values in session.run(None, {"points": unusable[:rows]}):
            assert np.isnan(values).tolist() == expected


def test_fewer_draws_are_those_at_even_distances_and_metadata_describe_the_model(
    tmp_path: Path,
) -> None:
    whole = in_double(make_exported("conformal"))
    path = in_file(tmp_path / "s.nc", whole)
    onnx(path, tmp_path / "s.onnx", draws=20)
    session, kept = loaded(tmp_path / "s.onnx"), spread_evenly(DRAWS, 20)
    few = whole._replace(variables={name: of[kept] for name, of in whole.variables.items()})
    expected = Surrogate(few).predict(X).posterior_sd
    np.testing.assert_allclose(session.run(None, {"points": X})[1], expected, rtol=1e-6)

    metadata = session.get_modelmeta().custom_metadata_map
    assert metadata["surrogate_sha256"] == digest(path)
    assert json.loads(metadata["inputs"]) == [*COLUMNS]
    assert json.loads(metadata["draws"]) == 20
    assert json.loads(metadata["units"])["sigma_pb"] == "pb"
    assert json.loads(metadata["conditions"])[0]["name"] == "msq"
    assert {
        name: metadata[f"origin.{name}"] for name in ("incoming", "outgoing", "sqrt_s_tev")
    } == {
        "incoming": "2212 2212",
        "outgoing": "1000022 1000022",
        "sqrt_s_tev": "13.0",
    }
    assert metadata["bibtex"].startswith("@software")


@pytest.mark.slow
def test_a_target_relative_to_the_engine_is_written_with_it(tmp_path: Path) -> None:
    """As in the study `bundle`, features and reference are computed from the Born rate."""
    path = in_file(tmp_path / "s.nc", seen_by(relative_to(ENGINE), "channels"))
    onnx(path, tmp_path / "s.onnx", draws=20)
    beyond = X[:99].copy()
    beyond[1, 0] = 2000.0
    found = loaded(tmp_path / "s.onnx").run(None, {"points": beyond})
    assert np.flatnonzero(np.isnan(found[0])).tolist() == [1]
    assert loaded(tmp_path / "s.onnx").run(None, {"points": beyond[:0]})[0].shape == (0,)
    known, whole = np.arange(99) != 1, seen_by(relative_to(ENGINE), "channels")
    kept = spread_evenly(DRAWS, 20)
    few = whole._replace(variables={name: of[kept] for name, of in whole.variables.items()})
    expected = Surrogate(few).predict(X[:99][known])
    for name, values in zip((*MOMENTS, "median"), found, strict=False):
        np.testing.assert_allclose(values[known], getattr(expected, name), rtol=1e-6, err_msg=name)


def test_what_cannot_be_written_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    path = in_file(tmp_path / "s.nc", make_exported("conformal"))
    with refused("commands.onnx_ending", where="--out"):
        onnx(path, tmp_path / "s.nc")
    with refused("commands.no_numbers", where="--quantiles"):
        onnx(path, tmp_path / "s.onnx", quantiles="a")
    with refused("artifacts.unreadable_artifact"):
        onnx(tmp_path / "none.nc", tmp_path / "s.onnx")
    assert not (tmp_path / "s.onnx").exists()
