"""headlight app: serve the app, from any folder."""

import argparse
import os
import re
import socket
import sys
import tempfile

from headlight import processes
from transformer.cli import command, startup
from transformer.cli.arguments import Parser, whole_number
from transformer.files.installed import FILES

NAME = "headlight app"
PORT, HOST = "8501", processes.ADDRESS
EVERY_INTERFACE = frozenset({"0.0.0.0", "::"})


def main(arguments: list[str] | None = None) -> int:
    """Serve until Ctrl-C; Streamlit reads `.streamlit/config.toml` beside the app's script."""
    options, for_streamlit = _parser().parse_known_args(arguments)
    # without `run`: Streamlit, and the parent of several processes, take the signals themselves
    return command.run_guarded(NAME, lambda: _serve(options, for_streamlit))


def _serve(options: argparse.Namespace, for_streamlit: list[str]) -> int:
    if options.models is not None:
        os.environ["HEADLIGHT_MODELS"] = options.models  # which the app reads
    try:
        tempfile.gettempdir()
    except OSError:
        command.say("no folder takes temporary files: set TMPDIR to one.")
        return command.REFUSED
    host, ports = options.host, [options.port]
    if options.processes > 1 and sys.platform == "win32":
        command.say("on Windows, --processes 1 is all there is.")
        return command.REFUSED
    if options.processes > 1:  # the balancer has that address, and they are behind it
        host = processes.ADDRESS
        ports = [options.port + place for place in range(1, options.processes + 1)]
    for port in ports:
        if reason := _refusal(host, port):
            command.say(f"port {port} cannot be opened, {reason}: choose another.")
            return command.REFUSED
    base = re.search(r"--server\.baseUrlPath[= ]/?(\S+)", " ".join(for_streamlit))
    path = base[1] if base else os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/")
    place = f"{options.port}/{path}".rstrip("/")
    print(_listening(options.host, place), flush=True)
    if options.processes > 1:
        return processes.serve(options.host, options.port, ports, for_streamlit)
    startup.require_home()
    # what takes seconds, for which --help does not wait: Ctrl-C still ends the process at once
    from streamlit.web.cli import main as streamlit

    import transformer.translator  # noqa: F401
    from viz.app.served import bound_memory

    bound_memory()
    given = {
        "server.port": options.port,
        "server.address": options.host,
        "logger.hideWelcomeMessage": "true",  # it would name another address than the line above
    }
    if options.host not in {HOST, *EVERY_INTERFACE}:
        given["browser.serverAddress"] = options.host
    settings = [f"--{name}={value}" for name, value in given.items()]
    try:
        streamlit(["run", str(FILES / "app.py"), *settings, *for_streamlit], prog_name=NAME)
    except SystemExit as ended:  # as click ends a command
        # threads that still load a model would delay an ordinary end, or abort it
        os._exit(ended.code if isinstance(ended.code, int) else 0)
    return 0


def _refusal(host: str, port: int) -> str | None:
    """Return why an address and port cannot be opened; None if they can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET  # as Streamlit chooses
    with socket.socket(family) as probe:
        if sys.platform != "win32":  # where it would hide that a port is taken
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen()
        except OverflowError:
            return "ports end at 65,535"
        except OSError as error:
            return error.strerror or str(error)
    return None


def _listening(host: str, place: str) -> str:
    """Say in one sentence who can reach the server, at a port and below a path: `place`."""
    if host in EVERY_INTERFACE:
        return f"Open http://{_own_address()}:{place} here or anywhere that reaches this machine."
    if host == HOST:
        return (
            f"Open http://localhost:{place} on this machine alone; --host 0.0.0.0 shares it in a "
            "room."
        )
    return f"Open http://{processes.join_address(host, place)} wherever that address is reached."


def _own_address() -> str:
    """Return the address by which others reach this machine, or else its name."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it only chooses the interface
        except OSError:  # no network
            return socket.gethostname()
        return str(probe.getsockname()[0])


def _parser() -> Parser:
    parser = Parser(
        prog=NAME,
        description="Serve the app. Options of `streamlit run` can follow, for example "
        "--theme.base=dark.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--port",
        type=whole_number(1, 65_535),
        default=os.environ.get("PORT", PORT),
        help=f"port to listen on; default: the variable PORT, or {PORT}",
    )
    parser.add_argument(
        "--host",
        type=_address,
        # not HOST, which some shells set to the name of the machine
        default=os.environ.get("HEADLIGHT_HOST", HOST),
        help="address to listen on, 0.0.0.0 for every interface; default: the variable "
        f"HEADLIGHT_HOST, or {HOST}",
    )
    parser.add_argument(
        "--processes",
        type=whole_number(1, processes.MOST),
        default=os.environ.get("HEADLIGHT_PROCESSES", "1"),
        metavar="N",
        help="number of servers, on the ports after --port; a load balancer listens on --port, and "
        "the command writes its configuration; default: the variable HEADLIGHT_PROCESSES, or 1",
    )
    parser.add_argument(
        "--models",
        type=_folder,
        metavar="DIR",
        help="folder of model folders, ours and MarianMT, for the menu of models; default: the "
        "variable HEADLIGHT_MODELS",
    )
    return parser


def _address(host: str) -> str:
    if reason := _refusal(host, 0):
        raise argparse.ArgumentTypeError(f"'{host}' is not an address of this machine: {reason}")
    if not host:  # which stands for every interface
        raise argparse.ArgumentTypeError("an address is empty: 0.0.0.0 is every interface")
    return host


def _folder(path: str) -> str:
    if not os.path.isdir(os.path.expanduser(path)):  # noqa: PTH111, PTH112
        raise argparse.ArgumentTypeError(f"'{path}' is not a folder")
    return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111
