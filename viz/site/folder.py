"""The folder of a site: only files that the command wrote are replaced.

`SITE.json` lists them with their SHA-256. Other files, such as a documentation or `.git`, stay.
"""

import json
import os
import re
from collections.abc import Collection, Mapping
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path

from transformer.errors import InputError, quoted, reading, writing
from transformer.files import atomic
from transformer.files.documents import parse_json
from transformer.files.reading import MIB, read_bytes

LIST = "SITE.json"
_NAME = re.compile(r"(?:[\w-]+/)?[\w.-]*[\w-][\w.-]*", re.ASCII)  # of a file, perhaps in a folder


def require_own(folder: Path, names: Collection[str] = ()) -> set[str]:
    """Return the names of the files of an earlier site; refuse a folder of anything else.

    `names` are the files to write.
    """
    if not os.path.lexists(folder):
        return set()
    with reading(folder, InputError):
        there = sorted(path.name for path in folder.iterdir() if not atomic.is_leftover(path))
    own = _checksums(folder / LIST) if LIST in there else {}
    inside = {name for name in own.keys() | set(names) if "/" in name}
    there += sorted(name for name in inside if os.path.lexists(folder / name))
    if there and not own:
        raise InputError(
            f"{folder} is not a site of this program, it has {quoted(there[0])}: choose another "
            "folder, or a new one in it."
        )
    for name in there:
        is_own = name in own and atomic.has_content(folder / name, own[name])
        if not is_own and (name in own or name in names):
            raise InputError(
                f"{folder} has {quoted(name)}, which this program did not write and would replace: "
                "move it away, or choose another folder."
            )
    return set(own) & set(there)


def write_site(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write all files of a site or, if one cannot be written, none; old ones leave."""
    checksums = {name: sha256(content).hexdigest() for name, content in files.items()}
    listed = json.dumps({"format": 1, "sha256": checksums}, indent=2).encode() + b"\n"
    with writing(folder, InputError), ExitStack() as folders:
        folders.enter_context(atomic.new_folder(folder))
        before = require_own(folder, files)
        atomic.sweep(folder)
        for inside in sorted({(folder / name).parent for name in files} - {folder}):
            folders.enter_context(atomic.new_folder(inside))
        contents = [(folder / name, content) for name, content in files.items()]
        atomic.write_files([*contents, (folder / LIST, listed)])
        for name in before - files.keys():
            (folder / name).unlink()
            if "/" in name:
                with suppress(OSError):  # what somebody else put there stays
                    (folder / name).parent.rmdir()


def _checksums(path: Path) -> dict[str, str]:
    """Read the checksums of the files in the list; empty if it is damaged."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        listed = parse_json(read_bytes(path, MIB))["sha256"].items()
        return {name: str(checksum) for name, checksum in listed if _NAME.fullmatch(name)}
    return {}
