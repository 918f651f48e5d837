"""Prior presets: their limits, told in one line that names the place."""

from collections.abc import Callable
from typing import Any

import pytest

from nlobayes.errors import InputError
from nlobayes.study.grid import Study
from nlobayes.study.priors import PRIORS
from nlobayes.study.priors.gaussian import GaussianPrior

NAN = float("nan")
KINDS = ", ".join(map(repr, PRIORS))
REFUSED: list[tuple[dict[str, Any], str, tuple[str, ...]]] = [
    ({"kind": "normal"}, "", ("'normal'", KINDS)),
    ({"scale": 1}, "", ("kind",)),
    ({"kind": "fan_in", "scale": -1}, "scale", ("greater than 0", "got -1")),
    ({"kind": "fan_in", "bias_scale": 0}, "bias_scale", ("greater than 0", "got 0")),
    ({"kind": "fan_in", "output_bias_scale": -2}, "output_bias_scale", ("got -2",)),
    ({"kind": "gaussian", "precision": -1}, "precision", ("greater than 0", "got -1")),
    ({"kind": "gaussian", "bias_precision": NAN}, "bias_precision", ("finite", "got nan")),
    ({"kind": "gaussian", "scale": 1}, "", ("unknown key 'scale'", "'bias_precision'")),
    ({"kind": "laplace", "scale": -1}, "scale", ("greater than 0", "got -1")),
    ({"kind": "cauchy", "scale": -1}, "scale", ("greater than 0", "got -1")),
    ({"kind": "student_t", "scale": -1}, "scale", ("greater than 0", "got -1")),
    ({"kind": "student_t", "degrees_of_freedom": 0}, "degrees_of_freedom", ("got 0",)),
    ({"kind": "horseshoe", "global_scale": -1}, "global_scale", ("got -1",)),
    ({"kind": "horseshoe", "slab_scale": 0}, "slab_scale", ("got 0",)),
    ({"kind": "horseshoe", "slab_degrees": -4}, "slab_degrees", ("got -4",)),
    ({"kind": "horseshoe", "bias_scale": 0}, "bias_scale", ("got 0",)),
    ({"kind": "tensorbnn", "mean_sd": 0}, "mean_sd", ("got 0",)),
    ({"kind": "tensorbnn", "scale_mean": -1}, "scale_mean", ("got -1",)),
    ({"kind": "tensorbnn", "scale_sd": -0.1}, "scale_sd", ("got -0.1",)),
    ({"kind": "hierarchical", "shared": "unit"}, "shared", ("'layer' or 'network'", "'unit'")),
    (
        {"kind": "hierarchical", "hyper": {"kind": "gamma"}},
        "hyper",
        ("'gamma'", "'half_normal', 'half_cauchy', 'gamma_precision'"),
    ),
    (
        {"kind": "hierarchical", "hyper": {"kind": "half_normal", "scale": -1}},
        "hyper",
        ("greater than 0", "got -1"),
    ),
    (
        {"kind": "hierarchical", "hyper": {"kind": "gamma_precision", "shape": 0}},
        "hyper",
        ("shape", "got 0"),
    ),
    (
        {"kind": "hierarchical", "hyper": {"kind": "half_cauchy", "rate": 1}},
        "hyper",
        ("unknown key 'rate'",),
    ),
    ({"kind": "fan_in", "slopes": {"kind": "flat"}}, "slopes", ("'flat'", "'exponential'")),
    (
        {"kind": "fan_in", "slopes": {"kind": "exponential", "rate": -1}},
        "slopes",
        ("rate", "got -1"),
    ),
    ({"kind": "fan_in", "slopes": {"kind": "normal", "sd": 0}}, "slopes", ("sd", "got 0")),
    ({"kind": "custom"}, "file", ("required",)),
    (
        {"kind": "custom", "file": "priors/none.py", "function": "state"},
        "",
        ("'priors/none.py' is not there; write it, or mend the path",),
    ),
]


@pytest.mark.parametrize(("preset", "key", "said"), REFUSED, ids=lambda part: str(part)[:70])
def test_refused_priors_are_told_in_one_line(
    make_study: Callable[..., Study], preset: dict[str, Any], key: str, said: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as caught:
        make_study({"priors": {"mine": preset}})
    message = str(caught.value)
    assert message.startswith("configuration: priors.mine")
    assert key in message
    assert "\n" not in message
    for words in said:
        assert words in message


@pytest.mark.parametrize("file", ["../mine.py", "/tmp/mine.py", "a/../../mine.py", "mine.txt"])
def test_a_file_outside_the_project_is_refused(
    make_study: Callable[..., Study],
    file: str,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Though it is there."""
    (tmp_path / "project" / "a").mkdir(parents=True)
    for path in (tmp_path / "mine.py", tmp_path / "project" / "mine.txt"):
        path.write_text("def state(parameters): ...\n")
    monkeypatch.chdir(tmp_path / "project")
    given = file if file != "/tmp/mine.py" else str(tmp_path / "mine.py")
    with pytest.raises(InputError) as caught:
        make_study({"priors": {"mine": {"kind": "custom", "file": given, "function": "state"}}})
    said = f"file {given!r} must be the path of a .py file inside the project"
    assert said in str(caught.value)
    assert str(caught.value).startswith("configuration: priors.mine")


def test_the_old_name_of_a_key_is_read_with_a_warning() -> None:
    with pytest.warns(FutureWarning, match="'whitened' is now 'non_centered'"):
        prior = GaussianPrior.model_validate({"kind": "gaussian", "whitened": False})
    assert not prior.non_centered
