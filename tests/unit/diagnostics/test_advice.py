"""Every check that can fail has a next step, and none speaks of what is not so."""

from string import Formatter

import numpy as np
import pytest

from nlobayes.checks import AGREEMENT, CALIBRATION, CONVERGENCE
from nlobayes.diagnostics.advice import ADVICE, Step, next_steps
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.evaluation.calibration import calibration_checks
from tests.run_results import diagnosed

TIGHT, LOOSE = diagnosed(tightness=6.2e5), diagnosed(tightness=1e5)
UNKNOWN = diagnosed(tightness=None)


def test_every_check_that_can_fail_has_advice() -> None:
    of_points = calibration_checks.check(np.zeros(10), np.full(10, 0.5), fitted_to=10)
    limits = {*AGREEMENT, "ebfmi_min", "divergences", "still_chains", "energy_variance"}
    assert {*CONVERGENCE, *CALIBRATION} == {*ADVICE}
    assert {*of_points, *limits} <= {*ADVICE}
    assert all(next_steps([name], LOOSE) for name in ADVICE)


def test_only_a_tight_posterior_gets_the_advice_to_loosen() -> None:
    first, *_ = next_steps(["rhat_f"], TIGHT)
    assert "larger tolerance" in first
    assert "tau is 6.2e+05" in first
    assert not any("tolerance" in step for step in next_steps(["rhat_f"], LOOSE))
    assert not any("tolerance" in step for step in next_steps(["rhat_f"], UNKNOWN))
    converged = diagnosed(tightness=6.2e5, converged=True)
    assert not any("tolerance" in step for step in next_steps(["rhat_f"], converged))


def test_chains_that_are_only_too_short_are_called_so_first() -> None:
    short = diagnosed(tightness=6.2e5, more_draws=4.6)
    for check in AGREEMENT:
        assert next_steps([check], short)[0].startswith("Draw 4.6 times as many")
    apart = next_steps(["rhat_f"], diagnosed(tightness=6.2e5, more_draws=None))
    assert not any("times as many" in step for step in apart)


def test_chains_that_stand_still_are_named_first() -> None:
    found = diagnosed(tightness=1e5, still_chains_at=[1, 3])
    steps = next_steps(["rhat_f", "still_chains"], found)
    assert steps[0].startswith("Chains 1, 3 stand still")
    assert len(steps) > 1


@pytest.mark.parametrize("name", ADVICE)
def test_advice_for_runs_without_a_folder_names_no_file(name: str) -> None:
    """Nor of draws that are kept; and every step names the keys of the configuration."""
    found = diagnosed(tightness=6.2e5, max_depth_share=0.34, still_chains_at=[1])
    kept, alone = (next_steps([name], found, kept_files=each) for each in (True, False))
    assert len(alone) == len(kept)
    assert not any(word in " ".join(alone) for word in ("logs/", "figure", "is kept"))
    assert "sampler" not in " ".join(kept + alone)


def test_a_check_of_a_target_has_the_advice_of_its_kind() -> None:
    assert next_steps(["pit_ecdf of sigma_pb"], LOOSE) == next_steps(["pit_ecdf"], LOOSE) != []


@pytest.mark.parametrize("failed", [[], ["of_another_version"]])
def test_nothing_is_invented(failed: list[str]) -> None:
    assert next_steps(failed, LOOSE) == []


@pytest.mark.parametrize("step", {step for steps in ADVICE.values() for step in steps})
def test_texts_name_keys_of_the_diagnostics(step: Step) -> None:
    texts = (step.text, step.alone or "")
    fields = {field for text in texts for _, field, *_ in Formatter().parse(text)}
    assert fields - {None, ""} <= {*Diagnostics.__annotations__}
