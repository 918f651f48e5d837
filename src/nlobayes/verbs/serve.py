"""Serve a surrogate on this machine: a web page and an HTTP API."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from nlobayes.errors import InputError
from nlobayes.surrogate.surrogate import Surrogate

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PAGE = Path(__file__).parents[1] / "surrogate" / "web" / "page"
FILES = ("index.html", "style.css", "page.js", "plot.js")
MOST_CONNECTIONS = 64
SECONDS_TO_END = 3


def serve(
    surrogate: Annotated[Path, typer.Argument(help="Surrogate, written by `nlobayes export`.")],
    host: Annotated[str, typer.Option(help="Address to listen at.")] = LOOPBACK[0],
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=0, max=65535)] = 8000,
    name: Annotated[
        list[str] | None, typer.Option(help="Name of this machine in requests; once for each.")
    ] = None,
) -> None:
    """Serve until it is interrupted."""
    loaded = Surrogate.load(surrogate)
    try:
        import uvicorn

        from nlobayes.surrogate.web.application import application
    except ImportError as error:
        if (error.name or "").startswith("nlobayes"):
            raise
        raise InputError(
            f"serve: {error}; install the extra: `uv sync --extra serve` in the project, or "
            "`pip install 'nlobayes[serve]'`"
        ) from None
    own = f"[{host}]" if ":" in host else host
    page = {file: (PAGE / file).read_text("utf-8") for file in FILES}
    app = application(loaded, page, {*LOOPBACK, own, *(name or ())})
    listening = uvicorn.Config(app, host, port, log_level="critical")
    try:
        socket = listening.bind_socket()
    except SystemExit as end:
        raise InputError(
            f"serve: {own}:{port} cannot be listened at ({end.__context__}); choose another --port "
            "or --host"
        ) from None
    if own not in LOOPBACK:
        typer.echo(
            f"nlobayes: warning: whoever reaches {own} can ask for predictions; requests must name "
            "this machine by --host or --name",
            err=True,
        )
    typer.echo(f"http://{own}:{socket.getsockname()[1]} predicts {loaded.target}; Ctrl-C ends it")
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        http="h11",
        ws="none",
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=SECONDS_TO_END,
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[socket])
