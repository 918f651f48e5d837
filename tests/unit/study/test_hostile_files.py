"""Malicious studies, presets and specifications: one line, at once, and nothing runs."""

import json
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nlobayes.study.jobs import CheckConvergenceJob
from nlobayes.study.read_jobs import read_job
from nlobayes.study.yaml_files import MOST_BYTES, MOST_CHARACTERS, MOST_VALUES, read_yaml
from tests.refusals import refused

ROOT = Path(__file__).parents[3]
AT_ONCE_SECONDS = 30
LEVELS = range(1, 13)
"""Levels of nine aliases each: 9 ** 13 values, far more than fit into memory."""


def bomb(first: str, level: str, alias: str = "*a{0}") -> str:
    """Nest aliases: every value is nine times the one before it."""
    lines = [f"a0: &a0 {first}"]
    for number in LEVELS:
        inner = ", ".join(alias.format(number - 1, place) for place in range(9))
        lines.append(f"a{number}: &a{number} " + level.format(inner))
    return "\n".join(lines)


def refusal(path: Path, fault: str = "study.not_yaml") -> str:
    """Expect a file to be refused quickly with an error, and return its one line."""
    began = time.monotonic()
    with refused(fault, where=path) as caught:
        read_yaml(path)
    assert time.monotonic() - began < AT_ONCE_SECONDS
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("text", "fault", "place"),
    [
        (bomb("[x]", "[{}]"), "study.yaml_large", "line 6,"),
        (bomb("{x: 1}", "{{{}}}", "k{1}: *a{0}"), "study.yaml_large", "line 6,"),
        (bomb("{x: 1}", "{{<<: [{}]}}"), "study.yaml_large", "line 6,"),
        (
            "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 999)),
            "study.yaml_large",
            "line ",
        ),
        ("a: &a [*a]", "study.yaml_alias", "line 1, column 8"),
        ("a: &a {b: *a}", "study.yaml_alias", "line 1,"),
    ],
    ids=["lists", "mappings", "merges", "chain", "itself", "itself as a mapping"],
)
def test_aliases_that_multiply_are_refused(
    tmp_path: Path, text: str, fault: str, place: str
) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    assert f'in "bad.yaml", {place}' in refusal(tmp_path / "bad.yaml", fault)


@pytest.mark.parametrize("opening", ["[", "{b: ", "- ", "? ", "[{"])
@pytest.mark.by_day(1)
def test_deep_nesting_is_refused(tmp_path: Path, opening: str) -> None:
    (tmp_path / "bad.yaml").write_text("a: " + opening * (MOST_BYTES // len(opening) - 9))
    if opening in "- ? ":
        (tmp_path / "bad.yaml").write_text(opening * 9999)
    assert refusal(tmp_path / "bad.yaml", "study.yaml_deep")


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system ['touch {0}']",
        "!!python/object/new:os.system ['touch {0}']",
        "!!python/name:os.system ''",
        "!!python/module:os ''",
        "!!python/tuple [1]",
        "!!int ''",
        "!!timestamp x",
        "!mine x",
        "! x",
    ],
)
def test_tags_are_refused_and_run_nothing(tmp_path: Path, tag: str) -> None:
    (tmp_path / "bad.yaml").write_text("networks:\n  n4: " + tag.format(tmp_path / "hacked"))
    assert 'in "bad.yaml", line 2' in refusal(tmp_path / "bad.yaml", "study.yaml_tag")
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("networks:\n  n4: {hidden: [4]}\n  n4: {hidden: [5]}", "n4"),
        ("networks: {}\nseeds: [1]\nnetworks: {}", "networks"),
        ("a: &a {x: 1}\nb: 2\nc: {<<: *a, <<: *a}", "<<"),
        ('a:\n  "x": 1\n  x: 2', "x"),
    ],
)
def test_a_key_that_is_given_twice_is_refused_with_its_line(
    tmp_path: Path, text: str, key: str
) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    message = refusal(tmp_path / "bad.yaml", "study.yaml_key_twice")
    assert f"key {key!r}" in message
    assert 'in "bad.yaml", line 3, column' in message


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: " + "9" * 5000, "study.yaml_long"),
        ("a: 0x" + "f" * 5000, "study.yaml_long"),
        ("a: " + "x" * (MOST_CHARACTERS + 1), "study.yaml_long"),
        ("a: [" + "1," * (MOST_VALUES + 9) + "]", "study.yaml_large"),
        ("- a", "study.no_mapping"),
        ("text", "study.no_mapping"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_plain_mapping_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    assert refusal(tmp_path / "bad.yaml", fault)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 2024-13-45", "month must be in 1..12"),
        ("a: {<<: 3}", "expected a mapping or list of mappings for merging"),
        ("? [a]\n: 1", "found unhashable key"),
        ("a:\n\t- x", "cannot start any token"),
        ("a: x\0", "not allowed"),
        ("a: *b", "undefined alias"),
    ],
    ids=lambda value: str(value)[:20].replace("\0", ""),
)
def test_what_yaml_does_not_know_is_refused_in_its_own_words(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    assert message in refusal(tmp_path / "bad.yaml")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: \xff\xfe", "codec can't decode"),
        ("a: é".encode("latin-1"), "codec can't decode"),
        ("a: 1".encode("utf-16"), "codec can't decode"),
        (b"#" * (MOST_BYTES + 1), f"larger than {MOST_BYTES} bytes"),
    ],
    ids=["no text", "latin-1", "utf-16", "huge"],
)
def test_what_is_no_text_of_ordinary_size_is_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "bad.yaml").write_bytes(content)
    assert message in refusal(tmp_path / "bad.yaml")


def test_a_sparse_file_of_gigabytes_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "bad.yaml").open("wb") as file:
        file.truncate(2**33)
    assert "larger than" in refusal(tmp_path / "bad.yaml")


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "loop", "nothing"])
def test_what_is_no_file_is_refused_without_waiting_for_it(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "bad.yaml"
    make = {
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
        "device": lambda: path.symlink_to("/dev/zero"),
        "loop": lambda: path.symlink_to(path),
    }
    make.get(kind, lambda: None)()
    assert refusal(path, "study.absent" if kind == "nothing" else "study.not_yaml")


def check(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the check of studies in the root of the project."""
    command = [sys.executable, "-m", "nlobayes.study", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_study_of_a_stranger_is_checked_without_running_it(tmp_path: Path) -> None:
    good, bad, worse = (tmp_path / f"{name}.yaml" for name in ("good", "bad", "worse"))
    good.write_text("targets: [ci]\nseeds: [1, 2]\n")
    bad.write_text("targets: [nope]\n")
    worse.write_text(f"a: !!python/object/apply:os.system ['touch {tmp_path / 'hacked'}']\n")
    done = check(good)
    assert (done.returncode, done.stdout) == (0, f"{good}: a valid study of 2 runs\n")
    for path, message in ((bad, "unknown name 'nope'"), (worse, "tags are not read")):
        done = check(good, path)
        assert done.returncode == 2
        assert done.stderr.startswith("nlobayes: error: ")
        assert done.stderr.count("\n") == 1
        assert message in done.stderr
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"until": ' * 9999, "json_invalid"),
        ('{"until": ' + "[" * 9999 + "]" * 9999 + "}", "json_invalid"),
        ('{"until": {"ess": ' + "9" * 5000 + "}}", "json_invalid"),
        ('{"until": {}, "until": {}}', "study.json_key_twice"),
        ('{"until": {"rhat_max": 1.1, "rhat_max": 9}}', "study.json_key_twice"),
        ('{"until": {"rhat_max": NaN}}', "finite_number"),
        ('{"until": {"rhat_max": 1e999}}', "finite_number"),
        ('{"until": {}, "__class__": "x"}', "study.unknown_key"),
        ("{}\0", "json_invalid"),
    ],
    ids=lambda value: str(value)[:30].replace("\0", ""),
)
def test_specifications_that_lie_are_refused(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "spec.json"
    path.write_text(text)
    for spec in (text, str(path)):
        with refused(fault, where="CheckConvergenceJob specification") as caught:
            read_job(CheckConvergenceJob, spec)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 2000


@pytest.mark.parametrize(
    "content",
    [json.dumps({"until": {}}).encode("utf-16"), pickle.dumps({"until": {}}), b"\xff"],
    ids=["utf-16", "pickle", "no text"],
)
def test_a_specification_that_is_no_text_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "spec.json").write_bytes(content)
    with refused("study.no_spec", where="--spec", path=tmp_path / "spec.json"):
        read_job(CheckConvergenceJob, str(tmp_path / "spec.json"))


def test_a_specification_that_is_no_file_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe", Path("/dev/zero"), Path("x" * 5000)):
        with refused("study.no_spec", where="--spec", path=place):
            read_job(CheckConvergenceJob, str(place))
