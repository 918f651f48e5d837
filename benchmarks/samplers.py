"""Compare every kernel of the registry at equal CPU seconds, and with NumPyro and TFP.

    python -m benchmarks.samplers --seconds 120
    python -m benchmarks.samplers --cases 5-32-1@1000 --numpyro env_numpyro/bin/python
    python -m benchmarks.samplers --cases 5-32-1@1000 --ratio --sigma 0.035

Each cell is one kernel on one posterior (fan-in prior, tolerance sigma, embedded data): it warms
up from the same MAPs as all others, a third of its seconds at most, then draws chain after chain
until they are used. Seconds are CPU seconds of one process without compilation.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common import (
    Case,
    Cell,
    Outcome,
    isolated,
    judge,
    make_embedded,
    model_job,
    parse_case,
    parse_sampler,
    print_header,
    print_row,
    simulate_rows,
    write_csv,
)
from nlobayes import runtime
from nlobayes.kernels import KERNELS
from nlobayes.kernels.nuts import NUTSKernel
from nlobayes.methods.mcmc import MCMC
from nlobayes.study.pretraining import Pretraining
from nlobayes.study.references.calculation import CalculatedReference

BASELINES = Path(__file__).parent / "baselines"
CASES = ("5-20-20-1@12000", "5-50-50-50-50-50-1@12000", "5-2048-1@12000", "5-32-1@1000")
COLUMNS = (
    *("case", "method", "warm-up", "draws", "gradients", "grad/s", "ESS", "ESS/s", "ESS/1000"),
    *("R-hat", "accept", "diverging", "exact", "s-warm-up", "s-draw", "MiB"),
)
OF_BORN = CalculatedReference(
    calculation="born", pair=(1, 1), sqrt_s_tev=13, squark_mass_gev=3000
).arguments()
OF_HYPERPARAMETERS = ("gibbs_hmc",)
"""Kernels that need another prior than this (`hyperparameters.py` measures them)."""
PATIENCE = 20
"""A baseline is given up after this many times the seconds of a cell, wall time."""
SAME_DENSITY = 1e-4
"""Largest relative difference of the log densities at the starts, in float32."""

Row = dict[str, Any]


class Setting(NamedTuple):
    """One posterior: its case, its file for the baselines, and the cell of a sampler and seed."""

    case: Case
    problem: Path
    arrays: dict[str, np.ndarray]
    cell: Callable[[MCMC, int], Cell]


def main() -> None:
    """Print one row per cell and the ratios to the baselines."""
    given = _arguments()
    runtime.configure("float32")
    rows: list[Row] = []
    print_header(COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        for case in given.cases:
            setting = _prepare(case, given, Path(folder))
            for row in _rows(setting, given):
                print_row(row, COLUMNS)
                rows.append(row)
            for line in _ratios([row for row in rows if row["case"] == str(case)]):
                print(line, flush=True)
            if given.csv:
                write_csv(given.csv, rows)


def _prepare(case: Case, given: argparse.Namespace, folder: Path) -> Setting:
    """Simulate the data and fit one MAP per chain."""
    learned = ("channels", OF_BORN) if given.ratio else ()
    dataset = make_embedded(simulate_rows(case.rows), case.rows, *learned)
    job = model_job(case, given.sigma)
    chains = max([given.chains, *(sampler.chains for sampler in given.methods)])
    pretraining = Pretraining(epochs=given.epochs, batch=min(100, case.rows))
    call = "benchmarks.measure:find_starts"
    arrays = isolated(call, dataset, job, pretraining, chains, given.seed)
    problem = folder / f"{case}.npz"
    np.savez(problem, position=arrays["start"][0], **arrays)

    def cell(sampler: MCMC, seed: int) -> Cell:
        return Cell(dataset, job, sampler, arrays["start"], given.seconds, seed)

    return Setting(case, problem, arrays, cell)


def _rows(setting: Setting, given: argparse.Namespace) -> Iterator[Row]:
    """Run our kernels, then each baseline in turn with the kernel that it answers."""
    for sampler in given.methods:
        yield _ours(setting, sampler, given.seed)
    baselines = (("nuts", given.numpyro, _numpyro), ("hmc", given.tfp, _tfp))
    for kind, python, baseline in baselines:
        if python is None:
            continue
        chosen = [one for one in given.methods if one.kernel.kind == kind]
        sampler = chosen[0] if chosen else _changed(parse_sampler(kind), given)
        for seed in range(given.seed, given.seed + given.repeats):
            ours = _ours(setting, sampler, seed) | {"pair": seed}
            yield ours
            theirs = baseline(setting, sampler, ours, given, python)
            yield from (row | {"pair": seed} for row in theirs)


def _ours(setting: Setting, sampler: MCMC, seed: int) -> Row:
    """Run one cell; a sampler that fails gets a row that states it."""
    name = {"case": str(setting.case), "method": sampler.kernel.kind}
    try:
        outcome = isolated("benchmarks.measure:sample", setting.cell(sampler, seed))
    except Exception as error:  # whatever a kernel does, the others are still measured
        print(f"{name['method']} failed: {type(error).__name__}: {error}", file=sys.stderr)
        return name | {"exact": "FAILED"}
    return name | _figures(outcome) | {"ms_fastest": 1e3 * outcome.fastest_gradient}


def _figures(outcome: Outcome) -> Row:
    return {
        "warm-up": outcome.warmup_steps,
        "draws": outcome.draws,
        "gradients": outcome.gradients,
        "grad/s": outcome.gradients / outcome.seconds,
        "ESS": outcome.ess,
        "ESS/s": outcome.ess / outcome.seconds,
        "ESS/1000": 1e3 * outcome.ess / outcome.gradients,
        "R-hat": outcome.rhat,
        "accept": outcome.acceptance,
        "diverging": outcome.divergences,
        "exact": "yes" if outcome.exact else "no",
        "s-warm-up": outcome.warmup_seconds,
        "s-draw": outcome.seconds,
        "MiB": outcome.peak_mib,
    }


def _numpyro(
    setting: Setting, sampler: MCMC, ours: Row, given: argparse.Namespace, python: Path
) -> list[Row]:
    """Run NumPyro's NUTS with our numbers of steps and draws and our largest depth."""
    assert isinstance(sampler.kernel, NUTSKernel)
    if "draws" not in ours:
        return []
    settings = {
        "hidden": setting.case.hidden,
        "sigma": given.sigma,
        "draws": ours["draws"],
        "warmup": ours["warm-up"],
        "seed": ours["pair"],
        "max_depth": sampler.kernel.max_depth,
    }
    told, drawn = (setting.problem.with_suffix(end) for end in (".json", ".drawn.npz"))
    told.write_text(json.dumps(settings))
    script = BASELINES / "numpyro_nuts.py"
    name = {"case": str(setting.case), "method": "NumPyro"}
    if _run([python, script, setting.problem, told, drawn], given.seconds) is None:
        return [name | {"exact": "FAILED"}]
    with np.load(drawn) as file:
        found = dict(file)
    _check_same_density(found["start_log_density"], setting.arrays["start_log_density"])
    return [name | _figures(_numpyro_outcome(found, settings))]


def _numpyro_outcome(found: dict[str, np.ndarray], settings: dict[str, Any]) -> Outcome:
    function, gradients = found["function"], int(found["sampling_gradients"].sum())
    seconds = float(found["sampling_cpu_seconds"].sum())
    ess, agreement = judge(function)
    return Outcome(
        warmup_steps=settings["warmup"],
        draws=settings["draws"],
        warmup_seconds=float(found["warmup_cpu_seconds"].sum()),
        seconds=seconds,
        warmup_gradients=int(found["warmup_gradients"].sum()),
        gradients=gradients,
        fastest_gradient=seconds / gradients,
        ess=ess,
        rhat=agreement,
        acceptance=float(found["acceptance_rate"].mean()),
        divergences=int(found["diverging"].sum()),
        exact=True,
        peak_mib=np.nan,
    )


def _tfp(
    setting: Setting, sampler: MCMC, ours: Row, given: argparse.Namespace, python: Path
) -> list[Row]:
    """Time gradients of TFP's HMC, with XLA and without; its row has nothing else."""
    del sampler
    if "grad/s" not in ours:
        return []
    leapfrogs = int(np.clip(given.seconds / 10 * ours["grad/s"], 8, 512))
    command = [python, BASELINES / "tfp_hmc.py", "--npz", setting.problem, "--steps", 5]
    command += ["--leapfrogs", leapfrogs, "--sigma", given.sigma, "--hidden", *setting.case.hidden]
    output = _run(command, given.seconds)
    if output is None:
        return [{"case": str(setting.case), "method": "TFP", "exact": "FAILED"}]
    rows = []
    for found in map(json.loads, output.splitlines()):
        start = np.asarray([found["start_log_density"]])
        _check_same_density(start, setting.arrays["start_log_density"][:1])
        rows.append(
            {
                "case": str(setting.case),
                "method": "TFP-XLA" if found["xla"] else "TFP",
                "grad/s": 1e3 / found["cpu_ms_min"],
                "ms_fastest": found["cpu_ms_min"],
            }
        )
    return rows


def _run(command: list[Any], seconds: float) -> str | None:
    """Run a baseline and give what it printed; None, and why, if it failed."""
    try:
        done = subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            check=True,
            timeout=max(600, PATIENCE * seconds),
        )
    except subprocess.CalledProcessError as error:
        print(error.stderr[-2000:], file=sys.stderr)
        return None
    except (subprocess.TimeoutExpired, OSError) as error:
        print(error, file=sys.stderr)
        return None
    return done.stdout


def _check_same_density(theirs: np.ndarray, ours: np.ndarray) -> None:
    if not np.allclose(theirs, ours, rtol=SAME_DENSITY):
        raise SystemExit(f"not the same posterior: log densities {theirs} where ours are {ours}")


def _ratios(rows: list[Row]) -> Iterator[str]:
    """Compare every pair of runs: above 1 we are the faster or more efficient."""
    for theirs in (row for row in rows if row["method"] in ("NumPyro", "TFP", "TFP-XLA")):
        kind = "nuts" if theirs["method"] == "NumPyro" else "hmc"
        wanted = {"method": kind, "pair": theirs["pair"]}
        [ours] = [row for row in rows if wanted.items() <= row.items()]
        said = f"{theirs['case']}, pair {theirs['pair']}: our {kind} over {theirs['method']}: "
        if "ms_fastest" in theirs:
            ratio = theirs["ms_fastest"] / ours["ms_fastest"]
            yield f"{said}fastest gradients per CPU second {ratio:.2f}"
        elif "ESS/s" in theirs:
            names = ("grad/s", "ESS/s", "ESS/1000")
            yield said + ", ".join(f"{name} {ours[name] / theirs[name]:.2f}" for name in names)


def _arguments() -> argparse.Namespace:
    lines = (__doc__ or "").splitlines()
    parser = argparse.ArgumentParser(description=lines[0])
    add = parser.add_argument
    add("--cases", nargs="+", type=parse_case, default=[parse_case(one) for one in CASES])
    add(
        "--samplers",
        dest="methods",
        nargs="+",
        type=parse_sampler,
        help="kernels, or presets as JSON; all",
    )
    add("--seconds", type=float, default=120, help="CPU seconds of one cell (120)")
    add("--sigma", type=float, default=0.05, help="tolerance, in sd of the target (0.05)")
    add("--ratio", action="store_true", help="learn the ratio to Born, as the quickstart does")
    add("--chains", type=int, default=4)
    add("--warmup", type=int, help="longest warm-up, in steps; that of the preset")
    add("--epochs", type=int, default=200, help="epochs of Adam before (200)")
    add("--seed", type=int, default=1)
    add("--numpyro", type=Path, metavar="PYTHON", help="interpreter that has numpyro")
    add("--tfp", type=Path, metavar="PYTHON", help="interpreter that has tensorflow-probability")
    add("--repeats", type=int, default=2, help="pairs of runs, ours and the baseline (2)")
    add("--csv", type=Path, help="file to write the rows to")
    given = parser.parse_args()
    samplers = given.methods or [
        parse_sampler(kind) for kind in KERNELS if kind not in OF_HYPERPARAMETERS
    ]
    given.methods = [_changed(sampler, given) for sampler in samplers]
    return given


def _changed(sampler: MCMC, given: argparse.Namespace) -> MCMC:
    """Take chains, and the length of the warm-up, from the command line."""
    preset = sampler.model_dump() | {"chains": max(given.chains, sampler.kernel.fewest_chains)}
    if given.warmup:
        preset["warmup"] |= {"steps": given.warmup, "segments": 1}
    return MCMC.model_validate(preset)


if __name__ == "__main__":
    main()
