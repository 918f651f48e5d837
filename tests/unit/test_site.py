"""The site is built strictly and offline, holds every page, and loads nothing from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
OFFLINE = """
import socket, sys
def refuse(*_): raise OSError("the site is built without a network")
socket.socket.connect = socket.getaddrinfo = refuse
from mkdocs.__main__ import cli
cli()
"""
LOADED = re.compile(r'<(?:script|img|iframe)[^>]*src="([^"]+)|<link rel="stylesheet" href="([^"]+)')


def test_the_site_is_whole_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OFFLINE, "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*.html")}
    for path in (*ROOT.glob("docs/**/*.md"), *ROOT.glob("notebooks/[!R]*.py")):
        name = path.relative_to(ROOT).with_suffix(".html").as_posix()
        assert name.replace("README", "index") in pages
    assert "onverge?" in pages["index.html"].read_text(), "of README"
    assert "If a column is missing" in pages["docs/python.html"].read_text(), "of docstrings"
    text = "".join(path.read_text() for path in pages.values())
    loaded = {name for found in LOADED.findall(text) for name in found if name}
    assert len(loaded) > 3
    assert [name for name in loaded if re.match(r"(https?:)?//", name)] == []
