"""Old names of keys: one plain line on standard error, wherever a study is loaded."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nlobayes.methods.mcmc import MCMC
from nlobayes.study.labels import read_whole_study
from nlobayes.study.study import Study, reported_renamed_keys
from nlobayes.workflow.plan import load_plan

ROOT = Path(__file__).parents[3]
SAID = "nlobayes: warning: config: key 'most_chains' is now 'chains'; the next release refuses"


def of_the_snakefile(tmp_path: Path) -> Study:
    return load_plan({"targets": ["check"], "methods": {"hmc": {"most_chains": 4}}}).study


def of_the_commands(tmp_path: Path) -> Study:
    changes = tmp_path / "study.yaml"
    changes.write_text("methods: {hmc: {most_chains: 4}}\n")
    return read_whole_study([changes])


@pytest.mark.parametrize("load", [of_the_snakefile, of_the_commands])
def test_an_old_key_is_one_plain_line(
    load: Callable[[Path], Study],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(MCMC, "RENAMED", {"most_chains": "chains"})
    method = load(tmp_path).methods["hmc"]
    assert isinstance(method, MCMC)
    assert method.chains == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(SAID)


def test_other_warnings_stay_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    def warn() -> Any:
        with reported_renamed_keys(), warnings.catch_warnings(record=False):
            warnings.warn("old key", FutureWarning, stacklevel=2)
            warnings.simplefilter("always", UserWarning)
            warnings.warn("something else", UserWarning, stacklevel=2)

    with pytest.warns(UserWarning, match="something else"):
        warn()
    assert capsys.readouterr().err == "nlobayes: warning: config: old key\n"
