"""What planning costs: the graph of a study with 10 000 runs, and a dry run with nothing to do.

    python -m benchmarks.graph

The large study crosses ten networks, priors, likelihoods and samplers (or as many seeds) with four
chains per run, and requests scores alone. Nothing of it is computed. The graph is built when the
table of jobs is printed; after that a dry run goes through all jobs once more and gives the reason
of each, which `snakemake -n -q` leaves out. Snakemake runs as a user runs it, in the folder that
this is called from; for the dry run with nothing to do, its default study must be finished there.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks.common import print_header, print_row

COLUMNS = ("study", "jobs", "stage", "s", "cpu-s", "MiB-peak")
COMMAND = ("snakemake", "--dry-run", "--quiet", "rules")
LAST_WORDS = ("This was a dry-run", "Nothing to be done")


def main() -> None:
    """Print the cost of each dry run, when its graph is built and at its end."""
    given = _arguments()
    print_header(COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "large.yaml")
        study = seeds(given.seeds) if given.seeds else crossed(given.each)
        path.write_text(yaml.safe_dump(study))
        for row in dry_run("large", ["--configfile", str(path)]):
            print_row(row, COLUMNS)
    for row in dry_run("default", []):
        print_row(row, COLUMNS)


def crossed(each: int) -> dict[str, Any]:
    """Cross so many presets of four kinds; a job holds all chains of a run."""
    presets: dict[str, dict[str, Any]] = {
        "networks": {f"n{i}": {"hidden": [4 + i]} for i in range(each)},
        "priors": {f"p{i}": {"kind": "fan_in", "scale": 1 + i / 10} for i in range(each)},
        "likelihoods": {f"l{i}": {"kind": "gaussian", "sigma": (1 + i) / 50} for i in range(each)},
        "methods": {
            f"h{i}": {
                "kernel": {"kind": "hmc", "integration_steps": 8 + i},
                "draws_per_segment": 400,
            }
            for i in range(each)
        },
    }
    names = {kind.removesuffix("s"): [*named] for kind, named in presets.items()}
    return presets | {"execution": {"chains_per_job": "all"}} | _large(**names, seed=1)


def seeds(count: int) -> dict[str, Any]:
    """Repeat one run with so many seeds; every chain has jobs of its own."""
    one = {"network": "n16", "prior": "fan_in", "likelihood": "tolerance_10", "method": "hmc_ci"}
    return _large(**one, seed=[*range(1, count + 1)])


def _large(**crossed: Any) -> dict[str, Any]:
    rest = {"dataset": "embedded_small", "pretraining": "adam", "outputs": "metrics"}
    return {"grids": {"large": rest | crossed}, "targets": ["large"]}


def dry_run(
    study: str, words: Sequence[str], folder: Path | None = None
) -> Iterator[dict[str, Any]]:
    """Follow a dry run: what it took until its table of jobs, and until its last words."""
    begin, said = time.perf_counter(), ""
    row: dict[str, Any] = {"study": study, "jobs": 0}
    with subprocess.Popen(
        [*COMMAND, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said += line
            if line.startswith("total") and not row["jobs"]:
                row["jobs"] = int(line.split()[1])
                yield row | {"stage": "graph built"} | _taken(process.pid, begin)
            if line.startswith(LAST_WORDS):
                yield row | {"stage": "whole dry run"} | _taken(process.pid, begin)
    if process.returncode:
        raise SystemExit(f"the dry run of the {study} study failed:\n{said}")


def _taken(process: int, begin: float) -> dict[str, float]:
    """Read the times of a running process, and its peak memory."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    (peak,) = (int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return {"s": time.perf_counter() - begin, "cpu-s": seconds, "MiB-peak": peak / 1024}


def _arguments() -> argparse.Namespace:
    lines = (__doc__ or "").splitlines()
    parser = argparse.ArgumentParser(description=lines[0])
    add = parser.add_argument
    add("--each", type=int, default=10, help="presets of each of four kinds (10)")
    add("--seeds", type=int, help="so many seeds of one run instead")
    return parser.parse_args()


if __name__ == "__main__":
    main()
