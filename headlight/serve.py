"""headlight app: serve the app, from any folder."""

from __future__ import annotations

import argparse
import os
import socket

from transformer.cli.arguments import Parser, whole_number
from transformer.files.installed import FILES

PORT, HOST = "8501", "localhost"
EVERY_INTERFACE = frozenset({"0.0.0.0", "::"})


def main(arguments: list[str] | None = None) -> int:
    """Serve until Ctrl-C; Streamlit reads `.streamlit/config.toml` beside the app's script."""
    options, for_streamlit = _parser().parse_known_args(arguments)
    if options.models is not None:
        os.environ["HEADLIGHT_MODELS"] = options.models  # which the app reads
    print(_listening(options.host, options.port), flush=True)
    from streamlit.web.cli import main as streamlit  # takes a second, which --help does not wait

    given = {"server.port": options.port, "server.address": options.host}
    if options.host not in EVERY_INTERFACE:
        given["browser.serverAddress"] = options.host
    settings = [f"--{name}={value}" for name, value in given.items()]
    streamlit(["run", str(FILES / "app.py"), *settings, *for_streamlit], prog_name="headlight app")
    return 0


def _listening(host: str, port: int) -> str:
    """Say in one sentence where the server listens, and who can reach it."""
    if host in EVERY_INTERFACE:
        return f"Port {port} is open on every interface: whoever reaches this machine can open it."
    if host == HOST:
        return f"Port {port} is open on this machine alone: --host 0.0.0.0 opens it to others."
    return f"Port {port} is open at {host} alone."


def _parser() -> Parser:
    parser = Parser(
        prog="headlight app",
        description="Serve the app. Any option of `streamlit run` may follow, such as "
        "--theme.base=dark.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--port",
        type=whole_number(1, 65_535),
        default=os.environ.get("PORT", PORT),
        help=f"port to listen on; the variable PORT, or {PORT}, unless given",
    )
    parser.add_argument(
        "--host",
        type=_address,
        default=HOST,  # no variable: some shells set HOST to the name of the machine
        help=f"address to listen on, 0.0.0.0 for every interface; {HOST} unless given",
    )
    parser.add_argument(
        "--models",
        type=_folder,
        metavar="DIR",
        help="a folder of model folders, ours and those of MarianMT, for the menu of models; the "
        "variable HEADLIGHT_MODELS unless given",
    )
    return parser


def _address(host: str) -> str:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET  # as Streamlit chooses
    try:
        with socket.socket(family) as probe:
            probe.bind((host, 0))
    except OSError as error:
        why = error.strerror or error
        raise argparse.ArgumentTypeError(f"'{host}' is no address of this machine: {why}") from None
    if not host:  # which stands for every interface
        raise argparse.ArgumentTypeError("an address is empty: 0.0.0.0 is every interface")
    return host


def _folder(path: str) -> str:
    if not os.path.isdir(os.path.expanduser(path)):  # noqa: PTH111, PTH112
        raise argparse.ArgumentTypeError(f"'{path}' is no folder")
    return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111
