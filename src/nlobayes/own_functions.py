"""Custom functions of the user; only the bytes of a file that were digested are run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.abc import SourceLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

from nlobayes.errors import InputError
from nlobayes.settings.user_files import Code, OwnFunction
from nlobayes.untyped import Facts


@dataclass(frozen=True, eq=False)
class Bound:
    """A function of the user with its settings; an exception of it becomes one line.

    It is equal only to itself, so that JAX may treat it as a constant.
    """

    code: Code
    function: Callable[..., Any]
    settings: Facts
    is_layer: bool = False
    """Whether an activation takes the place of a whole layer, with its weights and biases."""

    def __call__(self, *given: Any) -> Any:
        """Call the function.

        Raises InputError if it raises an exception.
        """
        try:
            return self.function(*given, **self.settings)
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            raise InputError(
                "functions.raises",
                where=self.code.file,
                function=self.code.function,
                kind=type(error).__name__,
                reason=str(error),
            ) from error

    def __str__(self) -> str:
        """Name the function and its file."""
        return f"{self.code.function} of {self.code.file}"


def bind(own: OwnFunction) -> Bound:
    """Load a function of the user, and bind its settings."""
    return Bound(own.codes["function"], load_function(own.codes["function"]), own.settings)


def bind_activations(named: Any) -> Any:
    """Load the functions of the user in an activation, or in a list of activations."""
    if isinstance(named, OwnFunction):
        return replace(bind(named), is_layer=getattr(named, "kind", None) == "layer")
    return named if isinstance(named, str) else tuple(map(bind_activations, named))


def load_function(code: Code) -> Callable[..., Any]:
    """Import the digested bytes of a user's file, and return its function.

    Raises InputError if the bytes have changed, raise an exception, or have no such function.
    """
    spec = spec_from_loader(Path(code.file).stem, _Pinned(code.file, code.sha256))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(
            "functions.file_raises", where=code.file, kind=type(error).__name__, reason=str(error)
        ) from error
    function = getattr(module, code.function, None)
    if not callable(function):
        names = [n for n, value in vars(module).items() if callable(value) and n[0] != "_"]
        raise InputError(
            "functions.missing", file=code.file, function=code.function, functions=names
        )
    return function


class _Pinned(SourceLoader):
    """Loader of the source of one file, if it still has the bytes that were digested."""

    def __init__(self, file: str, sha256: str) -> None:
        self._file, self._sha256 = file, sha256

    def get_filename(self, fullname: str) -> str:
        return self._file

    def get_data(self, path: str | bytes) -> bytes:
        file = Path(self._file)
        source = file.read_bytes() if file.is_file() else b""
        if hashlib.sha256(source).hexdigest() != self._sha256:
            raise InputError("functions.changed", file=self._file)
        return source
