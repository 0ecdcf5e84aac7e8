"""headlight app: serve the app, from any folder."""

from __future__ import annotations

import argparse
import os

from transformer.cli.arguments import Parser, whole_number
from transformer.files.installed import FILES

PORT = "8501"


def main(arguments: list[str] | None = None) -> int:
    """Serve until Ctrl-C; Streamlit reads `.streamlit/config.toml` beside the app's script."""
    options, for_streamlit = _parser().parse_known_args(arguments)
    if options.models is not None:
        os.environ["HEADLIGHT_MODELS"] = options.models  # which the app reads
    from streamlit.web.cli import main as streamlit  # takes a second, which --help does not wait

    streamlit(
        ["run", str(FILES / "app.py"), f"--server.port={options.port}", *for_streamlit],
        prog_name="headlight app",
    )
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="headlight app",
        description="Serve the app. Any option of `streamlit run` may follow, such as "
        "--server.address=0.0.0.0 or --theme.base=dark.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--port",
        type=whole_number(1, 65_535),
        default=os.environ.get("PORT", PORT),
        help=f"port to listen on; the variable PORT, or {PORT}, unless given",
    )
    parser.add_argument(
        "--models",
        type=_folder,
        metavar="DIR",
        help="a folder of model folders, ours and those of MarianMT, for the menu of models; the "
        "variable HEADLIGHT_MODELS unless given",
    )
    return parser


def _folder(path: str) -> str:
    if not os.path.isdir(os.path.expanduser(path)):  # noqa: PTH111, PTH112
        raise argparse.ArgumentTypeError(f"'{path}' is no folder")
    return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111
