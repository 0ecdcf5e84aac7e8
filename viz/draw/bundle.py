"""The JavaScript modules of this folder as one module, for pages that can load only one.

Streamlit mounts a component from one string, and a saved page has no folder beside it. The modules
are plain ES modules that a browser could load as they are. Here each one that a module imports is
put in front of it, once, as a function of its own scope that returns what it exports.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "js"
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:function|const|class) (\w+)", re.MULTILINE)
_DEFAULT = re.compile(r"^export default function \w+\(.*?^\}\n", re.MULTILINE | re.DOTALL)


@cache
def script(name: str) -> str:
    """A module with all it imports; it keeps its own exports, and lends none of the others'."""
    seen: list[str] = []
    own = _source(name)
    return "".join(_scoped(other, seen) for _, other in _IMPORT.findall(own)) + _linked(own)


@cache
def style() -> str:
    """The style sheets of all components; all their rules are under `.hl`."""
    return "".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.rglob("*.css")))


def _scoped(name: str, seen: list[str]) -> str:
    """What a module imports, and then the module itself as one constant."""
    if name in seen:
        return ""
    seen.append(name)
    text = _source(name)
    before = "".join(_scoped(other, seen) for _, other in _IMPORT.findall(text))
    exported = ", ".join(_EXPORTED.findall(text))
    # its default export is for Streamlit alone
    body = re.sub(r"^export ", "", _DEFAULT.sub("", _linked(text)), flags=re.MULTILINE)
    return f"{before}const {_scope(name)} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


def _linked(text: str) -> str:
    """Imports as constants that are taken from a module's scope."""
    return _IMPORT.sub(
        lambda found: f"const {{{found[1].replace(' as ', ': ')}}} = {_scope(found[2])};\n",
        text,
    )


def _scope(name: str) -> str:
    return "module_" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _source(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
