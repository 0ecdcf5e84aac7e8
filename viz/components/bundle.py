"""The JavaScript modules of this folder as one module, for pages that can load only one.

Streamlit mounts a component from one string, and a saved page has no folder beside it. The modules
are plain ES modules that a browser could load as they are; here the ones that a module imports are
put in front of it and the import and export words are taken out.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)


@cache
def script(name: str) -> str:
    """A module with all it imports; it keeps its own exports, and lends none of the others'."""
    seen: list[str] = []
    own = _source(name)
    return "".join([_inlined(other, seen) for other in _IMPORT.findall(own)] + [_strip(own)])


@cache
def style() -> str:
    """The style sheets of all components; all their rules are under `.hl`."""
    return "".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.css")))


def _inlined(name: str, seen: list[str]) -> str:
    if name in seen:
        return ""
    seen.append(name)
    text = _source(name)
    before = "".join(_inlined(other, seen) for other in _IMPORT.findall(text))
    return before + _EXPORT.sub("", _strip(text))


def _strip(text: str) -> str:
    return _IMPORT.sub("", text)


def _source(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
