"""Settings of a program of the user: how it is called, and where its result is."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from nlobayes.errors import InputError
from nlobayes.exchange.fields import check_fields, fields_of
from nlobayes.exchange.inputs import Input
from nlobayes.exchange.outputs import Output
from nlobayes.settings.user_files import GivenPath
from nlobayes.settings.values import Frozen, Positive, PositiveInt
from nlobayes.study.process import Text
from nlobayes.study.refusal import refusal
from nlobayes.study.yaml_files import read_yaml
from nlobayes.untyped import Document

INPUT = "input"
"""Field of a command that stands for the path of the input file."""


class ProgramFile(Frozen):
    """A file or a folder of the user that a program needs."""

    path: GivenPath
    """Path, relative to the working directory."""
    sha256: str = ""
    """Digest of its content: computed if it is not given, checked if it is."""

    @model_validator(mode="before")
    @classmethod
    def _digest(cls, value: Any) -> Any:
        value = {"path": value} if isinstance(value, str) else value
        if not isinstance(value, dict) or not isinstance(value.get("path"), str):
            return value
        path, given = Path(value["path"]), value.get("sha256")
        if not path.exists():
            raise InputError("study.no_file", file=value["path"])
        found = _digest_of(path)
        if given and given != found:
            raise InputError("study.file_changed", file=str(path), found=found, planned=given)
        return {**value, "sha256": found}

    @property
    def name(self) -> str:
        """Name of the file in the folder where the program runs."""
        return Path(self.path).name


def _digest_of(path: Path) -> str:
    """Digest a file, or names and contents of all files below a folder."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    digest = hashlib.sha256()
    for each in sorted(one for one in path.rglob("*") if one.is_file()):
        digest.update(f"{each.relative_to(path).as_posix()}\0{_digest_of(each)}\0".encode())
    return digest.hexdigest()


class Program(Frozen):
    """A command that computes one number for each point.

    It runs in a fresh folder with the input file and `files`. For a container or a conda
    environment, start it with `apptainer exec` or `conda run`.
    """

    command: Annotated[tuple[str, ...], Field(min_length=1)]
    """Program and its arguments, as `[resummino, "{input}"]`. `{input}` is the input file, other
    fields, such as `{m1:.6g}`, columns of the point."""
    version: Text
    """Version of the program and of what it reads; another one computes points again."""
    input: Input | None = None
    """Input file of a point: kind `template`, `csv` or `json`. null: the command has all fields."""
    output: Output
    """Where the result is: kind `number`, `pattern`, `csv`, `json` or `xsection`."""
    files: tuple[ProgramFile, ...] = ()
    """Files and folders that the program needs, copied or linked into the folder where it runs.
    A change computes points again."""
    timeout_s: Positive = 3600.0
    """Seconds after which the program is ended, with all processes that it started."""
    attempts: PositiveInt = 2
    """Most attempts of a point if the program exceeds its time or dies by a signal."""
    most_mb: PositiveInt = 1000
    """Largest file that the program may write, in MB; at the limit it gets a signal."""

    @model_validator(mode="after")
    def _fits_together(self) -> Program:
        names = Counter([file.name for file in self.files])
        if self.input is not None:
            names[self.input.name] += 1
        for name, times in names.most_common(1):
            if times > 1:
                raise InputError("programs.same_name", where="files", name=name)
        has_input = INPUT in fields_of(" ".join(self.command))
        if has_input and self.input is None:
            raise InputError("programs.no_input_file", where="command")
        return self

    def check_columns(self, columns: tuple[str, ...]) -> None:
        """Refuse fields that are none of the columns of a point.

        Raises InputError with the key that has the field.
        """
        read = self.fields(columns)
        try:
            check_fields(" ".join(self.command), (*columns, INPUT))
        except InputError as error:
            raise error.within("command") from None
        unknown = [name for name in read if name not in (*columns, INPUT)]
        if unknown:
            raise InputError(
                "programs.no_column", where="input", field=unknown[0], columns=[*columns]
            )

    def fields(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """List what the program is told of a point that has these columns."""
        told = self.input.fields() if self.input else ()
        return (*fields_of(" ".join(self.command)), *(columns if told is None else told))

    @property
    def identity(self) -> dict[str, Any]:
        """What makes this program another one: two of equal identity share their points."""
        return {
            "command": [*self.command],
            "version": self.version,
            "input": self.input.name if self.input else None,
            "output": self.output.file,
            "files": {file.name: file.sha256 for file in self.files},
        }

    @property
    def digest(self) -> str:
        """Return the digest of the identity, the name of its folder in a store."""
        return hashlib.sha256(json.dumps(self.identity, sort_keys=True).encode()).hexdigest()


def read_program(path: Path) -> Program:
    """Read the settings of a program from a YAML file, which may be a study with one program.

    Raises InputError if the file is not YAML, a setting is refused, or a study has no or several.
    """
    given = read_yaml(path)
    try:
        return Program.model_validate(_of_study(given, path) if "datasets" in given else given)
    except ValidationError as error:
        raise refusal(error, str(path)) from None


def _of_study(study: Document, path: Path) -> Any:
    """Return the settings of the only program of a study."""
    datasets = study["datasets"] if isinstance(study["datasets"], dict) else {}
    sources = [each.get("source") for each in datasets.values() if isinstance(each, dict)]
    found = [one["program"] for one in sources if isinstance(one, dict) and "program" in one]
    if len(found) != 1:
        raise InputError("programs.not_one", where=path, programs=len(found))
    return found[0]
