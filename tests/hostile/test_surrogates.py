"""Surrogates of strangers, crafted and sealed again: one line of refusal, or a right prediction."""

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

from nlobayes.artifacts.audit.file_damage import inspect
from nlobayes.artifacts.contents import write_surrogate
from nlobayes.artifacts.seals import seal
from nlobayes.commands.audit.show import show
from nlobayes.commands.tools.predict import predict
from nlobayes.errors import InputError
from nlobayes.surrogate.surrogate import Surrogate
from tests.refusals import refused
from tests.unit.surrogate.conftest import DRAWS, dataset, make_exported

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


def odd(*given: Any, **how: Any) -> Edit:
    """Add an array that no surrogate has."""
    return lambda file: file.create_dataset("domain/odd", *given, **how)


def reversed_(found: np.ndarray) -> np.ndarray:
    return found[..., ::-1].copy()


def noise_of(bins: int, edges: list[float], about: str = "mean") -> Edit:
    def edit(file: h5py.File) -> None:
        fact("noise.edges", edges)(file)
        fact("noise.about", about)(file)
        fact("noise.sd_per_scale", [1.0] * bins)(file)
        values("noise/probability", lambda found: np.repeat(found[:1], bins, axis=0))(file)

    return edit


LINK = "artifacts.link_elsewhere"
TWICE = "artifacts.linked_twice"
ELSEWHERE = "artifacts.values_elsewhere"
PACKED = "artifacts.packed_array"
OBJECT = "artifacts.no_plain_object"
OTHER = "artifacts.other_values"
PACKING = "artifacts.packing_attribute"
FACT = "surrogate.other_fact"
LACKS = "surrogate.no_fact"
WHOLE = "surrogate.not_whole"
COMPONENTS = "transforms.features.components"
SHAPE = "artifacts.other_shape"
ARRAY = "artifacts.no_array"
UNKNOWN = "surrogate.unknown_fact"

WEIGHTS, LAST = "posterior/weights_1", "posterior/weights_3"
TYPICAL, ODD = "domain/typical", "domain/odd"
STRUCTURE: dict[str, tuple[Edit, str, str]] = {
    "values of another file": (instead(TYPICAL, external("/etc/passwd")), ELSEWHERE, TYPICAL),
    "values of a device": (instead(TYPICAL, external("/dev/zero")), ELSEWHERE, TYPICAL),
    "values of a relative path": (instead(TYPICAL, external("x")), ELSEWHERE, TYPICAL),
    "virtual values": (instead(TYPICAL, virtual), PACKED, TYPICAL),
    "link to a file": (
        instead(TYPICAL, linked(h5py.ExternalLink("/etc/passwd", "/"))),
        LINK,
        TYPICAL,
    ),
    "group in a file": (
        instead("noise", linked(h5py.ExternalLink("other.nc", "/noise"))),
        LINK,
        "noise",
    ),
    "soft link": (instead(TYPICAL, linked(h5py.SoftLink("/domain/input"))), LINK, TYPICAL),
    "dangling link": (instead(TYPICAL, linked(h5py.SoftLink("/no"))), LINK, TYPICAL),
    "soft link to the root": (
        lambda f: linked(h5py.SoftLink("/"))(f, "domain/up"),
        LINK,
        "domain/up",
    ),
    "soft link to itself": (lambda f: linked(h5py.SoftLink("/me"))(f, "me"), LINK, "me"),
    "group within its own": (set_link("domain/up", "domain"), TWICE, "domain/up"),
    "root within a group": (set_link("domain/up", "/"), TWICE, "domain/up"),
    "root within itself": (set_link("up", "/"), TWICE, "up"),
    "group of two names": (set_link("domain2", "domain"), TWICE, "domain2"),
    "array of two names": (set_link("domain/again", TYPICAL), TWICE, TYPICAL),
    "groups within groups": (deep_groups, OBJECT, "in/in"),
    "thousands of groups": (wide_groups, "artifacts.too_many_objects", "4096"),
    "array at the root": (lambda f: f.create_dataset("odd", data=[1.0]), OBJECT, "odd"),
    "stored type": (lambda f: f.__setitem__(ODD, np.dtype("f8")), OBJECT, ODD),
    "zeros, packed": (values(WEIGHTS, np.zeros_like, compression="gzip"), PACKED, WEIGHTS),
    "zeros, never written": (odd((10**12,), "f8", chunks=(1024,)), PACKED, ODD),
    "more than the file has": (odd((10**12,), "f8"), "artifacts.claims_too_much", ODD),
    "values of any length": (odd((1,), h5py.vlen_dtype(np.int64)), OTHER, ODD),
    "pairs": (odd((1,), np.dtype([("x", "f8"), ("y", "i4")])), OTHER, ODD),
    "references": (odd((1,), h5py.ref_dtype), OTHER, ODD),
    "opaque bytes": (odd((1,), np.dtype("V8")), OTHER, ODD),
    "other byte order": (values(WEIGHTS, lambda v: v.astype(">f4")), OTHER, WEIGHTS),
    "half precision": (values(WEIGHTS, lambda v: v.astype("f2")), OTHER, WEIGHTS),
    "several texts in an attribute": (many_attributes, "artifacts.several_texts", "several"),
    "scale_factor": (attribute(WEIGHTS, "scale_factor", 1e300), PACKING, "scale_factor"),
    "scale_factor of text": (attribute(WEIGHTS, "scale_factor", "big"), PACKING, "scale_factor"),
    "add_offset": (attribute("noise/residual", "add_offset", 3.0), PACKING, "add_offset"),
    "missing_value": (attribute(WEIGHTS, "missing_value", 0.0), PACKING, "missing_value"),
}
"""What no artifact is like: refused before any library reads on, by `verify` too.

Each is an edit, the code of its refusal, and a word of one of its fields.
"""

WRONG: dict[str, tuple[str, Any]] = {
    "equal columns": ("columns", ["m1", "m1", "n12", "n13", "n14"]),
    "column that does not print": ("columns", ["m1\n", "n11", "n12", "n13", "n14"]),
    "target with escapes": ("target", ESCAPE),
    "target of 10^5 characters": ("target", "x" * 100_000),
    "check without passed": ("verdict.convergence", {"rhat": {"value": 1}}),
    "check of text": ("verdict.convergence", {"rhat": "fine"}),
    "verdict of text": ("verdict.converged", "yes"),
    "unknown activation": ("activation", "evil"),
    "unknown map": ("transforms.features.map", "evil"),
    "components of text": (COMPONENTS, [["a"] * 5] * 5),
    "components as one list": (COMPONENTS, [1.0] * 5),
    "components beyond numbers": (COMPONENTS, [[NAN] * 5] * 5),
    "unknown target scale": ("transforms.target.scale", "evil"),
    "classes": ("transforms.target.scale", "classes"),
    "labels": ("transforms.target.labels", [0, 1]),
    "target sd of text": ("transforms.target.sd", "1"),
    "target sd negative": ("transforms.target.sd", -1),
    "target sd zero": ("transforms.target.sd", 0.0),
    "target sd true": ("transforms.target.sd", True),
    "target mean vast": ("transforms.target.mean", 10**400),
    "feature scale zero": ("transforms.features.scale", [0.0] * 5),
    "noise about evil": ("noise.about", "evil"),
    "noise scale negative": ("noise.scale", -0.1),
    "noise scale NaN": ("noise.scale", NAN),
    "noise scale infinite": ("noise.scale", INF),
    "noise exponent NaN": ("noise.exponent", NAN),
    "noise reference zero": ("noise.reference_sd", 0),
    "noise column negative": ("noise.column", -1),
    "noise column of a fraction": ("noise.column", 0.5),
    "noise sd negative": ("noise.sd_per_scale", [-1.0]),
    "noise knots reversed": ("noise.knots", [[1.0, -1.0]]),
    "domain edge NaN": ("domain.edge", NAN),
    "domain inside vast": ("domain.inside", 1e300),
    "domain inside zero": ("domain.inside", 0),
    "scores of text": ("scores", {"test": {"rmse": "small"}}),
    "limits of text": ("domain.limits", {"|m1|": "wide"}),
    "noise ranges reversed": ("noise.scale_range", [2.0, 1.0]),
    "noise ranges of text": ("noise.spread_range", "wide"),
    "origin of lists": ("table_metadata", {"process": [1]}),
}
"""A fact by its place, and a value that it cannot have."""

SCHEMA: dict[str, tuple[Edit, str, str]] = {
    **{name: (fact(place, value), FACT, place) for name, (place, value) in WRONG.items()},
    **{
        f"{name} of another type": (fact(name, "odd"), LACKS, name)
        for name in ("transforms", "verdict", "noise", "domain")
    },
    **{
        f"{name} of another type": (fact(name, "odd"), FACT, name)
        for name in ("columns", "units", "activation")
    },
    **{
        f"{name} missing": (without(name), LACKS, name)
        for name in ("target", "units", "bibtex", "noise.scale", "domain.edge")
    },
    "array for activation": (lambda f: f.attrs.create("activation", [1, 2]), FACT, "activation"),
    "array for columns": (lambda f: f.attrs.create("columns", [1.0, 2.0]), FACT, "columns"),
    "seven columns": (fact("columns", [*"abcdefg"]), WHOLE, "columns, limits and typical"),
    "unit of a number": (fact("units.m1", 3), FACT, "units"),
    "verdict without calibration": (without("verdict.calibration"), LACKS, "verdict.calibration"),
    "activations too many": (fact("activation", ["tanh"] * 9), WHOLE, "a whole network"),
    "map of other columns": (
        fact("transforms.features.map", "pair_invariants"),
        WHOLE,
        "feature map",
    ),
    "components without shares": (fact(COMPONENTS, [[0.0] * 5] * 5), WHOLE, "feature map"),
    "shares without components": (
        fact("transforms.features.explained", [0.2] * 5),
        WHOLE,
        "feature map",
    ),
    "features too few": (fact("transforms.features.mean", [0.0] * 4), WHOLE, "gives the features"),
    "noise column 99": (fact("noise.column", 99), WHOLE, "column is one of the features"),
    "noise sd of more bins": (fact("noise.sd_per_scale", [1.0, 1.0]), WHOLE, "the same bins"),
    "noise edges of one bin": (fact("noise.edges", EDGES), WHOLE, "the same bins"),
    "noise bins about draws": (noise_of(51, EDGES, "draws"), WHOLE, "the same bins"),
    "noise edges reversed": (noise_of(51, EDGES[::-1]), FACT, "noise.edges"),
    "noise edges equal": (noise_of(3, [1.0, 1.0]), FACT, "noise.edges"),
    "noise coefficients missing": (
        fact("noise.coefficients", [[1.0]]),
        WHOLE,
        "has its coefficient",
    ),
    "noise lines too many": (
        lambda f: (fact("noise.knots", [[0.0]] * 9)(f), fact("noise.coefficients", [[0.0]] * 9)(f)),
        WHOLE,
        "at most a line for each feature",
    ),
    "noise of another word": (fact("noise.evil", 1), UNKNOWN, "noise"),
    "domain of another word": (fact("domain.evil", 1), UNKNOWN, "domain"),
    "domain edge below inside": (fact("domain.edge", 1e-9), WHOLE, "inside is at most edge"),
    "weights NaN": (poked(WEIGHTS, NAN), WHOLE, "every array holds finite"),
    "weights infinite": (poked(LAST, INF), WHOLE, "every array holds finite"),
    "biases NaN": (poked("posterior/biases_1", NAN), WHOLE, "every array holds finite"),
    "weights whole": (values(WEIGHTS, lambda v: v.astype("i8")), WHOLE, "every array holds finite"),
    "weights missing": (lambda f: f.__delitem__(WEIGHTS), WHOLE, "a whole network"),
    "last layer missing": (lambda f: f.__delitem__(LAST), WHOLE, "a whole network"),
    "biases missing": (lambda f: f.__delitem__("posterior/biases_2"), WHOLE, "a whole network"),
    "one draw fewer": (values("posterior/biases_1", lambda v: v[:-1]), WHOLE, "a whole network"),
    "999 draws of one layer": (
        values(WEIGHTS, lambda v: np.resize(v, (999, 5, 7))),
        WHOLE,
        "a whole net",
    ),
    "no draws": (values(WEIGHTS, lambda v: v[:0]), WHOLE, "every array holds finite"),
    "layers that do not join": (
        values(LAST, lambda v: np.zeros((DRAWS, 9, 1), "f4")),
        WHOLE,
        "a whole",
    ),
    "two outputs": (
        values(LAST, lambda v: np.zeros((DRAWS, 4, 2), "f4")),
        WHOLE,
        "a whole network",
    ),
    "six features": (
        values(WEIGHTS, lambda v: np.zeros((DRAWS, 6, 7), "f4")),
        WHOLE,
        "a whole network",
    ),
    "one number in posterior": (
        lambda f: f.create_dataset("posterior/odd", data=1.0),
        WHOLE,
        "a whole",
    ),
    "unknown array in posterior": (
        lambda f: f.create_dataset("posterior/evil_1", data=np.zeros(DRAWS)),
        WHOLE,
        "a whole network",
    ),
    "rows NaN": (poked("domain/features", NAN), WHOLE, "every array holds finite"),
    "rows missing": (lambda f: f.__delitem__("domain/features"), ARRAY, "domain/features"),
    "typical in two axes": (values(TYPICAL, lambda v: v[None]), SHAPE, TYPICAL),
    "typical outside": (values(TYPICAL, lambda v: v + 1e6), WHOLE, "typical lies within"),
    "typical not allowed": (poked(TYPICAL, 0.0), WHOLE, "typical lies within"),
    "limits reversed": (values("domain/limits", reversed_), WHOLE, "typical lies within"),
    "limits of other quantities": (
        fact("domain.limits", {"evil": [0, 1]}),
        WHOLE,
        "there are limits of",
    ),
    "limits of a mass missing": (fact("domain.limits", {}), WHOLE, "there are limits of each"),
    "spacing negative": (values("domain/spacing", np.negative), WHOLE, "spacing is above 0"),
    "spacing missing": (lambda f: f.__delitem__("domain/spacing"), ARRAY, "domain/spacing"),
    "limits infinite": (
        values("domain/limits", lambda v: v * INF),
        WHOLE,
        "every array holds finite",
    ),
    "residual not sorted": (values("noise/residual", reversed_), WHOLE, "residual rises"),
    "residual NaN": (poked("noise/residual", NAN), WHOLE, "every array holds finite"),
    "probability not sorted": (
        values("noise/probability", reversed_),
        WHOLE,
        "probability rises from 0",
    ),
    "probability above 1": (
        values("noise/probability", lambda v: v * 2),
        WHOLE,
        "probability rises",
    ),
    "probability to 1/2": (
        values("noise/probability", lambda v: v / 2),
        WHOLE,
        "probability rises",
    ),
    "probability of other nodes": (
        values("noise/probability", lambda v: v[:, 1:]),
        SHAPE,
        "noise/probability",
    ),
}
"""What says or holds what cannot be predicted with, as above."""


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small surrogate that predicts."""
    path = tmp_path_factory.mktemp("honest") / "surrogate.nc"
    write_surrogate(
        path, make_exported(), dataset(), {"verb": "export", "device": "cpu", "spec": {}}
    )
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


def refusals(path: Path, code: str, shown: str = "") -> list[InputError]:
    """Give the errors of a code with which a file is refused: loaded, predicted with, and shown.

    The code is `shown` in the third case, if that is given.
    """
    points = path.with_name("points.csv")
    points.write_text(POINTS)
    errors = []
    for use, expected in (
        (lambda: Surrogate.load(path), code),
        (lambda: predict(path, str(points), str(path.with_name("out.csv"))), code),
        (lambda: show(path), shown or code),
    ):
        with refused(expected) as caught:
            use()
        errors.append(caught.value)
    assert not path.with_name("out.csv").exists()
    return errors


def assert_is_one_line(error: InputError, path: Path) -> None:
    assert str(path) in str(error)
    assert str(error).isprintable()
    assert len(str(error)) < 1000


def test_the_honest_one_predicts(craft: Callable[[Edit], Path]) -> None:
    """An edit that changes nothing spoils nothing."""
    path = craft(lambda file: None)
    assert np.isfinite(Surrogate.load(path).predict([[300, 0.1, 0.2, 0.8, 0.5]]).mean).all()
    assert not [said for said in inspect(path) if not said.startswith("attribute")]


@pytest.mark.parametrize("name", [*STRUCTURE, *SCHEMA])
def test_what_cannot_be_is_refused_in_one_line(craft: Callable[[Edit], Path], name: str) -> None:
    edit, code, told = (STRUCTURE | SCHEMA)[name]
    path = craft(edit)
    errors = refusals(path, code)
    for error in errors:
        assert any(told in str(value) for value in error.fields.values())
        assert_is_one_line(error, path)
    problems = inspect(path)
    assert name not in STRUCTURE or any(errors[0].reason in problem for problem in problems)


@pytest.mark.parametrize(
    ("edit", "reason"),
    [(fact("verdict", "{"), "Expecting property name"), (fact("spec", DEEP), "recursion")],
    ids=["no JSON", "deep JSON"],
)
def test_attributes_that_are_no_json_are_refused(
    craft: Callable[[Edit], Path], edit: Edit, reason: str
) -> None:
    path = craft(edit)
    for error in refusals(path, "artifacts.attribute_no_json", shown="artifacts.not_netcdf"):
        assert reason in error.fields["reason"]
        assert_is_one_line(error, path)


def test_another_kind_is_no_surrogate(craft: Callable[[Edit], Path]) -> None:
    with refused("artifacts.no_surrogate", found="posterior", kind="surrogate"):
        Surrogate.load(craft(fact("kind", "posterior")))


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
        with refused("artifacts.unreadable_artifact", path=path) as caught:
            Surrogate.load(path)
        assert "it is no file" in caught.value.fields["reason"]
