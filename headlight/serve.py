"""headlight app: serve the app, from any folder."""

from __future__ import annotations

import os

from transformer.arguments import Parser, whole_number
from transformer.files import FILES

PORT = "8501"


def main(arguments: list[str] | None = None) -> int:
    """Serve until Ctrl-C; Streamlit reads `.streamlit/config.toml` beside the app's script."""
    options, for_streamlit = _parser().parse_known_args(arguments)
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
    return parser
