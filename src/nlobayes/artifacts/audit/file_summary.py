"""Summary of a file as plain values: its kind, its origin and its content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path

import netCDF4
import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from nlobayes.artifacts.audit.lineage import kind_of
from nlobayes.artifacts.audit.origins import Origin, Project
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import read_json
from nlobayes.artifacts.netcdf import read_attrs
from nlobayes.artifacts.places import remedy
from nlobayes.artifacts.records import read_record
from nlobayes.errors import InputError
from nlobayes.untyped import Document

FACTS = ("code_digest", "lock_digest", "device", "precision", "exact")
SPLITS = ("train", "val", "test")
CONVERGENCE = (
    *("converged", "exact", "chains", "draws_per_chain", "rhat_f_median", "rhat_f"),
    *("ess_f", "divergences", "tightness", "thinning_step"),
)
ACCURACY = (
    *("rmse_log10", "r2_log10", "rmse_target", "r2_target_mean"),
    *("accuracy", "lppd", "ece"),
    *("coverage_68", "coverage_95", "sigma_z_total", "crps"),
)
OF_A_TABLE = ("dataset", "posterior", "thinned", "surrogate")
LIMITS = ("threshold", "low", "high")
Found = Document


def summarise(project: Project, name: str) -> Found:
    """Describe a file: its kind, its origin and its key numbers.

    `numbers` has single values, `columns` the columns of a table, `checks` the outcomes of checks,
    `groups` the variables of a NetCDF file, and `table_metadata` the metadata of the table behind a
    dataset, posterior or surrogate.

    Raises InputError if the file cannot be read, or has changed since it was written.
    """
    path, origin = project.root / name, project.origin(name)
    try:
        return _facts(project, path, name, origin) | _content(path)
    except InputError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            "artifacts.other_contents", where=path, reason=repr(error), remedy=remedy(path)
        ) from error


def _facts(project: Project, path: Path, name: str, origin: Origin | None) -> Found:
    facts: Found = {
        "path": name,
        "kind": kind_of(name, origin),
        "size": path.stat().st_size,
        "sha256": project.digest(name),
        "sealed": path.suffix == ".nc",
        "made": _made(project, name, origin),
    }
    if facts["kind"] == "record":
        outputs = read_record(path)["outputs"].items()
        facts["outputs"] = {output: _state(project, output, sha256) for output, sha256 in outputs}
    return facts


def _content(path: Path) -> Found:
    summary = SUMMARIES.get(path.suffix)
    return summary(path) if summary else {}


def _made(project: Project, name: str, origin: Origin | None) -> Found | None:
    if origin is None:
        return None
    recorded = project.recorded_digest(name)
    return {
        "verb": origin.verb,
        **{fact: origin.facts.get(fact) for fact in FACTS},
        "versions": dict(origin.facts.get("versions") or {}),
        "recorded_in": origin.recorded_in,
        "since": "the same" if recorded is None else _state(project, name, recorded),
        "inputs": {
            path: _state(project, path, sha256) for path, sha256 in sorted(origin.inputs.items())
        },
        "spec": origin.facts.get("spec"),
    }


def _state(project: Project, name: str, recorded: str) -> str:
    present = project.digest(name)
    return "missing" if present is None else "the same" if present == recorded else "changed"


def _netcdf(path: Path) -> Found:
    attrs, groups = read_attrs(path), _groups(path)
    found: Found = {"numbers": _sizes(attrs, groups), "groups": groups}
    if attrs.get("kind") == "dataset":
        found |= _dataset(path)
    if attrs.get("kind") in OF_A_TABLE:
        found["table_metadata"] = attrs.get("table_metadata") or {}
    return found | {"checks": _checks(attrs.get("checks", {}))}


def _groups(path: Path) -> dict[str, dict[str, Found]]:
    """List the variables of a file, with dims and types; its seal must have been checked."""
    with netCDF4.Dataset(path) as file:
        return {
            name: {
                variable: {
                    "dims": dict(zip(values.dimensions, values.shape, strict=True)),
                    "type": str(np.dtype(values.dtype)) if values.dtype is not str else "text",
                }
                for variable, values in group.variables.items()
            }
            for name, group in file.groups.items()
        }


def _sizes(attrs: Found, groups: dict[str, dict[str, Found]]) -> Found:
    dims = {
        name: {dim: size for facts in variables.values() for dim, size in facts["dims"].items()}
        for name, variables in groups.items()
    }
    weights = [v["dims"] for n, v in groups.get("posterior", {}).items() if n not in v["dims"]]
    per_draw = sum(
        prod(size for dim, size in shape.items() if dim not in {"chain", "draw"})
        for shape in weights
    )
    stored = "stored draws" if attrs.get("kind") == "surrogate" else "stored draws per chain"
    kept = attrs.get("kept", {})
    numbers = {
        "chain": attrs.get("chain"),
        "chains": next((sizes["chain"] for sizes in dims.values() if "chain" in sizes), None),
        "warm-up steps per chain": dims.get("warmup_sample_stats", {}).get("draw"),
        "draws per chain": next(
            (dims[name]["draw"] for name in ("all_sample_stats", "sample_stats") if name in dims),
            None,
        ),
        stored: dims.get("posterior", {}).get("draw"),
        "of draws": kept.get("of"),
        "rows that the network is conditioned on": kept.get("rows"),
        "largest change of the mean by this, in total sd": kept.get("mean_change"),
        "largest relative change of the total sd by this": kept.get("sd_change"),
        "numbers per stored draw": per_draw or None,
        "epochs": attrs.get("epochs_run"),
        "points": dims.get("predictions", {}).get("point"),
        "ensemble of MAPs": dims.get("baseline", {}).get("member"),
    }
    return {name: value for name, value in numbers.items() if value is not None}


def _dataset(path: Path) -> Found:
    data = read_dataset(path)
    rows = dict(
        zip(
            SPLITS, np.bincount(data.split + 1, minlength=len(SPLITS) + 1)[1:].tolist(), strict=True
        )
    )
    named = dict(zip(data.input_names, data.inputs.T, strict=True))
    numbers = {f"{split} rows": count for split, count in rows.items()}
    numbers |= {"reference points": len(data.reference), "features": ", ".join(data.feature_names)}
    inputs = [_column(name, values, data.units.get(name)) for name, values in named.items()]
    observed = np.reshape(data.observed, (len(data.split), -1)).T
    targets = [
        _column(name, values, data.units.get(name))
        for name, values in zip(data.target_names, observed, strict=True)
    ]
    explained = data.transforms["features"].get("explained")
    if explained is not None:
        kept = ", ".join(f"{total:.3f}" for total in np.cumsum(explained))
        numbers |= {"variance explained by the first 1, 2, ...": kept}
    numbers |= {"target": ", ".join(data.target_names)}
    return {"numbers": numbers, "columns": [*inputs, *targets]}


def _json(path: Path) -> Found:
    content = read_json(path)
    known = (summary for keys, summary in VALUES.items() if content.keys() >= {*keys})
    return next(known, _unknown)(content)


def _diagnostics(content: Found) -> Found:
    return {"numbers": _some(content, CONVERGENCE), "checks": _checks(content["checks"])}


def _evaluation(content: Found) -> Found:
    scores = _some(content["test"], ACCURACY)
    baseline = _some(content["baseline"]["test"], ACCURACY[:5])
    numbers = {f"test {name}": value for name, value in scores.items()}
    numbers |= {f"test {name} of its MAPs": value for name, value in baseline.items()}
    return {"numbers": numbers, "checks": _checks(content["calibration_checks"])}


def _verdict(content: Found) -> Found:
    numbers = _some(content, ("met", "draws_per_chain"))
    return {"numbers": numbers, "checks": _checks(content["checks"])}


def _agreement(content: Found) -> Found:
    pairs = {" and ".join(pair["posteriors"]): pair for pair in content["pairs"]}
    checks = {name: {**pair, "value": pair["z_rms"]} for name, pair in pairs.items()}
    return {"numbers": _some(content, ("passed",)), "checks": _checks(checks)}


def _unknown(content: Found) -> Found:
    return {"numbers": {"keys": ", ".join(content)}}


def _some(content: Found, names: tuple[str, ...]) -> Found:
    return {name: content[name] for name in names if name in content}


def _checks(checks: Mapping[str, Found]) -> dict[str, Found]:
    """Select the value, the limits and the outcome of every check."""
    return {
        name: {"passed": check["passed"], "value": check["value"], **_some(check, LIMITS)}
        for name, check in checks.items()
    }


def _parquet(path: Path) -> Found:
    try:
        table = parquet.read_table(path)
        frame = table.to_pandas(ignore_metadata=True)
    except (OSError, pa.ArrowException) as error:
        raise InputError("artifacts.damaged_parquet", path=path, reason=str(error)) from error
    units = [(field.metadata or {}).get(b"unit", b"").decode() for field in table.schema]
    return _table(frame, units)


def _csv(path: Path) -> Found:
    """Describe a CSV table; a column with a unit has the header `name:unit`."""
    try:
        frame = pd.read_csv(path, comment="#", compression=None)
    except (OSError, ValueError) as error:
        raise InputError("artifacts.damaged_csv", path=path, reason=str(error)) from error
    named = [str(name).partition(":") for name in frame.columns]
    return _table(frame.set_axis([name for name, _, _ in named], axis=1), [u for *_, u in named])


def _table(frame: pd.DataFrame, units: list[str]) -> Found:
    values = zip(frame.columns, units, strict=True)
    columns = [
        _column(name, frame.iloc[:, place].to_numpy(), unit)
        for place, (name, unit) in enumerate(values)
    ]
    return {"numbers": {"rows": len(frame), "columns": len(columns)}, "columns": columns}


def _column(name: str, values: np.ndarray, unit: str | None) -> Found:
    numeric = values.dtype.kind in "iuf"
    finite = values[np.isfinite(values)] if numeric else values[:0]
    least, most = (finite.min().item(), finite.max().item()) if len(finite) else (None, None)
    return {"name": name, "unit": unit or None, "least": least, "most": most}


SUMMARIES: dict[str, Callable[[Path], Found]] = {
    ".nc": _netcdf,
    ".json": _json,
    ".parquet": _parquet,
    ".csv": _csv,
}

VALUES: dict[tuple[str, ...], Callable[[Found], Found]] = {
    ("converged", "checks"): _diagnostics,
    ("test", "baseline", "calibration_checks"): _evaluation,
    ("met", "checks"): _verdict,
    ("pairs", "passed"): _agreement,
}
"""Summary functions of JSON files, by the keys that a file must have."""
