"""Serve a surrogate on this machine: a web page and an HTTP API."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from nlobayes.bundles.surrogates import Bundle
from nlobayes.commands.labelled import surrogate_at
from nlobayes.errors import InputError, one_line
from nlobayes.extras import needs_extra
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
    surrogate: Annotated[Path, typer.Argument(help="Surrogate, label of its run, or bundle.")],
    host: Annotated[str, typer.Option(help="Address to listen at.")] = LOOPBACK[0],
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=0, max=65535)] = 8000,
    name: Annotated[
        list[str] | None, typer.Option(help="Name of this machine in requests; once for each.")
    ] = None,
    otherwise: Annotated[
        Path | None,
        typer.Option(help="Program, or study with one, that computes points not accepted."),
    ] = None,
    store: Annotated[
        Path, typer.Option(help="Of --otherwise: folder of what the program answered.")
    ] = Path("points"),
    workers: Annotated[
        int, typer.Option(help="Of --otherwise: points computed at a time.", min=1)
    ] = 1,
) -> None:
    """Serve until it is interrupted."""
    import uvicorn

    url_host = f"[{host}]" if ":" in host else host
    program = None if otherwise is None else (otherwise, store, workers)
    app, what = _application(surrogate, {*LOOPBACK, url_host, *(name or ())}, program)
    if url_host not in LOOPBACK:
        typer.echo(
            f"nlobayes: warning: every machine that reaches {url_host} can send requests; "
            "a request must name this machine as --host or --name does",
            err=True,
        )
    listening = _listen(uvicorn.Config(app, host, port, log_level="critical"), url_host)
    with closing(listening), suppress(KeyboardInterrupt):
        address = f"http://{url_host}:{listening.getsockname()[1]}"
        typer.echo(f"{address} predicts {one_line(what)}; Ctrl-C ends it")
        uvicorn.Server(uvicorn.Config(app, **SETTINGS)).run(sockets=[listening])


def _application(
    path: Path, hosts: Collection[str], program: tuple[Path, Path, int] | None
) -> tuple[Any, str]:
    """Load a surrogate or a bundle; return its application, and what it predicts in words.

    A `program` has its settings, the folder of its store, and the points it computes at a time.
    """
    page = {file.name: file.read_text("utf-8") for file in sorted(PAGE.iterdir())}
    path = path if Bundle.is_known(path) else surrogate_at(path)
    if not path.is_file() and Bundle.is_known(path):
        if program is not None:
            raise InputError("commands.option_of_one", where="--otherwise", surrogate=path)
        from nlobayes.service.bundle_application import bundle_application

        bundle, page["index.html"] = Bundle.load(path), page["bundle.html"]
        return bundle_application(bundle, path.name, page, hosts), repr(bundle)[1:-1]
    from nlobayes.service.application import application

    loaded = load(path)
    if not isinstance(loaded, Surrogate):
        raise InputError("commands.serves_numbers", where=path, target=loaded.target)
    words = f"{loaded.target} of {in_words(loaded.origin)}"
    otherwise = None
    if program is not None:
        with needs_extra("train"):
            from nlobayes.programs.otherwise import Otherwise

        file, store, workers = program
        unit = loaded.units.get(loaded.target, "")
        otherwise = Otherwise.read(file, store, unit, workers)
        otherwise.check(loaded.inputs)
    return application(loaded, page, hosts, otherwise), words


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
