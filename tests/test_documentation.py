"""Every block of code in README and docs runs, or says above it why not.

Python runs, the blocks of a page one after another, on the bundled model. A command line is read by
the parser of its command. A block that neither can be has `<!-- not run: … -->` above it.
"""

import argparse
import importlib
import importlib.util
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
import yaml
from markdown_it import MarkdownIt

from headlight.__main__ import COMMANDS
from tests.bundled_model import one_bundled_model

__all__ = ["one_bundled_model"]  # a fixture: used by name

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
PYTHON, SHELL = {"python", "{picture}"}, {"sh", "bash", "console"}
READ: dict[str, Callable[[str], object]] = {
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
    "json": yaml.safe_load,
}
TEXT = {
    "markdown",
    "text",
    "{toctree}",
    "{include}",
    "{literalinclude}",
    "{eval-rst}",
    "dockerfile",
}
WITH_SUBCOMMANDS = {"benchmarks", "training.evaluate"}
MARK = re.compile(r"<!-- not run: \w.+ -->")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


class Block(NamedTuple):
    """A fenced block of a page: its first line, its language, its text, and whether it is run."""

    line: int
    language: str
    text: str
    run: bool


@cache
def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, those in lists and quotations included."""
    fenced: list[Block] = []
    above = ""
    for token in MarkdownIt("commonmark").parse(page.read_text("utf-8")):
        if token.type == "fence":
            assert token.map
            language = token.info.split()[0] if token.info else ""
            options = r"(?:^:\w+:.*\n)*" if language.startswith("{") else ""
            text = re.sub(rf"\A{options}", "", token.content, flags=re.MULTILINE)
            fenced.append(Block(token.map[0] + 1, language, text, MARK.match(above) is None))
        above = token.content if token.type == "html_block" else ""
    return fenced


@pytest.mark.slow
@pytest.mark.usefixtures("one_bundled_model")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(block.language in PYTHON for block in blocks(page))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_python_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language in PYTHON and block.run:
            lines = "\n" * block.line + block.text  # an error names the line of the page
            exec(compile(lines, str(page), "exec"), namespace)


@pytest.mark.usefixtures("one_bundled_model")
def test_the_head_that_the_readme_removes_changes_the_translation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (block,) = (b.text for b in blocks(ROOT / "README.md") if "headlight.removed(" in b.text)
    exec(block.replace("headlight.explore(trace)", ""), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed == re.findall(r"print\(.+\)  # (.+)", block)
    assert len(set(printed)) == len(printed) == 2


def test_the_recipe_records_each_call_of_a_shared_module() -> None:
    import torch

    (recipe,) = (
        b.text for b in blocks(ROOT / "docs/guides/own-model.md") if "def record(" in b.text
    )
    namespace: dict[str, Any] = {}
    was_enabled = torch.backends.mha.get_fastpath_enabled()
    try:
        exec(recipe, namespace)
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
        shared = torch.nn.Sequential(layer, layer, layer)
        weights = namespace["record"](shared)
        shared(torch.randn(1, 4, 8))
    finally:
        torch.backends.mha.set_fastpath_enabled(was_enabled)
    (calls,) = weights.values()
    assert [call.shape for call in calls] == 3 * [(1, 2, 4, 4)]
    assert not torch.equal(calls[0], calls[2])


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_a_block_has_a_language_that_is_checked(page: Path) -> None:
    for block in blocks(page):
        assert block.language in PYTHON | SHELL | READ.keys() | TEXT, f"{page.name}:{block.line}"
        if block.language in READ:
            assert READ[block.language](block.text)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_a_link_outside_docs_leads_to_a_file(name: str) -> None:
    links = re.findall(r"\]\(([^):#]+)(?:#[^)]*)?\)", (ROOT / name).read_text("utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_a_command_line_is_one_that_its_parser_takes(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "DIR").mkdir()
    for block in blocks(page):
        if block.language in SHELL and block.run:
            for words in command_lines(block.text):
                require_command(words)
    prose = re.sub(r"^(`{3,}).*?^\1$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for quoted in re.findall(r"`((?:[A-Z_]+=\S+ )*(?:headlight|python -m|make) [^`]+)`", prose):
        name, *_ = command_lines(quoted.replace("\n", " "))
        if name[0] == "headlight" and not name[1].startswith("-"):
            assert name[1] in COMMANDS, quoted
        elif name[0] == "python":
            assert importlib.util.find_spec(name[2]), quoted
            if name[2] in WITH_SUBCOMMANDS and len(name) > 3:
                with pytest.raises(SystemExit) as left:
                    importlib.import_module(_main_of(name[2])).main([name[3], "--help"])
                assert left.value.code == 0, quoted
        elif name[0] == "make":
            require_command(name)


def command_lines(text: str) -> Iterator[list[str]]:
    """Yield the words of each command, without variables before it and files that it is given."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line.replace("…", ""), posix=True, punctuation_chars="|&;<>")
        lexer.commenters = "#"
        words: list[str] = []
        for word in [*lexer, ";"]:
            if set(word) <= set("|&;"):
                if words := [*_without_files(words)]:
                    yield words
                words = []
            elif words or not re.fullmatch(r"[A-Z_]+=.*", word):
                words.append(word)


def _without_files(words: list[str]) -> Iterator[str]:
    after = False
    for word in words:
        if not after and word not in ("<", ">"):
            yield word
        after = word in ("<", ">")


def require_command(words: list[str]) -> None:
    """Check one command line."""
    match words:
        case ["headlight", name, *rest] if name in COMMANDS:
            parse(COMMANDS[name].module, rest)
        case ["headlight", "--help" | "--version"]:
            pass
        case ["python" | ".venv/bin/python", "-m", "pytest", *rest]:
            assert all((ROOT / path).exists() for path in rest if not path.startswith("-"))
        case ["python", "-m", module, *rest]:
            parse(module, rest)
        case ["torchrun", "--nproc-per-node=8", "-m", module, *rest]:
            parse(module, rest)
        case ["make", target, *variables]:
            assert target in TARGETS, f"make has no target {target}"
            assert all("=" in variable for variable in variables)
        case ["pip", "wheel" | "install" | "uninstall", *rest]:
            for names in re.findall(r"(?:headlight-attention|\.)\[([\w,]+)\]", " ".join(rest)):
                assert {*names.split(",")} <= PROJECT["optional-dependencies"].keys()
            assert "headlight-attention" not in rest  # on no index yet
        case _:
            pytest.fail(f"not checked: {' '.join(words)}; write `<!-- not run: why -->` above it")


class _ParsedError(Exception):
    """Says that a command has parsed its arguments, and ends it."""


def parse(module: str, arguments: list[str]) -> None:
    """Let the parser of a command read arguments, and end the command there."""
    parsing: list[str] = []

    def ending(name: str) -> Any:
        real = getattr(argparse.ArgumentParser, name)

        def parse(parser: argparse.ArgumentParser, *args: Any, **kwargs: Any) -> Any:
            parsing.append(name)
            result = real(parser, *args, **kwargs)
            parsing.pop()
            if not parsing:  # not in a parser within another one
                raise _ParsedError
            return result

        return mock.patch.object(argparse.ArgumentParser, name, parse)

    main = importlib.import_module(_main_of(module)).main
    with ending("parse_args"), ending("parse_known_args"), pytest.raises(_ParsedError):
        main(arguments)


def _main_of(module: str) -> str:
    has_main = importlib.util.find_spec(f"{module}.__main__") if _is_package(module) else None
    return f"{module}.__main__" if has_main else module


def _is_package(module: str) -> bool:
    spec = importlib.util.find_spec(module)
    assert spec, f"there is no module {module}"
    return spec.submodule_search_locations is not None
