"""Memories in a study: pinned when planned, asked for only where they are used, refused early."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from nlobayes.errors import InputError
from nlobayes.study.grid import Study
from nlobayes.study.job_builder import run_jobs
from nlobayes.study.jobs import PretrainJob, read_job
from nlobayes.study.priors.fan_in import FanInPrior

FILE = "memories/old.nc"
PRIOR = {"kind": "fan_in", "memory": {"file": FILE}}


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("memories").mkdir()


def with_prior(prior: dict[str, Any]) -> dict[str, Any]:
    return {"priors": {"fan_in": prior}}


def test_a_memory_is_pinned_by_its_digest() -> None:
    Path(FILE).write_bytes(b"one")
    prior = FanInPrior.model_validate(PRIOR)
    assert prior.memory is not None
    assert prior.memory.sha256 == hashlib.sha256(b"one").hexdigest()
    assert FanInPrior.model_validate(prior.model_dump()) == prior
    Path(FILE).write_bytes(b"two")
    with pytest.raises(ValidationError, match="has changed since this was planned"):
        FanInPrior.model_validate(prior.model_dump())
    Path(FILE).unlink()
    with pytest.raises(ValidationError, match=rf"file '{FILE}' is not there"):
        FanInPrior.model_validate(prior.model_dump())


@pytest.mark.parametrize("file", ["../old.nc", "/old.nc", "memories/old.csv"])
def test_a_memory_is_an_artifact_of_the_project(file: str) -> None:
    with pytest.raises(
        ValidationError, match=r"must be the path of a \.nc file inside the project"
    ):
        FanInPrior.model_validate({"kind": "fan_in", "memory": {"file": file}})


def test_a_memory_may_be_written_later(make_study: Callable[..., Study]) -> None:
    """A study is valid without it; jobs of the runs that use it are refused until it is there."""
    study = make_study(with_prior(PRIOR))
    run = next(study.runs(study.targets[0]))
    with pytest.raises(InputError, match=rf"priors\.fan_in\.memory: {FILE} is not there; write it"):
        run_jobs(run)
    Path(FILE).write_bytes(b"one")
    study = make_study(with_prior(PRIOR))
    jobs = run_jobs(next(study.runs(study.targets[0])))
    text = jobs["pretrain"].model_dump_json()
    assert hashlib.sha256(b"one").hexdigest() in text
    assert read_job(PretrainJob, text) == jobs["pretrain"]
    Path(FILE).write_bytes(b"two")
    with pytest.raises(InputError, match="has changed since this was planned"):
        read_job(PretrainJob, text)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"grids": {"small": {"outputs": "prior"}}}, "has a memory, which nothing can draw from"),
        (
            {"datasets": {"made": {"target": {"column": ["sigma_pb", "scale_up"]}}}},
            "has a memory, which is of one output",
        ),
        (
            {
                "likelihoods": {"uneven": {"kind": "heteroscedastic"}},
                "grids": {"small": {"likelihood": "uneven"}},
            },
            "which is of one output",
        ),
    ],
)
def test_a_memory_that_cannot_be_used_is_refused(
    make_study: Callable[..., Study], changes: dict[str, Any], said: str
) -> None:
    make_study(with_prior(PRIOR))
    with pytest.raises(InputError, match=said):
        make_study(changes | with_prior(PRIOR))
