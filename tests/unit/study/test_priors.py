"""Prior presets: their limits, with errors of one line that names the place."""

from collections.abc import Callable
from typing import Any

import pytest

from nlobayes.priors.independent import GaussianPrior
from nlobayes.study.grid import Study
from tests.refusals import refused

NAN = float("nan")
REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"kind": "normal"}, "", "union_tag_invalid"),
    ({"scale": 1}, "", "union_tag_not_found"),
    ({"kind": "fan_in", "scale": -1}, "scale", "greater_than"),
    ({"kind": "gaussian", "bias_precision": NAN}, "bias_precision", "finite_number"),
    ({"kind": "gaussian", "scale": 1}, "", "study.unknown_key"),
    ({"kind": "student_t", "degrees_of_freedom": 0}, "degrees_of_freedom", "greater_than"),
    ({"kind": "horseshoe", "slab_scale": 0}, "slab_scale", "greater_than"),
    ({"kind": "tensorbnn_cauchy", "location_sd": 0}, "location_sd", "greater_than"),
    ({"kind": "tensorbnn_cauchy", "scale": 1}, "", "study.unknown_key"),
    ({"kind": "hierarchical", "shared": "unit"}, "shared", "literal_error"),
    (
        {"kind": "hierarchical", "hyper": {"kind": "gamma"}},
        "hyper",
        "union_tag_invalid",
    ),
    (
        {"kind": "hierarchical", "hyper": {"kind": "half_normal", "scale": -1}},
        "hyper",
        "greater_than",
    ),
    (
        {"kind": "hierarchical", "hyper": {"kind": "half_cauchy", "rate": 1}},
        "hyper",
        "study.unknown_key",
    ),
    ({"kind": "fan_in", "slopes": {"kind": "flat"}}, "slopes", "union_tag_invalid"),
    ({"kind": "fan_in", "slopes": {"kind": "normal", "sd": 0}}, "slopes", "greater_than"),
    ({"kind": "custom"}, "file", "missing"),
    (
        {"kind": "custom", "file": "priors/none.py", "function": "state"},
        "",
        "study.no_file",
    ),
]


@pytest.mark.parametrize(("preset", "key", "fault"), REFUSED, ids=lambda part: str(part)[:70])
def test_refused_priors_are_reported_in_one_line(
    make_study: Callable[..., Study], preset: dict[str, Any], key: str, fault: str
) -> None:
    with refused(fault, where="configuration") as caught:
        make_study({"priors": {"mine": preset}})
    place = caught.value.fields["places"][0]
    assert place.startswith("priors.mine")
    assert key in place
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("file", ["../mine.py", "/tmp/mine.py", "a/../../mine.py", "mine.txt"])
def test_a_file_outside_the_project_is_refused(
    make_study: Callable[..., Study],
    file: str,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Even if the file exists."""
    (tmp_path / "project" / "a").mkdir(parents=True)
    for path in (tmp_path / "mine.py", tmp_path / "project" / "mine.txt"):
        path.write_text("def state(parameters): ...\n")
    monkeypatch.chdir(tmp_path / "project")
    given = file if file != "/tmp/mine.py" else str(tmp_path / "mine.py")
    with refused("study.file_outside", places=["priors.mine.custom.file"]):
        make_study({"priors": {"mine": {"kind": "custom", "file": given, "function": "state"}}})


def test_the_old_name_of_a_key_is_read_with_a_warning() -> None:
    with pytest.warns(FutureWarning, match="'whitened' is now 'non_centered'"):
        prior = GaussianPrior.model_validate({"kind": "gaussian", "whitened": False})
    assert not prior.non_centered
