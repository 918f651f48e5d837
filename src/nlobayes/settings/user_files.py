"""Files and functions of the user that presets name: hashed at planning, checked by every job."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import AfterValidator, field_validator, model_validator

from nlobayes.errors import InputError
from nlobayes.settings.values import Frozen


def stays_inside(path: str) -> str:
    """Refuse a path that is empty, leaves its folder or is not printable."""
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts:
        raise InputError("study.path_climbs", path=path)
    if not path.isprintable():
        raise InputError("study.path_not_printable", path=path)
    return path


GivenPath = Annotated[str, AfterValidator(stays_inside)]


def check_place(file: str, suffix: str) -> str:
    """Refuse a file outside the project, or with another suffix."""
    path = Path(file)
    if path.suffix != suffix or path.is_absolute() or ".." in path.parts:
        raise InputError("study.file_outside", file=file, suffix=suffix)
    return file


def pin(value: Any, *, needed: bool = True) -> Any:
    """Compute `sha256` of the `file` of a preset, or check it if it is given.

    If the file is not `needed` yet and does not exist, `sha256` stays empty.
    """
    if not isinstance(value, dict) or not isinstance(value.get("file"), str):
        return value
    path, given = Path(value["file"]), value.get("sha256")
    if not path.is_file():
        if needed or given:
            raise InputError("study.no_file", file=value["file"])
        return value
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if given and given != found:
        raise InputError("study.file_changed", file=value["file"], found=found, planned=given)
    return {**value, "sha256": found}


class Code(NamedTuple):
    """A function in a file of the user; only a file with this digest is run."""

    file: str
    function: str
    sha256: str


class OwnFunction(Frozen):
    """A function of your own in a Python file of the project."""

    FUNCTIONS: ClassVar[tuple[str, ...]] = ("function",)
    """Keys that name a function of the file."""

    file: str
    """Path of the file from the root of the project."""
    function: str
    """Name of the function."""
    settings: dict[str, float | int | str | bool] = {}
    """Keyword arguments of the function."""
    sha256: str = ""
    """Digest of the file: computed if it is not given, checked if it is."""

    @field_validator("file")
    @classmethod
    def _is_a_python_file(cls, file: str) -> str:
        return check_place(file, ".py")

    @model_validator(mode="before")
    @classmethod
    def _digest(cls, value: Any) -> Any:
        return pin(value)

    @model_validator(mode="after")
    def _is_in_the_file(self) -> OwnFunction:
        for code in self.codes.values():
            check_defined(code)
        return self

    @property
    def codes(self) -> Mapping[str, Code]:
        """Functions of the file, by the keys that name them."""
        return {
            key: Code(self.file, getattr(self, key), self.sha256) for key in type(self).FUNCTIONS
        }


def check_defined(code: Code) -> None:
    """Refuse a file that is not Python or defines no such name; the file is parsed, not run.

    Raises InputError if it is not Python, or does not define the name.
    """
    try:
        tree = ast.parse(Path(code.file).read_bytes())
    except (SyntaxError, ValueError) as error:
        raise InputError("study.not_python", file=code.file, reason=str(error)) from None
    names = {*_bound(tree)}
    if code.function not in names and "*" not in names:
        functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        raise InputError(
            "study.no_function", file=code.file, function=code.function, functions=functions
        )


def _bound(tree: ast.AST) -> list[str]:
    """List all names that a file binds, which include those of its functions."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names += [alias.asname or alias.name for alias in node.names]
    return names
