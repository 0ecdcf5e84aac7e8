"""The colours with which the browser draws, as `viz/browser/core/palette.ts` makes them."""

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCRIPT = Path(__file__).parent / "js" / "palette.mjs"


@cache
def _made() -> dict[str, Any]:
    node = shutil.which("node")
    assert node, "the browser's own code makes the colours"
    command = [node, "--import", SCRIPT.with_name("typescript.mjs").as_uri(), str(SCRIPT)]
    made: dict[str, Any] = json.loads(
        subprocess.run(command, capture_output=True, check=True).stdout
    )
    return made


def browser_table(kind: str, theme: str) -> NDArray[np.uint8]:
    """Return the colours of a kind, or of a `difference`."""
    return np.array(_made()["tables"][kind][theme], dtype=np.uint8).reshape(256, 3)


def head_colors(kind: str, theme: str) -> list[str]:
    colors: list[str] = _made()["heads"][kind][theme]
    return colors
