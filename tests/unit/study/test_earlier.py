"""Earlier data in a study: digested when planned, required where used, refused early."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from nlobayes.priors.independent import FanInPrior
from nlobayes.study.job_builder import run_jobs
from nlobayes.study.jobs import PretrainJob
from nlobayes.study.read_jobs import read_job
from tests.refusals import invalid, refused
from tests.unit.study.small import make_study

FILE = "earlier/old.nc"
PRIOR = {"kind": "fan_in", "earlier": {"file": FILE}}


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("earlier").mkdir()


def with_prior(prior: dict[str, Any]) -> dict[str, Any]:
    return {"priors": {"fan_in": prior}}


def test_earlier_data_is_pinned_by_its_digest() -> None:
    Path(FILE).write_bytes(b"one")
    prior = FanInPrior.model_validate(PRIOR)
    assert prior.earlier is not None
    assert prior.earlier.sha256 == hashlib.sha256(b"one").hexdigest()
    assert FanInPrior.model_validate(prior.model_dump()) == prior
    Path(FILE).write_bytes(b"two")
    with invalid("study.file_changed", file=FILE, found=hashlib.sha256(b"two").hexdigest()):
        FanInPrior.model_validate(prior.model_dump())
    Path(FILE).unlink()
    with invalid("study.no_file", file=FILE):
        FanInPrior.model_validate(prior.model_dump())


@pytest.mark.parametrize("file", ["../old.nc", "/old.nc", "earlier/old.csv"])
def test_earlier_data_is_an_artifact_of_the_project(file: str) -> None:
    with invalid("study.file_outside", file=file, suffix=".nc"):
        FanInPrior.model_validate({"kind": "fan_in", "earlier": {"file": file}})


def test_earlier_data_may_be_written_later() -> None:
    """A study is valid without the file; jobs that use it are refused until it exists."""
    study = make_study(with_prior(PRIOR))
    run = next(study.runs(study.targets[0]))
    with refused("study.no_earlier", where="priors.fan_in.earlier", file=FILE):
        run_jobs(run)
    Path(FILE).write_bytes(b"one")
    study = make_study(with_prior(PRIOR))
    jobs = run_jobs(next(study.runs(study.targets[0])))
    text = jobs["pretrain"].model_dump_json()
    assert hashlib.sha256(b"one").hexdigest() in text
    assert read_job(PretrainJob, text) == jobs["pretrain"]
    Path(FILE).write_bytes(b"two")
    with refused("study.file_changed", places=["model.prior.fan_in.earlier"]):
        read_job(PretrainJob, text)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"grids": {"small": {"outputs": "prior"}}}, "study.draws_of_earlier"),
        (
            {"datasets": {"made": {"target": {"column": ["sigma_pb", "scale_up"]}}}},
            "study.outputs_of_earlier",
        ),
        (
            {
                "likelihoods": {"uneven": {"kind": "heteroscedastic"}},
                "grids": {"small": {"likelihood": "uneven"}},
            },
            "study.outputs_of_earlier",
        ),
    ],
)
def test_earlier_data_that_cannot_be_used_is_refused(changes: dict[str, Any], fault: str) -> None:
    make_study(with_prior(PRIOR))
    with refused(fault, places=["grids.small"]):
        make_study(changes | with_prior(PRIOR))
