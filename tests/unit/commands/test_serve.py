"""The command `serve`: its address, its output and its end."""

from __future__ import annotations

import builtins
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import yaml

from nlobayes import Surrogate
from nlobayes.cli import main
from nlobayes.commands.tools.serve import serve
from tests.refusals import refused

LISTENING = ("env", "--default-signal=INT")  # tests in the background ignore Control-C
COMMAND = [*LISTENING, sys.executable, "-c", "from nlobayes.cli import main; main()", "serve"]
POINTS = {"points": [[300, 0.1, 0.2, 0.8, -0.55]]}


class Served:
    """A running service."""

    def __init__(self, *words: str | Path) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONWARNINGS": "error"},
        )
        assert self.process.stdout
        self.first_line = self.process.stdout.readline()
        self.url = self.first_line.split()[0]

    def end(self) -> tuple[str, str, int]:
        """Interrupt it, and return its remaining output and its exit status."""
        self.process.send_signal(signal.SIGINT)
        try:
            out, err = self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
        return out, err, self.process.returncode


@pytest.fixture(scope="module")
def served(surrogate_path: Path) -> Iterator[Served]:
    running = Served(surrogate_path, "--port", "0")
    yield running
    running.process.kill()
    running.process.communicate()


def test_it_prints_its_address_and_answers_there(served: Served, surrogate_path: Path) -> None:
    assert served.first_line.endswith(
        " predicts sigma_pb of a table that states no process; Ctrl-C ends it\n"
    )
    assert served.url.startswith("http://127.0.0.1:")
    response = httpx.post(f"{served.url}/api/predict", json=POINTS)
    assert response.status_code == 200
    known = Surrogate.load(surrogate_path).domain(POINTS["points"]).tolist()
    assert response.json()["domain"] == known
    assert "server" not in response.headers
    localhost = served.url.replace("127.0.0.1", "localhost")
    assert httpx.get(f"{localhost}/healthz").json() == {"status": "ok"}


def test_a_half_sent_request_does_not_keep_others_waiting(served: Served) -> None:
    host, port = served.url.removeprefix("http://").split(":")
    head = "POST /api/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        start = time.monotonic()
        assert httpx.get(f"{served.url}/healthz").status_code == 200
        assert time.monotonic() - start < 5


def test_a_port_in_use_is_refused_in_one_line(served: Served, surrogate_path: Path) -> None:
    port = served.url.rsplit(":", 1)[1]
    done = subprocess.run(
        [*COMMAND, surrogate_path, "--port", port], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert f"cannot listen at 127.0.0.1:{port}" in done.stderr
    assert "choose another --port" in done.stderr


def test_beyond_this_machine_it_warns_and_needs_a_name(surrogate_path: Path) -> None:
    running = Served(surrogate_path, "--port", "0", "--host", "0.0.0.0", "--name", "here.example")
    url = running.url.replace("0.0.0.0", "127.0.0.1")
    hosts = {"here.example": 200, "127.0.0.1": 200, "there.example": 400}
    for host, status in hosts.items():
        assert httpx.get(f"{url}/healthz", headers={"host": host}).status_code == status
    _, err, status = running.end()
    assert status == 0
    assert err == (
        "nlobayes: warning: every machine that reaches 0.0.0.0 can send requests; a request must "
        "name this machine as --host or --name does\n"
    )


@pytest.mark.parametrize("missing", ["uvicorn", "fastapi"])
def test_without_the_extra_it_prints_how_to_install_it(
    surrogate_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    missing: str,
) -> None:
    known = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == missing:
            raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)
        return known(name, *rest)

    monkeypatch.delitem(sys.modules, "nlobayes.service.application", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr(sys, "argv", ["nlobayes", "serve", str(surrogate_path)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert capsys.readouterr().err == (
        f"nlobayes: error: No module named {missing!r}: it comes with an extra; "
        "`pip install 'nlobayes[serve]'`, or in a checkout `pip install '.[serve]'` "
        "or `make setup EXTRAS=serve`\n"
    )


def test_the_program_of_the_service_reads_inputs_alone(
    surrogate_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bundles have none."""
    monkeypatch.chdir(tmp_path)
    output = {"kind": "number", "column": "sigma", "unit": "pb"}
    given = {"command": ["echo", "{mu}"], "version": "1", "output": output}
    Path("mine.yaml").write_text(yaml.safe_dump(given))
    with refused("programs.no_column", where="mine.yaml: command", field="mu"):
        serve(surrogate_path, otherwise=Path("mine.yaml"))
    with refused("commands.option_of_one", where="--otherwise"):
        serve(Path("lhc"), otherwise=Path("mine.yaml"))
