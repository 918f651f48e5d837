"""A real browser: the Chromium of the system, driven through its own protocol over two pipes."""

import base64
import fcntl
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"),
)
RENUMBER = (
    "import os, sys; "
    "os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
    "os.execvp(sys.argv[3], sys.argv[3:])"
)
"""Chromium reads commands from descriptor 3 and writes answers to 4."""

SECONDS = 30.0


class Browser:
    """One tab: commands of the DevTools protocol, and the errors that the page reported."""

    def __init__(self, chromium: str, profile: Path) -> None:
        read, self._commands = os.pipe()
        self._answers, write = os.pipe()
        inner = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read, write)]
        program = [sys.executable, "-c", RENUMBER, *map(str, inner), chromium, *FLAGS]
        self._process = subprocess.Popen(
            [*program, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=inner,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (read, write, *inner):
            os.close(end)
        os.set_blocking(self._answers, False)
        self._left = b""
        self._number = 0
        self._session = ""
        self.complaints: list[str] = []
        self.requested: list[str] = []
        pages = self.command("Target.getTargets")["targetInfos"]
        target = next(page["targetId"] for page in pages if page["type"] == "page")
        attached = self.command("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command and wait for its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            received = self._receive()
            if received.get("id") == self._number:
                assert "error" not in received, received
                result: dict[str, Any] = received["result"]
                return result
            self._note(received)

    def open(self, url: str) -> None:
        """Open a page, and clear the errors of the previous page."""
        self.command("Emulation.clearDeviceMetricsOverride")  # of a test before
        self.complaints.clear()
        self.requested.clear()
        self.command("Page.navigate", url=url)

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        found = self.command(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + SECONDS
        while not self.value(f"Boolean({condition})"):
            assert time.monotonic() < end, (condition, self.complaints)
            time.sleep(0.02)

    def press(self, key: str) -> None:
        """Press a key on the element with the focus."""
        codes = {"Tab": 9, "ArrowRight": 39, "ArrowLeft": 37, "End": 35, "Home": 36}
        for kind in ("rawKeyDown", "keyUp"):
            code = codes[key]
            self.command(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code
            )

    def screenshot(self, path: Path) -> None:
        """Save an image of the page from top to bottom."""
        shot = self.command("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        """End the browser."""
        self._session = ""
        self.command("Browser.close")
        self._process.wait(SECONDS)
        os.close(self._commands)
        os.close(self._answers)

    def _receive(self) -> dict[str, Any]:
        end = time.monotonic() + SECONDS
        while b"\0" not in self._left:
            assert time.monotonic() < end, "the browser does not answer"
            assert self._process.poll() is None, "the browser has ended"
            try:
                self._left += os.read(self._answers, 2**20)
            except BlockingIOError:
                time.sleep(0.005)
        message, self._left = self._left.split(b"\0", 1)
        received: dict[str, Any] = json.loads(message)
        return received

    def _note(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"]))
        elif event.get("method") == "Runtime.consoleAPICalled":
            self.complaints.append(json.dumps(parameters["args"]))
        elif event.get("method") == "Log.entryAdded":
            self.complaints.append(json.dumps(parameters["entry"]))
        elif event.get("method") == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            self.requested += [] if url.startswith("data:") else [url]
