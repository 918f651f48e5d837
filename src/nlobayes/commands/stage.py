"""Stages as commands: a function of values, run on files.

A stage is a typed function from a job, from what files hold, and from numbers to what is written.
`stage` makes a command of it: options, reading, writing and record follow from the signature.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import typer

from nlobayes import provenance, runtime
from nlobayes.artifacts.contents import read_earlier
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.errors import InputError
from nlobayes.stage_files import File, Stated
from nlobayes.stages import PIPELINE
from nlobayes.study.jobs import ModelJob
from nlobayes.study.read_jobs import read_job
from nlobayes.types import EarlierData

Command = Callable[..., None]
Chosen = Mapping[str, Any]
"""The values of the options of a command, by name."""


class Port(NamedTuple):
    """A parameter or a result of a stage that is a file, or several files."""

    file: File
    is_stated: bool
    is_list: bool
    is_optional: bool

    @property
    def kind(self) -> Any:
        """The type of its option."""
        return list[Path] if self.is_list else Path | None if self.is_optional else Path

    def read(self, chosen: Any, opened: list[Any]) -> Any:
        """Read the value of the chosen path, or of each, and add the files to those `opened`."""
        if self.is_list:
            return [self._read_one(path, opened) for path in chosen]
        return None if chosen is None else self._read_one(chosen, opened)

    def _read_one(self, path: Path, opened: list[Any]) -> Any:
        assert self.file.read is not None, path
        opened.append(open_artifact(path, self.file.kind) if self.file.kind else path)
        value = self.file.read(opened[-1])
        return Stated(value, opened[-1].attrs) if self.is_stated else value


class Compute(NamedTuple):
    """A function of values, the types of its parameters, its files, and whether it has no work."""

    function: Callable[..., Any]
    hints: Mapping[str, Any]
    files: Mapping[str, Port]
    results: Sequence[Port]
    idle: Callable[..., bool]

    def run(self, chosen: Chosen) -> None:
        """Read the files that options name, compute, and write the results with their origin."""
        verb = self.function.__name__
        given = {name: chosen[name] for name in self.hints if name in chosen}
        opened: list[Any] = []
        spec, facts = None, {}
        for port in self.results:
            if port.file.check:
                port.file.check(chosen[port.file.option])
        if "job" in self.hints:
            given["job"] = job = read_job(self.hints["job"], chosen["spec"])
            spec = job.model_dump()
        try:
            given |= {name: port.read(chosen[name], opened) for name, port in self.files.items()}
            if "earlier" in self.hints:
                given["earlier"] = earlier_of(job.model)
                opened += earlier_files(job.model)
            if "model" in (spec or ()) and not self.idle(**given):
                facts = _configure(job.model, PIPELINE[verb].on_gpu, chosen)
            made = self.function(**given)
        except InputError as error:
            raise _at_paths(error, {name: chosen[name] for name in self.files}) from None
        values = [made] if len(self.results) == 1 else [*made]
        for value in values:
            facts |= value.facts if isinstance(value, Stated) else {}
        origin = provenance.record(verb, facts.pop("spec", spec), digests(opened), **facts)
        _write(values, self.results, chosen, origin)


def stage(
    *, idle: Callable[..., bool] = lambda **given: False
) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function of values, which stays its attribute `compute`.

    The parameters of the function are `job`, a model of specifications, `earlier`, the earlier data
    that its prior names, files (`File` in their annotation, alone or in a list) and numbers. The
    command takes the specification, a path for each file, the numbers, a path for each result and,
    if a format cannot store its origin, one for a record. The sections `Parameters` and `Returns`
    of the docstring are the help of its options. If an InputError names a parameter as its place or
    in a field, the command puts in the path.

    Parameters
    ----------
    idle
        Whether nothing is to be computed, given the parameters by name; then JAX is not loaded.
    """

    def decorate(function: Callable[..., Any]) -> Command:
        hints = get_type_hints(function, include_extras=True)
        results = [*filter(None, map(_port_of, _each(hints.pop("return"))))]
        files = {name: port for name, hint in hints.items() if (port := _port_of(hint))}
        signature = inspect.Signature(_options(function, hints, files, results))
        compute = Compute(function, hints, files, results, idle)

        def command(*words: Any, **options: Any) -> None:
            bound = signature.bind(*words, **options)
            bound.apply_defaults()
            compute.run(bound.arguments)

        command.__name__ = command.__qualname__ = function.__name__
        command.__module__, command.__doc__ = function.__module__, function.__doc__
        command.__signature__ = signature  # type: ignore[attr-defined]
        command.compute = function  # type: ignore[attr-defined]
        kinds = [port.file.kind or name for name, port in files.items()]
        command.reads = kinds  # type: ignore[attr-defined]
        return command

    return decorate


def earlier_files(job: ModelJob) -> list[Path]:
    """List the file of the earlier data of a model; empty if its prior names none."""
    return [] if job.prior.earlier is None else [Path(job.prior.earlier.file)]


def earlier_of(job: ModelJob) -> EarlierData | None:
    """Read the earlier data of a model; None if its prior names none."""
    return next(map(read_earlier, earlier_files(job)), None)


def _port_of(hint: Any) -> Port | None:
    """Find the file in an annotation; None if it is that of a number or of a job."""
    is_optional = NoneType in get_args(hint)
    if is_optional:
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    is_list = get_origin(hint) is list
    hint = get_args(hint)[0] if is_list else hint
    is_stated = get_origin(hint) is Stated
    hint = get_args(hint)[0] if is_stated else hint
    file = next(
        (each for each in getattr(hint, "__metadata__", ()) if isinstance(each, File)), None
    )
    return None if file is None else Port(file, is_stated, is_list, is_optional)


def _each(result: Any) -> Sequence[Any]:
    return get_args(result) if get_origin(result) is tuple else [result]


def _options(
    function: Callable[..., Any],
    hints: Mapping[str, Any],
    files: Mapping[str, Port],
    results: Sequence[Port],
) -> list[inspect.Parameter]:
    """List the options: specification, parameters in their order, results, record."""
    helps = _helps(function.__doc__ or "")
    required, optional = list[inspect.Parameter](), list[inspect.Parameter]()
    if "job" in hints:
        required.append(_option("spec", str, "Job specification: JSON text or a file."))
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in ("job", "earlier"):
            kind = files[name].kind if name in files else hints[name]
            one = _option(name, kind, helps[name], parameter.default)
            (required if parameter.default is parameter.empty else optional).append(one)
    for port in results:
        name = port.file.option
        if port.file.measured:
            optional.append(_option(name, Path | None, helps[name], None))
        else:
            required.append(_option(name, Path, helps[name]))
    if any(port.file.recorded for port in results):
        optional.append(_option("record", Path | None, "Record of what made it (JSON).", None))
    return [*required, *optional]


def _option(
    name: str, kind: Any, text: str, default: Any = inspect.Parameter.empty
) -> inspect.Parameter:
    """Make an option; numbers are counts."""
    option = typer.Option(help=text, min=0 if kind is int else None)
    annotation = Annotated[kind, option]
    position = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(name, position, default=default, annotation=annotation)


def _helps(docstring: str) -> dict[str, str]:
    """Read the meaning of each parameter and result from a numpydoc docstring."""
    found = re.findall(r"^(\w+)\n((?:    .+\n?)+)", inspect.cleandoc(docstring), re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


def _configure(model: Any, on_device: bool, chosen: Chosen) -> dict[str, Any]:
    """Set up JAX for a job, and return what its results state of it."""
    if on_device:
        runtime.configure(model.precision, model.device, model.shards)
        number = chosen.get("chain_group", chosen.get("chain", 0))
        runtime.choose_device(model.device, number if isinstance(number, int) else 0, model.shards)
    else:
        runtime.configure(model.precision)
    return {"device": runtime.device(), "precision": model.precision}


def _write(
    values: Sequence[Any], results: Sequence[Port], chosen: Chosen, origin: Mapping[str, Any]
) -> None:
    written: list[Path] = []
    for port, value in zip(results, values, strict=True):
        bare = value.value if isinstance(value, Stated) else value
        file, path = port.file, chosen[port.file.option]
        if path is None:
            continue
        assert file.write is not None, path
        files = file.write(path, bare, origin) if file.states_origin else file.write(path, bare)
        written += [] if file.measured else files or [path]
    if "record" in chosen:
        write_record(chosen["record"], origin, written)


def _at_paths(error: InputError, paths: Chosen) -> InputError:
    """Replace parameters by their paths: in the place of an error, and in fields of their names.

    A place is such as `start[2]: row 1` or `evaluation, predictions: row 1`.
    """
    place, colon, rest = str(error.where).partition(":")
    places = ", ".join(str(_path_of(word, paths)) for word in place.split(", "))
    moved = error if error.where is None else error.at(places + colon + rest)
    moved.fields |= {
        name: _path_of(moved.fields[name], paths) for name in paths.keys() & moved.fields.keys()
    }
    return moved


def _path_of(word: Any, paths: Chosen) -> Any:
    named = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", str(word))
    if named is None or named[1] not in paths:
        return word
    chosen = paths[named[1]]
    if not isinstance(chosen, list):
        return chosen
    return chosen[int(named[2])] if named[2] else ", ".join(map(str, chosen))
