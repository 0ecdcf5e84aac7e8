"""A server of a site's folder on this machine alone, for a look before it is published."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from transformer.errors import InputError

HOST = "127.0.0.1"


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Write nothing: the address has been printed."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")  # a site that was made anew is seen at once
        super().end_headers()


def server_of(folder: Path, port: int) -> ThreadingHTTPServer:
    """Open a port of this machine for a folder; 0 takes a free one.

    Raises:
        InputError: if the port cannot be opened.
    """
    try:
        return ThreadingHTTPServer((HOST, port), partial(_Handler, directory=str(folder)))
    except (OSError, OverflowError) as error:
        raise InputError(
            f"Port {port} cannot be opened ({error}): choose another with --port."
        ) from error


def serve(folder: Path, port: int) -> None:
    """Serve a folder until the command is interrupted, and print its address."""
    with server_of(folder, port) as server:
        print(f"http://localhost:{server.server_port}/ (Ctrl-C ends it)", flush=True)
        server.serve_forever()
