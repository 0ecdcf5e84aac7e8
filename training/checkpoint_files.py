"""Put what was measured of a checkpoint beside its weights."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from transformer.atomic import replace_folder
from transformer.checkpoint import MANIFEST


def add_to_checkpoint(folder: Path, name: str, content: str) -> None:
    """Write a text file into a checkpoint folder and its checksum into the manifest, atomically.

    Args:
        folder: a checkpoint that was loaded, so that its manifest is known to be right.
        name: of the file; one that is there is replaced.

    Raises:
        OSError: if it cannot be written; the folder then is what it was.
    """
    folder = folder.resolve()  # what a link leads to is replaced, not the link
    with replace_folder(folder) as new:
        shutil.copytree(folder, new, dirs_exist_ok=True)
        written = content.encode()
        manifest = json.loads((new / MANIFEST).read_bytes())
        checksums = manifest["sha256"] | {name: hashlib.sha256(written).hexdigest()}
        manifest["sha256"] = dict(sorted(checksums.items()))
        (new / name).write_bytes(written)
        (new / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
