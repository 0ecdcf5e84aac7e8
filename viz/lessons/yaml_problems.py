"""Mistakes in invalid YAML, in the words of lesson authors."""

import re
from collections.abc import Sequence

_FIELD = re.compile(r"( *)(\w+):( ?)(.*)")


def yaml_problem(lines: Sequence[str]) -> tuple[int, str] | None:
    """Return the first line with a common mistake, from 0, and how to mend it; None if none has.

    The last line is the one at which reading stopped.
    """
    for number, line in enumerate(lines):
        if mend := _mend(line):
            return number, mend
    return None


def _mend(line: str) -> str:
    """Return how to mend a line, or "" where nothing is known to be wrong."""
    if "\t" in line:
        return "type blanks in place of the tab."
    match = _FIELD.fullmatch(line.rstrip())
    if match is None:
        return ""
    indent, name, blank, value = match.groups()
    if indent:
        return f"begin the line with “{name}:”, without blanks before it."
    if value and not blank:
        return f"write a blank after “{name}:”."
    if value.startswith("{"):
        if value.count("{") != value.count("}"):
            return f"end the value of “{name}:” with a brace “}}”."
        if not value.endswith("}"):
            return _in_quotation_marks(name, value)
    elif value[:1] in ('"', "'"):
        if len(value) < 2 or value[-1] != value[0] or value[0] in value[1:-1]:
            return _in_quotation_marks(name, value)
    elif ": " in value or value.endswith(":") or value[:1] in tuple("[]}>|@`%&*!,"):
        return _in_quotation_marks(name, value)
    return ""


def _in_quotation_marks(name: str, value: str) -> str:
    mark = "'" if '"' in value else '"'
    return f"put all that follows “{name}:” between straight quotation marks: {mark}…{mark}."
