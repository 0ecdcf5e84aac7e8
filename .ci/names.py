"""Refuse names that say nothing and docstrings that are no sentence of a manual.

A name is a noun of the field, never a word such as `found`; a docstring begins with a verb or a
noun, never with "What" or "Of", and that of a function with an imperative. ruff's pydocstyle rules
hold the rest.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

FORBIDDEN_NAME = re.compile(r"_?(of|one|said|what|found|kept|told|each|of_\w+)")
PROGRAM = ("app", "headlight/", "training/", "transformer/", "viz/")
"""Beginnings of the paths whose functions say in the imperative what they do.

A fixture or a helper of a test may be named as a noun.
"""

FORBIDDEN_START = re.compile(r"(What|Of|How|That|Those|Whether|Where|Which|Who|When)\b")
NO_IMPERATIVE = re.compile(
    r"[^A-Z]|(A|After|All|An|Any\w*|As|At|BLEU|Both|By|Bytes|Cores|Each|Every\w*|Figure|For|From|"
    r"In|Lines|Logits|Many|Means?|One|Pieces|Places|Rows|SHA|Sentences|Size|So|Some|Text|The|Token|"
    r"Two|Why|Words)\b"
)
"""Beginnings of docstrings that only a property may have, since it is read as a value."""


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of each function, class, argument and variable."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node.lineno, name
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.alias(asname=str(name)):
                yield node.lineno, name


def docstrings(tree: ast.AST) -> Iterator[tuple[ast.AST, int, str]]:
    """Yield each documented node with line and text of its docstring."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, documented) and (text := ast.get_docstring(node)):
            yield node, node.body[0].lineno, text


def is_function(node: ast.AST) -> bool:
    """Return whether a node is a function or a method, but no property."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return not {"property", "cached_property"} & set(map(ast.unparse, node.decorator_list))


def problems(path: str) -> Iterator[str]:
    """Yield one line for each forbidden name or docstring of a file."""
    tree = ast.parse(Path(path).read_text("utf-8"))
    for line, name in bound_names(tree):
        if FORBIDDEN_NAME.fullmatch(name):
            yield f"{path}:{line}: `{name}` says nothing: take a noun of the field."
    for node, line, text in docstrings(tree):
        if start := FORBIDDEN_START.match(text):
            yield f'{path}:{line}: begin the docstring with a verb or a noun, not "{start[0]}".'
        elif (
            path.startswith(PROGRAM) and is_function(node) and (start := NO_IMPERATIVE.match(text))
        ):
            yield f'{path}:{line}: begin the docstring with an imperative, not "{start[0]}".'


def main() -> int:
    """Check every Python file that git tracks."""
    listed = subprocess.run(["git", "ls-files", "*.py"], capture_output=True, check=True, text=True)
    lines = [line for path in listed.stdout.split() for line in problems(path)]
    print("\n".join(lines) or "Names and docstrings are plain.")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
