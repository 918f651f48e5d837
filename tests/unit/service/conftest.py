"""The page of a surrogate, served by the real command."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def served(path: Path) -> Iterator[str]:
    """Serve a surrogate or a bundle by the real command, and yield the address of its page."""
    command = "from nlobayes.cli import main; main()"
    served = subprocess.Popen(
        [sys.executable, "-c", command, "serve", str(path), "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert served.stdout
    yield served.stdout.readline().split()[0] + "/"
    served.terminate()
    served.wait(30)
    served.stdout.close()
