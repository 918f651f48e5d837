"""Seconds from the start of a job to its first leapfrog, with a cold and a warm compilation cache.

    python -m benchmarks.start

The verbs run as the workflow runs them, on a small dataset, with one leapfrog per draw where the
kernel allows it. The clock stops at the first line of progress, which a job prints once a tenth of
its steps are done: it has read, built, compiled and made its first steps by then. Beside the wall
time stands the CPU time of the job until then (Linux), which a busy machine disturbs less.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common import (
    Case,
    make_embedded,
    model_job,
    parse_case,
    parse_sampler,
    print_header,
    print_row,
    simulate_rows,
)
from nlobayes.artifacts.contents import write_dataset
from nlobayes.methods.mcmc import MCMC
from nlobayes.study.jobs import DrawJob, PretrainJob, WarmupJob
from nlobayes.study.pretraining import Pretraining

COMMAND = (sys.executable, "-c", "from nlobayes.cli import main; main()")
IMPORTS = "from nlobayes import runtime; runtime.configure('float32'); import nlobayes.builder"
COLUMNS = ("repeat", "job", "cache", "s-first", "cpu-s-first", "s-job")
STEPS = 20
PROGRESS = re.compile(r": \d+ of \d+$")
ONE_LEAPFROG = '{"kernel": {"kind": "hmc", "integration_steps": 1}}'


class Files(NamedTuple):
    """Where the jobs of one repeat leave their artifacts."""

    dataset: Path
    start: Path
    warmup: Path
    segment: Path


def main() -> None:
    """Print the seconds of each job with an empty and with a filled cache."""
    given = _arguments()
    print_header(COLUMNS)
    for repeat in range(given.repeats):
        with tempfile.TemporaryDirectory() as folder:
            for row in _repeat(Path(folder), given):
                print_row({"repeat": repeat, **row}, COLUMNS)


def _repeat(folder: Path, given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    names = ("dataset.nc", "start.nc", "warmup.nc", "segment.nc")
    files = Files(*(folder / name for name in names))
    dataset = make_embedded(simulate_rows(given.case.rows), given.case.rows)
    write_dataset(files.dataset, dataset, {})
    jobs = _jobs(given.case, given.method, files)
    _time(jobs.pop("pretrain"), folder / "pretrain")
    yield {"job": "import", "cache": "-", "s-job": _time_import()}
    for cache in ("cold", "warm"):
        for verb, arguments in jobs.items():
            times = _time(arguments, folder / verb)
            yield {"job": verb, "cache": cache, **times}


def _jobs(case: Case, sampler: MCMC, files: Files) -> dict[str, list[str]]:
    """Write the command line of each verb."""
    model = model_job(case, 0.05)
    kernel, warmup = sampler.kernel, sampler.warmup
    adam = Pretraining(epochs=1, batch=min(100, case.rows))
    specs = {
        "pretrain": PretrainJob(model=model, pretraining=adam, seed=1),
        "warmup": WarmupJob(model=model, kernel=kernel, warmup=warmup, seed=1),
        "draw": DrawJob(model=model, kernel=kernel, warmup=warmup, draws=STEPS, thin=1, seed=1),
    }
    own = {
        "pretrain": ["--chain", "0", "--out", files.start],
        "warmup": ["--start", files.start, "--out", files.warmup],
        "draw": ["--previous", files.warmup, "--out", files.segment],
    }
    return {
        verb: [
            verb,
            "--spec",
            job.model_dump_json(),
            "--dataset",
            *map(str, (files.dataset, *rest)),
        ]
        for (verb, job), rest in zip(specs.items(), own.values(), strict=True)
    }


def _time(arguments: Sequence[str], cache: Path) -> dict[str, float]:
    """Run a verb; give the seconds to its first line of progress, if any, and to its end."""
    environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(cache)}
    times: dict[str, float] = {}
    begin, said = time.perf_counter(), ""
    with subprocess.Popen(
        [*COMMAND, *arguments], env=environment, stderr=subprocess.PIPE, text=True
    ) as job:
        assert job.stderr is not None
        for line in job.stderr:
            said += line
            if not times and PROGRESS.search(line):
                times["s-first"] = time.perf_counter() - begin
                times["cpu-s-first"] = _cpu_seconds(job.pid)
    if job.returncode:
        raise SystemExit(f"{arguments[0]} failed:\n{said}")
    return times | {"s-job": time.perf_counter() - begin}


def _cpu_seconds(process: int) -> float:
    """Read the user and system time of a running process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _time_import() -> float:
    """Time what every job imports: the share that no cache can save."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", IMPORTS], check=True)
    return time.perf_counter() - begin


def _arguments() -> argparse.Namespace:
    lines = (__doc__ or "").splitlines()
    parser = argparse.ArgumentParser(description=lines[0])
    add = parser.add_argument
    add("--case", type=parse_case, default=parse_case("5-20-20-1@1000"))
    add("--method", type=parse_sampler, default=parse_sampler(ONE_LEAPFROG))
    add("--repeats", type=int, default=1)
    given = parser.parse_args()
    preset = given.method.model_dump()
    preset["warmup"] |= {"steps": STEPS, "segments": 1}
    given.method = MCMC.model_validate(preset)
    return given


if __name__ == "__main__":
    main()
