"""A Slurm of one node, started where none answers and stopped again."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

CONFIGURATION = Path("/etc/slurm/slurm.conf")  # jobs lose SLURM_CONF, so it has to be this file
DAEMONS = ("munged", "slurmctld", "slurmd")
READY_SECONDS = 60
SETTINGS = """\
ClusterName=test
SlurmctldHost={host}
SlurmUser=root
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=2
JobAcctGatherParams=OverMemoryKill
KillWait=5
MinJobAge=3600
ReturnToService=2
NodeName={host} {hardware} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Slurm whose jobs run on this machine: the one that answers, or one of our own."""
    if shutil.which("sbatch") is None:
        pytest.skip("needs sbatch: install Slurm (on Debian: slurm-wlm and munge)")
    if nodes():
        if socket.gethostname() not in nodes():
            pytest.skip("jobs run on other machines, whose processes these tests cannot kill")
        yield
        return
    missing = [name for name in DAEMONS if shutil.which(name) is None]
    if os.geteuid() != 0 or missing:
        pytest.skip(f"no cluster answers sinfo; starting one needs root and {', '.join(DAEMONS)}")
    with single_node(tmp_path_factory.mktemp("slurm")):
        yield


def nodes() -> list[str]:
    """List the nodes of the cluster that answers; none where no cluster does."""
    listing = ["sinfo", "--noheader", "--Node", "--format=%N", "--states=idle,mixed,allocated"]
    done = subprocess.run(listing, capture_output=True, text=True)
    return done.stdout.split() if done.returncode == 0 else []


@contextmanager
def single_node(folder: Path) -> Iterator[None]:
    """Run the daemons of a cluster of this machine alone, without systemd or accounting."""
    if CONFIGURATION.exists():
        pytest.skip(f"{CONFIGURATION} describes a cluster that does not answer")
    with ExitStack() as undo:
        undo.callback(CONFIGURATION.unlink, missing_ok=True)
        CONFIGURATION.write_text(configuration(folder))
        if not Path("/run/munge/munge.socket.2").is_socket():
            folder_of_munge()
            undo.enter_context(daemon(folder, "munged", "--foreground", user="munge"))
            wait_for(lambda: succeeds("munge", "--no-input"), "munged")
        for name in ("state", "spool"):
            (folder / name).mkdir()
        undo.enter_context(daemon(folder, "slurmctld", "-D"))
        undo.enter_context(daemon(folder, "slurmd", "-D", "-N", socket.gethostname()))
        undo.callback(cancel_all_jobs)
        wait_for(lambda: bool(nodes()), "slurmd")
        yield


def configuration(folder: Path) -> str:
    """Describe this machine as a cluster."""
    found = subprocess.run(["slurmd", "-C"], check=True, capture_output=True, text=True).stdout
    hardware = " ".join(found.splitlines()[0].split()[1:])
    return SETTINGS.format(host=socket.gethostname(), folder=folder, hardware=hardware)


def folder_of_munge() -> None:
    """Make the folder of its socket, which systemd would have made."""
    Path("/run/munge").mkdir(mode=0o755, exist_ok=True)
    shutil.chown("/run/munge", "munge", "munge")


@contextmanager
def daemon(folder: Path, *command: str, user: str | None = None) -> Iterator[None]:
    """Run a daemon in the foreground, its output in a log."""
    with (folder / "daemons.log").open("ab") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, start_new_session=True, user=user, group=user
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=READY_SECONDS)


def cancel_all_jobs() -> None:
    """Leave no job behind that outlives its cluster."""
    subprocess.run(["scancel", "--user=root"], check=True)
    listing = ["squeue", "--noheader"]
    wait_for(lambda: not subprocess.check_output(listing), "end of all jobs")


def succeeds(*command: str) -> bool:
    return subprocess.run(command, capture_output=True).returncode == 0


def wait_for(condition: Callable[[], bool], what: str, seconds: float = READY_SECONDS) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.5)
