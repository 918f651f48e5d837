"""Surrogate files, read as fast as NetCDF can be: people start a process to predict one point."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

from nlobayes.artifacts.claims import check_claims
from nlobayes.artifacts.schemas import SCHEMAS, decode
from nlobayes.artifacts.seals import check_seal
from nlobayes.errors import InputError
from nlobayes.types import Exported

NEEDED = (
    *("activation", "columns", "target", "transforms", "units", "noise", "domain"),
    *("verdict", "bibtex"),
)


def read_surrogate(path: Path) -> Exported:
    """Read an exported surrogate.

    Raises
    ------
    InputError
        If the file is missing, unreadable, not what was written, or no surrogate.
    """
    check_seal(path, "surrogate")
    try:
        with netCDF4.Dataset(path) as file:
            file.set_auto_mask(False)
            check_claims(file, path)
            facts = {name: decode(value) for name, value in file.__dict__.items()}
            _check(file, facts, path)
            domain, noise = file["domain"], file["noise"]
            return Exported(
                {name: variable[:] for name, variable in _drawn(file["posterior"]).items()},
                domain["features"][:],
                domain["spacing"][:],
                domain["limits"][:],
                domain["typical"][:],
                noise["residual"][:],
                noise["probability"][:],
                facts,
            )
    except InputError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(
            f"cannot read {path} as NetCDF: {error}; export the surrogate again"
        ) from error


def _drawn(group: netCDF4.Group) -> dict[str, Any]:
    return {name: v for name, v in group.variables.items() if v.dimensions[0] == "draw" != name}


def _check(file: netCDF4.Dataset, facts: dict[str, Any], path: Path) -> None:
    if facts.get("kind") != "surrogate":
        raise InputError(
            f"{path} is an artifact of kind {facts.get('kind')!r}, not 'surrogate'; give a file "
            "that `nlobayes export` wrote"
        )
    lacking = [name for name in NEEDED if name not in facts]
    for group, variables in SCHEMAS["surrogate"].items():
        found = file.groups[group].variables if group in file.groups else {}
        lacking += [
            f"{group}/{name}"
            for name, dims in variables.items()
            if name not in found or found[name].dimensions != dims
        ]
    if lacking:
        raise InputError(f"{path} lacks {', '.join(lacking)}; export the surrogate again")
    if not all(np.isfinite(file["noise"]["residual"][:])):
        raise InputError(f"{path}: the noise is not finite; export the surrogate again")
