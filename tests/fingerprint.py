"""Everything below a folder, to compare before and after."""

import hashlib
from pathlib import Path


def fingerprint(folder: Path) -> dict[str, str]:
    """Return type, mode and content of everything below a folder, by path."""
    return {str(path.relative_to(folder)): _state(path) for path in sorted(folder.rglob("*"))}


def _state(path: Path) -> str:
    mode = f"{path.lstat().st_mode:o}"
    if path.is_symlink():
        return f"{mode} {path.readlink()}"
    return f"{mode} {hashlib.sha256(path.read_bytes()).hexdigest()}" if path.is_file() else mode
