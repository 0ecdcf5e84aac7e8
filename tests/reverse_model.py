"""A model of the other direction: a copy of one that says German and English."""

import json
import shutil
from pathlib import Path


def write_reverse(
    folder: Path, copy: Path, languages: tuple[str, str] = ("German", "English")
) -> Path:
    """Copy a checkpoint folder that translates English to German under other languages."""
    shutil.copytree(folder, copy)
    path = copy / "MANIFEST.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"languages": languages}))
    return copy
