"""Surrogates of strangers, crafted and sealed again: one line of refusal, or a right prediction."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from nlobayes.artifacts.audit.inspection import inspect
from nlobayes.artifacts.contents import write_surrogate
from nlobayes.artifacts.seals import seal
from nlobayes.commands.audit.show import show
from nlobayes.commands.tools.predict import predict
from nlobayes.errors import InputError
from nlobayes.surrogate.surrogate import Surrogate
from tests.unit.surrogate.conftest import DRAWS, dataset, exported

Edit = Callable[[h5py.File], Any]
POINTS = "m1:GeV,n11,n12,n13,n14\n300,0.1,0.2,0.8,0.5\n"
NAN, INF = float("nan"), float("inf")
ESCAPE = "\x1b]0;PWNED\x07"
FORGED = f"x{ESCAPE}\nnlobayes: all is well \u202egnp"
CHECK = {"value": 1.0, "threshold": 2.0, "passed": False}
EDGES = [*np.linspace(-2, 2, 50).tolist()]
DEEP = "[" * 100_000


def fact(place: str, value: Any) -> Edit:
    """Set a fact, by its place within those that are JSON."""
    name, *inner = place.split(".")

    def edit(file: h5py.File) -> None:
        stored = file.attrs.get(name, b"{}").decode()
        content = json.loads(stored) if inner else value
        found = content
        for step in inner[:-1]:
            found = found[step]
        if inner:
            found[inner[-1]] = value
        text = content if isinstance(content, str) else json.dumps(content)
        file.attrs[name] = np.bytes_(text.encode())

    return edit


def without(place: str) -> Edit:
    """Remove a fact, or a key of one."""
    name, *inner = place.split(".")

    def edit(file: h5py.File) -> None:
        content = json.loads(file.attrs[name].decode()) if inner else {}
        del file.attrs[name]
        if inner:
            del content[inner[0]]
            file.attrs[name] = np.bytes_(json.dumps(content).encode())

    return edit


def values(place: str, change: Callable[[np.ndarray], Any], **how: Any) -> Edit:
    """Put other values in the place of an array."""

    def edit(file: h5py.File) -> None:
        changed = change(file[place][()])
        del file[place]
        file.create_dataset(place, data=changed, **how)

    return edit


def poked(place: str, value: float) -> Edit:
    """Change the first number of an array."""

    def edit(file: h5py.File) -> None:
        file[place][(0,) * file[place].ndim] = value

    return edit


def instead(place: str, make: Callable[[h5py.File, str], Any]) -> Edit:
    """Put something else in the place of an array."""

    def edit(file: h5py.File) -> None:
        del file[place]
        make(file, place)

    return edit


def external(target: str) -> Callable[[h5py.File, str], Any]:
    def make(file: h5py.File, place: str) -> None:
        file.create_dataset(place, (5,), "f8", external=[(target, 0, 40)])

    return make


def virtual(file: h5py.File, place: str) -> None:
    layout = h5py.VirtualLayout((5,), "f8")
    layout[:] = h5py.VirtualSource("/etc/passwd", "values", (5,))
    file.create_virtual_dataset(place, layout)


def linked(link: Any) -> Callable[[h5py.File, str], Any]:
    def make(file: h5py.File, place: str) -> None:
        file[place] = link

    return make


def set_link(place: str, target: str) -> Edit:
    """Link a place to another by a hard link."""

    def edit(file: h5py.File) -> None:
        file[place] = file[target]

    return edit


def deep_groups(file: h5py.File) -> None:
    group = file
    for _ in range(300):
        group = group.create_group("in")


def wide_groups(file: h5py.File) -> None:
    for number in range(4200):
        file.create_group(f"group_{number}")


def many_attributes(file: h5py.File) -> None:
    file.attrs["several"] = np.array(["x" * 100] * 50, dtype=h5py.string_dtype())


def attribute(place: str, name: str, value: Any) -> Edit:
    def edit(file: h5py.File) -> None:
        file[place].attrs[name] = value

    return edit


def reversed_(found: np.ndarray) -> np.ndarray:
    return found[..., ::-1].copy()


def noise_of(bins: int, edges: list[float], about: str = "mean") -> Edit:
    def edit(file: h5py.File) -> None:
        fact("noise.edges", edges)(file)
        fact("noise.about", about)(file)
        fact("noise.sd_per_scale", [1.0] * bins)(file)
        values("noise/probability", lambda found: np.repeat(found[:1], bins, axis=0))(file)

    return edit


WEIGHTS, LAST = "posterior/weights_1", "posterior/weights_3"
STRUCTURE: dict[str, tuple[Edit, str]] = {
    "values of another file": (
        instead("domain/typical", external("/etc/passwd")),
        "lie in another file",
    ),
    "values of a device": (instead("domain/typical", external("/dev/zero")), "in another file"),
    "values of a relative path": (instead("domain/typical", external("x")), "in another file"),
    "virtual values": (instead("domain/typical", virtual), "made of other arrays"),
    "link to a file": (
        instead("domain/typical", linked(h5py.ExternalLink("/etc/passwd", "/"))),
        "link to elsewhere",
    ),
    "group in a file": (
        instead("noise", linked(h5py.ExternalLink("other.nc", "/noise"))),
        "link to elsewhere",
    ),
    "soft link": (
        instead("domain/typical", linked(h5py.SoftLink("/domain/input"))),
        "link to elsewhere",
    ),
    "dangling link": (instead("domain/typical", linked(h5py.SoftLink("/no"))), "link to elsewhere"),
    "soft link to the root": (lambda f: linked(h5py.SoftLink("/"))(f, "domain/up"), "link"),
    "soft link to itself": (lambda f: linked(h5py.SoftLink("/me"))(f, "me"), "link to elsewhere"),
    "group within its own": (set_link("domain/up", "domain"), "linked to twice"),
    "root within a group": (set_link("domain/up", "/"), "linked to twice"),
    "root within itself": (set_link("up", "/"), "linked to twice"),
    "group of two names": (set_link("domain2", "domain"), "linked to twice"),
    "array of two names": (set_link("domain/again", "domain/typical"), "linked to twice"),
    "groups within groups": (deep_groups, "is no array"),
    "thousands of groups": (wide_groups, "more than 4096"),
    "array at the root": (lambda f: f.create_dataset("odd", data=[1.0]), "no group below the root"),
    "stored type": (lambda f: f.__setitem__("domain/odd", np.dtype("f8")), "is no array"),
    "zeros, packed": (values(WEIGHTS, np.zeros_like, compression="gzip"), "stored in chunks"),
    "zeros, never written": (
        lambda f: f.create_dataset("domain/odd", (10**12,), "f8", chunks=(1024,)),
        "stored in chunks",
    ),
    "more than the file has": (
        lambda f: f.create_dataset("domain/odd", (10**12,), "f8"),
        "claims more bytes than it has",
    ),
    "values of any length": (
        lambda f: f.create_dataset("domain/odd", (1,), h5py.vlen_dtype(np.int64)),
        "neither numbers nor text",
    ),
    "pairs": (
        lambda f: f.create_dataset("domain/odd", (1,), np.dtype([("x", "f8"), ("y", "i4")])),
        "neither numbers nor text",
    ),
    "references": (
        lambda f: f.create_dataset("domain/odd", (1,), h5py.ref_dtype),
        "neither numbers nor text",
    ),
    "opaque bytes": (
        lambda f: f.create_dataset("domain/odd", (1,), np.dtype("V8")),
        "neither numbers nor text",
    ),
    "other byte order": (values(WEIGHTS, lambda v: v.astype(">f4")), "neither numbers nor text"),
    "half precision": (values(WEIGHTS, lambda v: v.astype("f2")), "neither numbers nor text"),
    "several texts in an attribute": (many_attributes, "holds several texts"),
    "scale_factor": (attribute(WEIGHTS, "scale_factor", 1e300), "attribute 'scale_factor'"),
    "scale_factor of text": (attribute(WEIGHTS, "scale_factor", "big"), "'scale_factor'"),
    "add_offset": (attribute("noise/residual", "add_offset", 3.0), "attribute 'add_offset'"),
    "missing_value": (attribute(WEIGHTS, "missing_value", 0.0), "attribute 'missing_value'"),
}
"""What no artifact is like: refused before any library reads on, by `verify` too."""

SCHEMA: dict[str, tuple[Edit, str]] = {
    **{
        f"{name} of another type": (fact(name, "odd"), name)
        for name in ("transforms", "columns", "verdict", "noise", "domain", "units", "activation")
    },
    **{
        f"{name} missing": (without(name), f"lacks {name}")
        for name in ("target", "units", "bibtex", "noise.scale", "domain.edge")
    },
    "no JSON": (fact("verdict", "{"), "Expecting property name"),
    "deep JSON": (fact("spec", DEEP), "recursion"),
    "array for activation": (lambda f: f.attrs.create("activation", [1, 2]), "activation"),
    "array for columns": (lambda f: f.attrs.create("columns", [1.0, 2.0]), "columns"),
    "seven columns": (fact("columns", [*"abcdefg"]), "columns, limits and typical"),
    "equal columns": (fact("columns", ["m1", "m1", "n12", "n13", "n14"]), "different names"),
    "column that does not print": (
        fact("columns", ["m1\n", "n11", "n12", "n13", "n14"]),
        "different names that print",
    ),
    "target with escapes": (fact("target", ESCAPE), "target is '"),
    "target of 10^5 characters": (fact("target", "x" * 100_000), "target is 'xxx"),
    "unit of a number": (fact("units.m1", 3), "units is"),
    "verdict without calibration": (without("verdict.calibration"), "lacks verdict.calibration"),
    "check without passed": (fact("verdict.convergence", {"rhat": {"value": 1}}), "`passed`"),
    "check of text": (fact("verdict.convergence", {"rhat": "fine"}), "verdict.convergence"),
    "verdict of text": (fact("verdict.converged", "yes"), "must be true, false or null"),
    "unknown activation": (fact("activation", "evil"), "activation is 'evil', must be one of"),
    "activations too many": (fact("activation", ["tanh"] * 9), "a whole network"),
    "unknown map": (fact("transforms.features.map", "evil"), "must be one of invariants"),
    "map of other columns": (fact("transforms.features.map", "pair_invariants"), "feature map"),
    "unknown target scale": (fact("transforms.target.scale", "evil"), "must be one of log10"),
    "classes": (fact("transforms.target.scale", "classes"), "must be one of log10"),
    "labels": (fact("transforms.target.labels", [0, 1]), "labels"),
    "target sd of text": (fact("transforms.target.sd", "1"), "transforms.target.sd is '1'"),
    "target sd negative": (fact("transforms.target.sd", -1), "must be a finite number above 0"),
    "target sd zero": (fact("transforms.target.sd", 0.0), "must be a finite number above 0"),
    "target sd true": (fact("transforms.target.sd", True), "must be a finite number above 0"),
    "target mean vast": (fact("transforms.target.mean", 10**400), "must be a finite number"),
    "feature scale zero": (fact("transforms.features.scale", [0.0] * 5), "above 0"),
    "features too few": (fact("transforms.features.mean", [0.0] * 4), "gives the features"),
    "noise about evil": (fact("noise.about", "evil"), "must be one of draws, mean"),
    "noise scale negative": (fact("noise.scale", -0.1), "noise.scale is -0.1"),
    "noise scale NaN": (fact("noise.scale", NAN), "noise.scale is nan"),
    "noise scale infinite": (fact("noise.scale", INF), "noise.scale is inf"),
    "noise exponent NaN": (fact("noise.exponent", NAN), "noise.exponent is nan"),
    "noise reference zero": (fact("noise.reference_sd", 0), "noise.reference_sd is 0"),
    "noise column 99": (fact("noise.column", 99), "column is one of the features"),
    "noise column negative": (fact("noise.column", -1), "noise.column is -1"),
    "noise column of a fraction": (fact("noise.column", 0.5), "noise.column is 0.5"),
    "noise sd negative": (fact("noise.sd_per_scale", [-1.0]), "noise.sd_per_scale is [-1.0]"),
    "noise sd of more bins": (fact("noise.sd_per_scale", [1.0, 1.0]), "the same bins"),
    "noise edges of one bin": (fact("noise.edges", EDGES), "the same bins"),
    "noise bins about draws": (noise_of(51, EDGES, "draws"), "the same bins"),
    "noise edges reversed": (noise_of(51, EDGES[::-1]), "finite numbers that rise"),
    "noise edges equal": (noise_of(3, [1.0, 1.0]), "finite numbers that rise"),
    "noise knots reversed": (fact("noise.knots", [[1.0, -1.0]]), "finite numbers that rise"),
    "noise coefficients missing": (fact("noise.coefficients", [[1.0]]), "has its coefficient"),
    "noise lines too many": (
        lambda f: (fact("noise.knots", [[0.0]] * 9)(f), fact("noise.coefficients", [[0.0]] * 9)(f)),
        "at most a line for each feature",
    ),
    "noise of another word": (fact("noise.evil", 1), "noise has 'evil', known are"),
    "domain of another word": (fact("domain.evil", 1), "domain has 'evil', known are"),
    "domain edge NaN": (fact("domain.edge", NAN), "domain.edge is nan"),
    "domain edge below inside": (fact("domain.edge", 1e-9), "inside is at most edge"),
    "domain inside vast": (fact("domain.inside", 1e300), "domain.inside is 1e+300"),
    "domain inside zero": (fact("domain.inside", 0), "domain.inside is 0"),
    "scores of text": (fact("scores", {"test": {"rmse": "small"}}), "scores is"),
    "weights NaN": (poked(WEIGHTS, NAN), "every array holds finite"),
    "weights infinite": (poked(LAST, INF), "every array holds finite"),
    "biases NaN": (poked("posterior/biases_1", NAN), "every array holds finite"),
    "weights whole": (values(WEIGHTS, lambda v: v.astype("i8")), "every array holds finite"),
    "weights missing": (lambda f: f.__delitem__(WEIGHTS), "a whole network"),
    "last layer missing": (lambda f: f.__delitem__(LAST), "a whole network"),
    "biases missing": (lambda f: f.__delitem__("posterior/biases_2"), "a whole network"),
    "one draw fewer": (values("posterior/biases_1", lambda v: v[:-1]), "a whole network"),
    "999 draws of one layer": (values(WEIGHTS, lambda v: np.resize(v, (999, 5, 7))), "a whole net"),
    "no draws": (values(WEIGHTS, lambda v: v[:0]), "every array holds finite"),
    "layers that do not join": (values(LAST, lambda v: np.zeros((DRAWS, 9, 1), "f4")), "a whole"),
    "two outputs": (values(LAST, lambda v: np.zeros((DRAWS, 4, 2), "f4")), "a whole network"),
    "six features": (values(WEIGHTS, lambda v: np.zeros((DRAWS, 6, 7), "f4")), "a whole network"),
    "one number in posterior": (lambda f: f.create_dataset("posterior/odd", data=1.0), "a whole"),
    "unknown array in posterior": (
        lambda f: f.create_dataset("posterior/evil_1", data=np.zeros(DRAWS)),
        "a whole network",
    ),
    "rows NaN": (poked("domain/features", NAN), "every array holds finite"),
    "rows missing": (lambda f: f.__delitem__("domain/features"), "lacks domain/features"),
    "typical in two axes": (
        values("domain/typical", lambda v: v[None]),
        "domain/typical has shape",
    ),
    "typical outside": (values("domain/typical", lambda v: v + 1e6), "typical lies within"),
    "typical not allowed": (poked("domain/typical", 0.0), "typical lies within"),
    "limits reversed": (values("domain/limits", reversed_), "typical lies within"),
    "limits of other quantities": (fact("domain.limits", {"evil": [0, 1]}), "there are limits of"),
    "limits of a mass missing": (fact("domain.limits", {}), "there are limits of each"),
    "limits of text": (fact("domain.limits", {"|m1|": "wide"}), "domain.limits is"),
    "spacing negative": (values("domain/spacing", np.negative), "spacing is above 0"),
    "spacing missing": (lambda f: f.__delitem__("domain/spacing"), "lacks domain/spacing"),
    "noise ranges reversed": (fact("noise.scale_range", [2.0, 1.0]), "noise.scale_range is"),
    "noise ranges of text": (fact("noise.spread_range", "wide"), "noise.spread_range is"),
    "origin of lists": (fact("table_metadata", {"process": [1]}), "table_metadata is"),
    "limits infinite": (values("domain/limits", lambda v: v * INF), "every array holds finite"),
    "residual not sorted": (values("noise/residual", reversed_), "residual rises"),
    "residual NaN": (poked("noise/residual", NAN), "every array holds finite"),
    "probability not sorted": (values("noise/probability", reversed_), "probability rises from 0"),
    "probability above 1": (values("noise/probability", lambda v: v * 2), "probability rises"),
    "probability to 1/2": (values("noise/probability", lambda v: v / 2), "probability rises"),
    "probability of other nodes": (values("noise/probability", lambda v: v[:, 1:]), "has shape"),
}
"""What says or holds what cannot be predicted with."""


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small surrogate that predicts."""
    path = tmp_path_factory.mktemp("honest") / "surrogate.nc"
    write_surrogate(path, exported(), dataset(), {"verb": "export", "device": "cpu", "spec": {}})
    return path


@pytest.fixture
def craft(honest: Path, tmp_path: Path) -> Callable[[Edit], Path]:
    """Edit a copy, and seal it again."""

    def craft_(edit: Edit) -> Path:
        path = tmp_path / "crafted.nc"
        shutil.copy(honest, path)
        with h5py.File(path, "r+") as file:
            edit(file)
        seal(path)
        return path

    return craft_


def refusals(path: Path) -> list[str]:
    """Say how a file is refused: loaded, predicted with, and shown."""
    points = path.with_name("points.csv")
    points.write_text(POINTS)
    said = []
    for use in (
        lambda: Surrogate.load(path),
        lambda: predict(path, str(points), str(path.with_name("out.csv"))),
        lambda: show(path),
    ):
        with pytest.raises(InputError) as caught:
            use()
        said.append(str(caught.value))
    assert not path.with_name("out.csv").exists()
    return said


def test_the_honest_one_predicts(craft: Callable[[Edit], Path]) -> None:
    """An edit that changes nothing spoils nothing."""
    path = craft(lambda file: None)
    assert np.isfinite(Surrogate.load(path).predict([[300, 0.1, 0.2, 0.8, 0.5]]).mean).all()
    assert not [said for said in inspect(path) if not said.startswith("attribute")]


@pytest.mark.parametrize("name", [*STRUCTURE, *SCHEMA])
def test_what_cannot_be_is_refused_in_one_line(craft: Callable[[Edit], Path], name: str) -> None:
    edit, why = (STRUCTURE | SCHEMA)[name]
    path = craft(edit)
    for said in refusals(path):
        assert why in said
        assert str(path) in said
        assert said.isprintable()
        assert len(said) < 1000
    problems = inspect(path)
    assert name not in STRUCTURE or any(why in problem for problem in problems)


def test_another_kind_is_no_surrogate(craft: Callable[[Edit], Path]) -> None:
    with pytest.raises(InputError, match="is an artifact of kind 'posterior', not 'surrogate'"):
        Surrogate.load(craft(fact("kind", "posterior")))


def test_there_are_as_many_as_were_tried_by_hand() -> None:
    assert len(STRUCTURE) + len(SCHEMA) > 83


def test_names_of_checks_cannot_write_to_the_terminal(
    craft: Callable[[Edit], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def edit(file: h5py.File) -> None:
        fact("verdict.convergence", {FORGED: CHECK})(file)
        for name, value in (("device", FORGED), ("checks", {FORGED: CHECK})):
            fact(name, value)(file)
        fact("spec", {FORGED: FORGED})(file)
        fact("table_metadata", {"process": FORGED})(file)
        for name in ("inputs", "versions"):
            fact(name, {FORGED: FORGED})(file)
        for name in ("code_digest", "lock_digest", "precision"):
            fact(name, FORGED)(file)

    path = craft(edit)
    (tmp_path / "points.csv").write_text(POINTS)
    predict(path, str(tmp_path / "points.csv"), str(tmp_path / "out.csv"))
    warned = capsys.readouterr().err
    assert warned.count("PWNED") == 2
    assert warned.count("\nnlobayes: warning: ") == warned.count("\n") - 1
    show(path)
    shown = capsys.readouterr().out
    assert "PWNED" in shown
    for text in (warned, shown):
        assert all(letter.isprintable() or letter == "\n" for letter in text)


CAPPED = """
import resource, sys
from pathlib import Path
from nlobayes.errors import InputError
from nlobayes.surrogate.surrogate import Surrogate
resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
used = resource.getrusage(resource.RUSAGE_SELF)
resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime) + 20,) * 2)
for path in map(Path, sys.argv[1:]):
    try:
        Surrogate.load(path)
    except InputError as error:
        print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used.ru_maxrss)
"""


def heap_bomb(path: Path) -> None:
    """Let 200 000 texts share one place of 1 MB."""
    with h5py.File(path, "r+") as file:
        texts = file.create_dataset("domain/odd", (200_000,), h5py.string_dtype())
        texts[0] = "x" * 10**6
        start = texts.id.get_offset()
    content = np.memmap(path, "u1", "r+")
    places = content[start : start + 16 * 200_000].reshape(-1, 16)
    places[1:] = places[0]
    content.flush()


def test_bombs_and_pipes_cost_neither_memory_nor_time(honest: Path, tmp_path: Path) -> None:
    """100 MB and 20 CPU s for all: a text bomb, cycles, and values in a pipe."""
    os.mkfifo(tmp_path / "pipe")
    edits: dict[str, Edit] = {
        "cycle": lambda file: [set_link(f"domain/up{n}", "/")(file) for n in range(20)],
        "soft": lambda file: [linked(h5py.SoftLink("/"))(file, f"noise/{n}") for n in range(20)],
        "pipe": instead("domain/typical", external(str(tmp_path / "pipe"))),
    }
    paths = {name: tmp_path / f"{name}.nc" for name in [*edits, "heap"]}
    for name, path in paths.items():
        shutil.copy(honest, path)
        if name == "heap":
            heap_bomb(path)
        else:
            with h5py.File(path, "r+") as file:
                edits[name](file)
        seal(path)
    done = subprocess.run(
        [sys.executable, "-c", CAPPED, *paths.values()],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    *lines, grown = done.stdout.splitlines()
    assert int(grown) < 100_000
    said = dict(zip(paths, lines, strict=True))
    assert "linked to twice" in said["cycle"]
    assert "link to elsewhere" in said["soft"]
    assert "lie in another file" in said["pipe"]
    assert "claims more bytes than it has" in said["heap"]


def test_a_pipe_in_the_place_of_a_surrogate_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s.nc")
    for path in (tmp_path / "s.nc", Path("/dev/zero"), tmp_path):
        with pytest.raises(InputError, match="it is no file"):
            Surrogate.load(path)
