"""The peer: BertViz, which writes every weight as a decimal number into a page."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from transformer import HeadlightError

VIEWS = ("head_view", "model_view")
CDN = "https://cdnjs.cloudflare.com/ajax/libs"
LIBRARIES = {
    "require.js/2.3.6/require.min.js": "requirejs/require.js",
    "d3/5.7.0/d3.min.js": "d3/dist/d3.min.js",
    "jquery/2.0.0/jquery.min.js": "jquery/dist/jquery.min.js",
}
"""What its pages load from the CDN, and where npm puts the same; 2.1.0 is npm's nearest jQuery."""
INSTALL = "npm install --prefix DIR d3@5.7.0 requirejs@2.3.6 jquery@2.1.0"


def views() -> dict[str, Any]:
    """Its functions by name."""
    try:
        import bertviz
    except ImportError as error:
        raise HeadlightError(
            "BertViz is not installed: pip install -e '.[bench]', then measure again."
        ) from error
    return {name: getattr(bertviz, name) for name in VIEWS}


@contextmanager
def displayed() -> Iterator[list[str]]:
    """Collect as HTML what its functions hand to a notebook while this lasts; a context manager."""
    outputs: list[str] = []

    def collect(shown: Any) -> None:
        script = type(shown).__name__ == "Javascript"
        outputs.append(f"<script>{shown.data}</script>" if script else shown.data)

    views()
    # its functions hide the modules of the same names
    head, model = (sys.modules[f"bertviz.{name}"] for name in VIEWS)
    with mock.patch.object(head, "display", collect), mock.patch.object(model, "display", collect):
        yield outputs


def libraries(folder: Path) -> dict[str, bytes]:
    """Return the files that its pages load from npm's folder, by path below the CDN's address."""
    paths = {name: folder / "node_modules" / path for name, path in LIBRARIES.items()}
    for path in paths.values():
        if not path.is_file():
            raise HeadlightError(f"There is no {path}: {INSTALL}, then --libraries DIR.")
    return {name: path.read_bytes() for name, path in paths.items()}
