"""The file of a user's own prior: the bytes that were digested, and no others, are run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib.abc import SourceLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

from nlobayes.errors import InputError
from nlobayes.study.prior import Code


def load_function(code: Code) -> Callable[..., Any]:
    """Import a user's file, the bytes that were digested, and take its function."""
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
            "builder.prior_raises", where=code.file, kind=type(error).__name__, reason=str(error)
        ) from error
    function = getattr(module, code.function, None)
    if not callable(function):
        names = [n for n, value in vars(module).items() if callable(value) and n[0] != "_"]
        raise InputError(
            "builder.no_function", file=code.file, function=code.function, functions=names
        )
    return function


class _Pinned(SourceLoader):
    """Gives the source of one file, if it is still the one that was digested."""

    def __init__(self, file: str, sha256: str) -> None:
        self._file, self._sha256 = file, sha256

    def get_filename(self, fullname: str) -> str:
        return self._file

    def get_data(self, path: str | bytes) -> bytes:
        file = Path(self._file)
        source = file.read_bytes() if file.is_file() else b""
        if hashlib.sha256(source).hexdigest() != self._sha256:
            raise InputError("builder.changed_prior", file=self._file)
        return source
