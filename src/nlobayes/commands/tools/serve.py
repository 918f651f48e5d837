"""Serve a surrogate on this machine: a web page and an HTTP API."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from nlobayes.errors import InputError, one_line
from nlobayes.surrogate.answers import load
from nlobayes.surrogate.identity import in_words
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.untyped import Document

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PAGE = Path(__file__).parents[2] / "service" / "page"
SETTINGS: Document = {
    "log_level": "warning",
    "access_log": False,
    "http": "h11",
    "ws": "none",
    "lifespan": "off",
    "proxy_headers": False,
    "server_header": False,
    "limit_concurrency": 64,
    "timeout_graceful_shutdown": 3,
}
"""Settings of the server: HTTP/1.1 only, no proxy headers, no logs of clients, few connections."""


def serve(
    surrogate: Annotated[Path, typer.Argument(help="Surrogate, written by `nlobayes export`.")],
    host: Annotated[str, typer.Option(help="Address to listen at.")] = LOOPBACK[0],
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=0, max=65535)] = 8000,
    name: Annotated[
        list[str] | None, typer.Option(help="Name of this machine in requests; once for each.")
    ] = None,
) -> None:
    """Serve until it is interrupted."""
    import uvicorn

    from nlobayes.service.application import application

    loaded = load(surrogate)
    if not isinstance(loaded, Surrogate):
        raise InputError("commands.serves_numbers", where=surrogate, target=loaded.target)
    url_host = f"[{host}]" if ":" in host else host
    page = {path.name: path.read_text("utf-8") for path in sorted(PAGE.iterdir())}
    app = application(loaded, page, {*LOOPBACK, url_host, *(name or ())})
    if url_host not in LOOPBACK:
        typer.echo(
            f"nlobayes: warning: every machine that reaches {url_host} can send requests; "
            "a request must name this machine as --host or --name does",
            err=True,
        )
    listening = _listen(uvicorn.Config(app, host, port, log_level="critical"), url_host)
    with closing(listening), suppress(KeyboardInterrupt):
        address = f"http://{url_host}:{listening.getsockname()[1]}"
        what = one_line(f"{loaded.target} of {in_words(loaded.origin)}")
        typer.echo(f"{address} predicts {what}; Ctrl-C ends it")
        uvicorn.Server(uvicorn.Config(app, **SETTINGS)).run(sockets=[listening])


def _listen(config: Any, host: str) -> Any:
    """Open a socket here, because uvicorn would print its own error and exit."""
    try:
        socket = config.bind_socket()
        socket.listen()  # a client that reads the printed address can connect from now on
    except (SystemExit, OSError, UnicodeError) as error:
        raise InputError(
            "commands.cannot_listen",
            where="serve",
            host=host,
            port=config.port,
            reason=str(error.__context__ or error),
        ) from None
    return socket
