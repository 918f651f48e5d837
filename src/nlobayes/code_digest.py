"""The code of a job: the modules that it uses, and a digest of their meaning.

Comments, docstrings, layout and the fields of settings do not count. From a family, such as the
kernels, a job uses only the files of the members that its specification chooses.

What was read of a file is stored in `.cache/code.json` by the digest of its content, so that the
jobs of a run do not parse the package again. A changed file has another digest and is parsed.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from nlobayes.families import members_of
from nlobayes.stages import module_of
from nlobayes.untyped import Facts

PACKAGE = Path(__file__).parent
STORE = Path(".cache/code.json")
"""What was read of files, in the folder of a project once its jobs have made one for JAX."""
STATED_IN_SPEC = ("nlobayes.settings", "nlobayes.study", "nlobayes.stages")
"""Packages without effect on the digest: their result is the specification of each job."""

CHOSEN_BY = {
    "nlobayes.data.feature_maps": "map",
    "nlobayes.data.simulators": "source",
    "nlobayes.designs": "design",
    "nlobayes.exchange.inputs": "input",
    "nlobayes.exchange.outputs": "output",
    "nlobayes.kernels": "kernel",
    "nlobayes.methods": "method",
    "nlobayes.adaptations": "warmup",
    "nlobayes.likelihoods": "likelihood",
    "nlobayes.priors": "prior",
    "nlobayes.rivals": "rival",
}
"""The key of a specification that chooses the members of each family."""

FOUND_BY_NAME = (
    "nlobayes.plots",
    "nlobayes.data.references",
    "nlobayes.evaluation.scores.classification",
    "nlobayes.evaluation.scores.regression",
    "nlobayes.distributions.laws",
    "nlobayes.evaluation.predictive.noises",
)
"""Packages whose modules are imported by name: if one is used, all of them count."""

DATA_FILES = {".mplstyle"}
"""Endings of the files that code reads from its own folder."""


def code_digest(verb: str, spec: Facts | None = None) -> str:
    """Digest the code of a command, for a job with this specification.

    Without a specification all members of every family count.
    """
    if spec is None:
        return _digest(verb, ())
    return _digest(verb, tuple((f, chosen_names(spec, key)) for f, key in CHOSEN_BY.items()))


@cache
def _digest(verb: str, chosen: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    stored = len(_store())
    digest = hashlib.sha256()
    for module in sorted(modules_of(module_of(verb), dict(chosen))):
        digest.update(f"{module}\0{_read(module).meaning}\0".encode())
        digest.update(_data_beside(_source(module)))
    if len(_store()) > stored:
        _write_store()
    return digest.hexdigest()[:16]


def chosen_names(spec: Any, key: str) -> tuple[str, ...]:
    """List the values of a key in a specification, at any depth: names, or objects with a `kind`.

    A number in brackets after a name, as in `leaky_relu(0.3)`, is removed.
    """
    names: set[str] = set()
    waiting = [spec]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            given = value.get(key)
            given = given.get("kind") if isinstance(given, Mapping) else given
            named = given if isinstance(given, list | tuple) else [given]
            names |= {name.partition("(")[0] for name in named if isinstance(name, str)}
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value
    return tuple(sorted(names))


def modules_of(module: str, chosen: Mapping[str, Iterable[str]]) -> set[str]:
    """Find the modules of nlobayes that a module imports, itself included, without importing them.

    If it imports a family, the `chosen` members of the family count, or all if none are given.
    """
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found or name.startswith(STATED_IN_SPEC):
            continue
        found.add(name)
        waiting += filter(_is_ours, _read(name).imports)
        if name in CHOSEN_BY or name in FOUND_BY_NAME:
            members = [f"{name}.{member}" for member in members_of(_source(name).parent)]
            waiting += (one for one in members if name not in chosen or _is_of(one, chosen[name]))
    return found


def _is_of(member: str, kinds: Iterable[str]) -> bool:
    """Return whether a file defines one of these kinds: by its name, or by the key `kind`."""
    return not {member.rpartition(".")[2], *_read(member).kinds}.isdisjoint(kinds)


class _Module(NamedTuple):
    """Imports of a module, the kinds of its settings, and a digest of its syntax tree."""

    imports: tuple[str, ...]
    kinds: frozenset[str]
    meaning: str


@cache
def _read(name: str) -> _Module:
    content = _source(name).read_bytes()
    key = hashlib.sha256(_reader() + content).hexdigest()
    if key not in _store():
        _store()[key] = _parsed(content)
    return _store()[key]


@cache
def _reader() -> bytes:
    """Return what parses: this file, and the version of Python."""
    return Path(__file__).read_bytes() + platform.python_version().encode()


@cache
def _store() -> dict[str, _Module]:
    """Read what is stored; nothing, if there is no complete file."""
    try:
        stored = json.loads(STORE.read_bytes())
        return {key: _Module(tuple(i), frozenset(k), m) for key, (i, k, m) in stored.items()}
    except (OSError, ValueError):
        return {}


def _write_store() -> None:
    """Replace the file in one step, where a folder `.cache` may be written; jobs run at once."""
    written = STORE.with_suffix(f".{os.getpid()}")
    entries = {key: (one.imports, sorted(one.kinds), one.meaning) for key, one in _store().items()}
    with suppress(OSError):
        written.write_text(json.dumps(entries))
        written.replace(STORE)


def _parsed(content: bytes) -> _Module:
    tree = ast.parse(content)
    imports: list[str] = []
    kinds: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, _WITH_DOCSTRING):
            node.body = [statement for statement in node.body if not _is_text(statement)]
            if isinstance(node, ast.ClassDef) and (own := _kinds_of(node)):
                kinds |= own
                node.body = [each for each in node.body if not _is_field(each)]
    meaning = hashlib.sha256(ast.dump(tree).encode()).hexdigest()
    return _Module(tuple(imports), frozenset(kinds), meaning)


def _kinds_of(settings: ast.ClassDef) -> set[str]:
    """Return the values of `kind: Literal[...]` in a class; none if it is not one of settings."""
    return {
        part.value
        for line in settings.body
        if isinstance(line, ast.AnnAssign) and ast.unparse(line.target) == "kind"
        for part in ast.walk(line.annotation)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }


def _is_field(line: ast.stmt) -> bool:
    """Return whether a line defines a setting, whose value a specification states."""
    return isinstance(line, ast.AnnAssign) and "ClassVar" not in ast.unparse(line.annotation)


_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is a docstring, also one below an attribute."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


@cache
def _data_beside(source: Path) -> bytes:
    files = sorted(path for path in source.parent.iterdir() if path.suffix in DATA_FILES)
    return b"".join(path.read_bytes() for path in files)


@cache
def _is_ours(name: str) -> bool:
    return name.split(".")[0] == "nlobayes" and _source(name).exists()


@cache
def _source(name: str) -> Path:
    path = PACKAGE.joinpath(*name.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
