"""Faults at the worst moment, put into processes that Snakemake or a test starts.

With this folder on PYTHONPATH, Python imports this file whenever it starts. SABOTAGE says what to
do: {"words": [...], "rename": k, "fault": "kill" | "stall"} strikes a process that was called with
all of the words as it is about to rename its k-th result into place; {"clock": seconds} sets the
clock of every process wrong.

As a program it runs commands of nlobayes, each in a fork that may be struck: one line of JSON in,
its folder, command and rename, one out, its exit status and what it said.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

REDIRECTIONS = {">", "2>"}


def arm(rename: int, fault: str) -> None:
    """Strike at the k-th rename of a file whose path starts with `results`."""
    rename_file, renamed = os.replace, 0

    def replace(source: Any, target: Any, **options: Any) -> None:
        nonlocal renamed
        if str(target).startswith("results/"):
            renamed += 1
            if renamed == rename:
                strike(fault)
        rename_file(source, target, **options)

    vars(os)["replace"] = replace


def strike(fault: str) -> None:
    """Leave a sign, then die at once, or go on when the sign is gone."""
    sign = Path("struck")
    sign.touch()
    if fault == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    while sign.exists():
        time.sleep(0.1)


def set_clock_wrong(seconds: float) -> None:
    """Let all that ask Python for the time be told another."""
    ask = time.time
    time.time = lambda: ask() + seconds


def run_forked(folder: str, command: str, rename: int) -> tuple[int, str]:
    """Run a command in a fork and give its exit status and what it said."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        os._exit(run_here(shlex.split(command), rename))
    os.close(writing)
    with os.fdopen(reading) as said:
        text = said.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text


def run_here(words: list[str], rename: int) -> int:
    """Run a command as its entry point does."""
    from nlobayes.cli import main

    arm(rename, "kill")
    end = min((words.index(word) for word in REDIRECTIONS & {*words}), default=len(words))
    sys.argv = words[:end]
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    from nlobayes.stages import module_of

    for line in sys.stdin:
        given = json.loads(line)
        import_module(module_of(shlex.split(given[1])[1]))
        sys.stdout.write(json.dumps(run_forked(*given)) + "\n")
        sys.stdout.flush()
elif os.environ.get("SABOTAGE"):
    plan = json.loads(os.environ["SABOTAGE"])
    if "clock" in plan:
        set_clock_wrong(plan["clock"])
    elif {*plan["words"]} <= {*sys.orig_argv}:
        arm(plan["rename"], plan["fault"])
