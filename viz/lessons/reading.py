"""Lesson files: Markdown with a front matter in YAML, one card for each second-level heading.

---
title: Attention in ten minutes
goal: Read from a map which source word each word comes from.
minutes: 10
language: en
---

## One row, one step

Each row of the map is one step of the decoder.

```yaml
link: /heads?kind=cross&layer=4&head=5
light: map
ask: Which word does the row that writes “Hunde” look at?
answer: {measure: strongest, head: L4 H5 cross, row: Hunde}
reveal: L4 H5 looks at {answer}.
```

- [ ] Two
- [ ] dogs
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, get_args
from urllib.parse import parse_qs, urlsplit

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from transformer.errors import HeadlightError, one_line, quoted
from transformer.files.reading import read_bytes
from viz.draw.labels import PAGE_TITLES
from viz.lessons.lesson import (
    PAGES_OF_LIGHTS,
    Card,
    Choice,
    Language,
    Lesson,
    Light,
    Measurement,
    View,
)
from viz.lessons.measures import MEASURES
from viz.lessons.yaml_problems import yaml_problem

MAX_BYTES = 200_000
"""Largest size of a lesson file."""
MAX_CARDS = 40
MAX_CHARACTERS = 20_000
"""Largest size of a card: what reads Markdown takes long for one endless paragraph."""

_FRONT = ("title", "goal", "minutes", "language", "model", "sentence", "notes")
_NEEDED = ("title", "goal", "minutes", "language")
_CARD = ("link", "open", "light", "sentence", "ask", "answer", "hint", "reveal")
_CHOICE = re.compile(r"\[([ xX])\] (.+)", re.DOTALL)
_NEARLY_CHOICES = {f"{dash}[{mark}" for dash in ("", *"-*+–—") for mark in ("", *"xX✓")}
"""Beginnings of a line that is nearly a choice, up to its “]” and without blanks."""
_NEARLY_A_CARD = re.compile(r"##[^#\s]")
_END_OF_BLOCK = re.compile(r"(```|~~~|## |[-*+] \[)")
"""Start of a line that follows a block; inside a block, it shows that the block was not closed."""
_BLANK = re.compile(r"\{(?!answer\})[^{}]*\}")
_PROGRESS = ("lesson", "card", "answers", "class", "present")
"""Names in a copied address that are about the student's lesson, not about the view."""
_FENCE = "---"
_MAX_EVENTS = 200  # begins, ends and values of YAML in a card or the front matter
_FOREIGN = {
    "![": "a lesson has no pictures: link a view of the app.",
    "[^": "a lesson has no footnotes: write the sentence into the card.",
}
_NO_MEASURE = (
    "write the answer as “{measure: …}”, a blank after each colon, or mark a choice “- [x]”."
)
_TWO_BLOCKS = "a card has one block of “yaml”: join the two, or begin a new card with “## ”."


class LessonError(HeadlightError):
    """A lesson file that cannot be used; the sentence names the line."""


class _Loader(yaml.SafeLoader):
    """Loader of texts, decimal numbers and lists of them; a date, “yes” or 0xff is a text."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012  as the library has it


for _tag, _pattern, _first in (
    ("null", r"(?:~|null|)$", ["~", "n", ""]),
    ("int", r"[-+]?(?:0|[1-9][0-9]{0,8})$", list("-+0123456789")),
    ("float", r"[-+]?[0-9]{1,9}\.[0-9]{1,9}$", list("-+0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first)


class _Value(NamedTuple):
    """A value of YAML, with its line in the file, from 1."""

    value: Any
    line: int


class _File(NamedTuple):
    """A lesson file while it is read."""

    name: str
    lines: Sequence[str]

    def error(self, line: int, problem: str) -> LessonError:
        """Make the error of a line, from 1."""
        return LessonError(f"{self.name}, line {line}: {problem}")


def read_lesson(path: Path) -> Lesson:
    """Read a lesson file."""
    name = one_line(path.name)
    if name != path.name:
        raise LessonError(f"{name} has a sign in its name that cannot be shown: rename the file.")
    try:
        content = read_bytes(path, MAX_BYTES)
    except OSError as error:
        raise LessonError(f"{name} cannot be read: {error.strerror}.") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise LessonError(f"{name}, line {line}: save the file as UTF-8.") from None
    lesson = parse_lesson(path.stem, text, name)
    return replace(lesson, checksum=sha256(content).hexdigest())


def parse_lesson(name: str, text: str, file_name: str) -> Lesson:
    """Parse the text of a lesson file; `name` is that in the URL, `file_name` that in errors."""
    file = _File(file_name, text.splitlines())
    _require_short_cards(file)
    end = _front_matter_end(file)
    front = _front_matter(file, end)
    tokens = MarkdownIt("commonmark").parse("\n".join([""] * end + list(file.lines[end:])))
    _refuse_html(file, tokens)
    for number, line in enumerate(file.lines[end:], start=end + 1):
        _refuse_foreign(file, number, line)
    _require_marks(file, tokens)
    headings = [t for t in tokens if t.type == "heading_open" and t.tag == "h2" and not t.level]
    starts = [_first_line(token) for token in headings]
    if not starts:
        raise file.error(len(file.lines), "there is no card: begin one with “## ” and its title.")
    if len(starts) > MAX_CARDS:
        raise file.error(starts[MAX_CARDS], f"a lesson has at most {MAX_CARDS} cards.")
    ends = [*starts[1:], len(file.lines) + 1]
    return Lesson(
        name=name,
        cards=tuple(
            _card(file, tokens, start, stop) for start, stop in zip(starts, ends, strict=True)
        ),
        text="\n".join(file.lines[end : starts[0] - 1]).strip(),
        **front,
    )


def _require_short_cards(file: _File) -> None:
    size = 0
    for number, line in enumerate(file.lines, start=1):
        size = len(line) + (0 if line.startswith("## ") else size)
        if size > MAX_CHARACTERS:
            raise file.error(number, f"a card has at most {MAX_CHARACTERS:,} characters: make two.")


def _front_matter_end(file: _File) -> int:
    """Return the number of lines of the front matter, with its two fences."""
    if not file.lines or file.lines[0].rstrip() != _FENCE:
        raise file.error(1, f"begin the file with “{_FENCE}”, title, goal, minutes and language.")
    for number, line in enumerate(file.lines[1:], start=2):
        if line.rstrip() == _FENCE:
            return number
    raise file.error(1, f"end the first part with a line “{_FENCE}”.")


def _front_matter(file: _File, end: int) -> dict[str, Any]:
    values = _mapping(file, file.lines[1 : end - 1], 2, _FRONT)
    for name in _NEEDED:
        if name not in values:
            raise file.error(end, f"“{name}:” is missing between the two lines “{_FENCE}”.")
    for name, (value, line) in values.items():
        if name == "notes":
            _require_markdown(file, name, value, line)
        elif name != "minutes":
            _require_text(file, name, value, line)
    minutes = values["minutes"]
    if type(minutes.value) is not int or not 1 <= minutes.value <= 240:
        raise file.error(minutes.line, "write the minutes as a whole number from 1 to 240.")
    _require_one_of(file, "language", values["language"], get_args(Language))
    if "model" in values:
        _require_one_of(file, "model", values["model"], ("bundled", "any"))
    return {name: value for name, (value, _) in values.items()}


def _card(file: _File, tokens: Sequence[Token], start: int, stop: int) -> Card:
    """Parse the card of the lines from `start` up to `stop`, from 1."""
    own = [t for t in tokens if t.map and start <= t.map[0] + 1 < stop and not t.level]
    inside = (t for t in tokens if t.type == "inline" and t.map and t.map[0] + 1 == start)
    title = "".join(child.content for token in inside for child in token.children or ()).strip()
    if not title:
        raise file.error(start, "give the card a title after “## ”.")
    fences = [t for t in own if t.type == "fence" and t.info.strip() == "yaml"]
    if len(fences) > 1:
        raise file.error(_first_line(fences[1]), _TWO_BLOCKS)
    values = {}
    if fences:
        first = _first_line(fences[0]) + 1
        values = _mapping(file, fences[0].content.splitlines(), first, _CARD)
    choices, taken = _choices(tokens, start, stop)
    taken.update(line for fence in fences for line in _lines(fence))
    text = "\n".join(
        line for number, line in enumerate(file.lines[start : stop - 1], start=start + 1)
        if number not in taken
    )  # fmt: skip
    for number in range(start, stop):
        mark, bracket, rest = file.lines[number - 1].partition("]")
        is_nearly = bracket and "".join(mark.split()) in _NEARLY_CHOICES and rest[:1] != "("
        if number not in taken and is_nearly:
            raise file.error(number, "write a choice as “- [ ] …”, the right one as “- [x] …”.")
    for name in ("ask", "hint", "reveal"):
        if name in values:
            _require_markdown(file, name, *values[name])
    for name, options in (("open", ("after",)), ("sentence", ("own",)), ("light", get_args(Light))):
        if name in values:
            _require_one_of(file, name, values[name], options)
    if "reveal" in values and (blank := _BLANK.search(values["reveal"].value)):
        problem = f"{quoted(blank[0])} stands for nothing: write {{answer}} for the answer."
        raise file.error(values["reveal"].line, problem)
    if "light" in values:
        _require_page(file, values)
    answer = _answer(file, values["answer"]) if "answer" in values else None
    _require_one_answer(file, start, values, choices, answer)
    return Card(
        title=title,
        text=text.strip(),
        line=start,
        view=_view(file, values["link"]) if "link" in values else None,
        light=values["light"].value if "light" in values else None,
        ask=values["ask"].value if "ask" in values else "",
        choices=choices,
        answer=answer,
        hint=values["hint"].value if "hint" in values else "",
        reveal=values["reveal"].value if "reveal" in values else "",
        predict="open" in values,
        own_sentence="sentence" in values,
    )


def _require_one_answer(
    file: _File,
    line: int,
    values: Mapping[str, _Value],
    choices: Sequence[Choice],
    answer: Measurement | None,
) -> None:
    """Require one right answer for a question, and none without a question."""
    right = sum(choice.right for choice in choices)
    if "ask" in values:
        if answer is None and not right:
            raise file.error(
                values["ask"].line,
                "the question has no answer: mark one “- [x]”, or add “answer:”.",
            )
    elif choices or answer:
        raise file.error(line, "the card has an answer but no question: add “ask:”.")
    if answer is not None and right:
        raise file.error(line, "the card has two answers: remove “answer:”, or the mark “[x]”.")
    if right > 1:
        raise file.error(line, "two choices are right: mark one “- [x]”.")
    if len(choices) == 1:
        raise file.error(line, "one choice is no choice: add another “- [ ]”.")
    if len({choice.text for choice in choices}) < len(choices):
        raise file.error(line, "two choices are the same.")


def _choices(tokens: Sequence[Token], start: int, stop: int) -> tuple[tuple[Choice, ...], set[int]]:
    """Return the choices of a card, and the lines on which they stand."""
    choices: list[Choice] = []
    taken: set[int] = set()
    item: Token | None = None
    for token in tokens:
        if token.map and not start <= token.map[0] + 1 < stop:
            continue
        if token.type == "list_item_open":
            item = token
        elif token.type == "inline" and item is not None:
            if match := _CHOICE.fullmatch(token.content):
                choices.append(Choice(" ".join(match[2].split()), match[1] != " "))
                taken.update(_lines(item))
            item = None
    return tuple(choices), taken


def _view(file: _File, link: _Value) -> View:
    """Parse a link: the path and query of an address of the app."""
    _require_text(file, "link", *link)
    try:
        parts = urlsplit(link.value)
    except ValueError as error:  # brackets that hold no number of a machine
        raise file.error(link.line, f"{quoted(link.value)} is no address: {error}.") from None
    page = parts.path.strip("/")
    if parts.scheme in ("http", "https"):
        # an address of the app, wherever it runs
        page = page.rpartition("/")[2]
    if not page and (parts.query or not parts.netloc):
        page = next(iter(PAGE_TITLES))
    if parts.scheme not in ("", "http", "https") or page not in PAGE_TITLES:
        raise file.error(
            link.line,
            f"there is no page {quoted(link.value)}: copy the address of a view, or begin with / "
            f"and one of {', '.join(PAGE_TITLES)}.",
        )
    choices = parse_qs(parts.query, keep_blank_values=True)
    return View(page, {name: choices[name] for name in choices if name not in _PROGRESS})


def _require_page(file: _File, values: Mapping[str, _Value]) -> None:
    """Require a light that the page of the link has."""
    light, line = values["light"]
    pages = PAGES_OF_LIGHTS.get(light)
    if "link" in values and pages and _view(file, values["link"]).page not in pages:
        names = ", ".join(f"/{page}" for page in pages)
        raise file.error(line, f"the page of this link has no {light}: link one of {names}.")


def _answer(file: _File, given: _Value) -> Measurement:
    """Parse what is measured for an answer."""
    value, line = given
    if not isinstance(value, dict) or not isinstance(value.get("measure"), str):
        raise file.error(line, _NO_MEASURE)
    name = value["measure"]
    if name not in MEASURES:
        names = ", ".join(MEASURES)
        raise file.error(line, f"there is no measure {quoted(name)}: choose among {names}.")
    tolerance = value.get("within", MEASURES[name].tolerance)
    if not isinstance(tolerance, int | float) or tolerance < 0:
        raise file.error(line, "write “within:” as a number from 0, such as 0.05.")
    needed = MEASURES[name].arguments
    arguments = {key: given for key, given in value.items() if key not in ("measure", "within")}
    if not all(isinstance(key, str) for key in arguments):
        raise file.error(line, "write numbers in the answer with a point, such as 0.05.")
    for key in [*needed, *arguments]:
        if (key in needed) != (key in arguments):
            names = ", ".join(needed) or "nothing else"
            problem = "is missing" if key in needed else "is too much"
            raise file.error(line, f"{quoted(key)} {problem}: “{name}” takes {names}.")
    try:
        parsed = {key: needed[key](given) for key, given in arguments.items()}
    except ValueError as error:
        raise file.error(line, str(error)) from None
    return Measurement(name, parsed, float(tolerance), line)


def _mapping(
    file: _File, lines: Sequence[str], first: int, allowed: Sequence[str]
) -> dict[str, _Value]:
    """Read a mapping in YAML, with the line of each value in the file, from 1."""
    text = "\n".join(lines)
    try:
        _refuse_what_unfolds(file, text, first)
        loader = _Loader(text)
        node = loader.get_single_node()
        values = loader.construct_document(node) if node is not None else {}
    except LessonError:
        raise
    except Exception as error:  # noqa: BLE001  the library raises what Python does, too
        mark = getattr(error, "problem_mark", None)
        stop = mark.line if mark else 0
        if mend := yaml_problem(lines[: stop + 1]):
            raise file.error(first + mend[0], mend[1]) from None
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise file.error(first + stop, f"this is not YAML: {problem}.") from None
    if not isinstance(node, yaml.MappingNode | None) or not isinstance(values, dict):
        raise file.error(first, "write one “name: value” a line.")
    result: dict[str, _Value] = {}
    for key, value in node.value if node is not None else ():
        line = first + key.start_mark.line
        if key.value not in allowed:
            names = ", ".join(allowed)
            raise file.error(line, f"there is no field {quoted(key.value)}: choose among {names}.")
        if key.value in result:
            raise file.error(line, f"the field {quoted(key.value)} is there twice.")
        rest = lines[value.end_mark.line][value.end_mark.column :] if value.value else ""
        if isinstance(value, yaml.ScalarNode) and rest.lstrip().startswith("#"):
            problem = f"what follows “ #” is lost: put all of “{key.value}:” in quotation marks."
            raise file.error(line, problem)
        result[key.value] = _Value(values[key.value], first + value.start_mark.line)
    return result


def _refuse_what_unfolds(file: _File, text: str, first: int) -> None:
    """Refuse YAML with anchors, tags, lone surrogates or too many values."""
    for number, event in enumerate(yaml.parse(text, Loader=_Loader)):
        line = first + (event.start_mark.line if event.start_mark else 0)
        if getattr(event, "anchor", None) or getattr(event, "tag", None):
            problem = "“&”, “*” and “!” begin no value: put the text in quotation marks."
            raise file.error(line, problem)
        if number > _MAX_EVENTS:
            raise file.error(line, "there are too many values: write one after each name.")
        if isinstance(event, yaml.ScalarEvent) and not _is_unicode(event.value):
            raise file.error(line, "half of a surrogate pair is no letter: write the letter.")


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _refuse_html(file: _File, tokens: Sequence[Token]) -> None:
    for token in _all(tokens):
        if token.type in ("html_block", "html_inline"):
            raise file.error(_line_of(file, token), "write Markdown, no HTML.")


def _refuse_foreign(file: _File, line: int, text: str) -> None:
    """Refuse pictures and footnotes wherever the browser's Markdown may show them.

    That Markdown has tables, formulas and footnotes. The parser here has not, and they can hide
    from it the one mark that shows a picture.
    """
    for mark, problem in _FOREIGN.items():
        if mark in text:
            raise file.error(line, problem)


def _require_marks(file: _File, tokens: Sequence[Token]) -> None:
    """Refuse marks of Markdown that would quietly turn a card or its block into text."""
    for token in tokens:
        line = _first_line(token)
        if token.type == "heading_open" and token.tag == "h1":
            raise file.error(line, "begin a card with “## ”, and nothing with “# ”.")
        if token.type == "inline":
            for number in _lines(token):
                if _NEARLY_A_CARD.match(file.lines[number - 1]):
                    raise file.error(number, "write a blank after “##”.")
        if token.type != "fence":
            continue
        content = token.content.splitlines()
        if token.info.strip() == "yaml":
            if any(map(_END_OF_BLOCK.match, content)):
                raise file.error(line, "this block has no end: add a line “```” below it.")
        elif content and content[0].partition(":")[0] in _CARD:
            raise file.error(line, "begin the block with “```yaml”.")


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens with those inside them, which get the lines of the outer ones."""
    for token in tokens:
        yield token
        for child in token.children or ():
            child.map = child.map or token.map
            yield child


def _line_of(file: _File, token: Token) -> int:
    """Return the line on which a token stands, from 1, as near as Markdown knows it."""
    lines = _lines(token)
    named = (n for n in lines if token.content and token.content in file.lines[n - 1])
    return next(named, lines[0])


def _lines(token: Token) -> range:
    """Return the lines of a token in the file, from 1."""
    start, stop = token.map or (0, 1)
    return range(start + 1, stop + 1)


def _first_line(token: Token) -> int:
    return _lines(token)[0]


def _require_text(file: _File, name: str, value: object, line: int) -> None:
    if not isinstance(value, str) or not value.strip():
        if value in (None, ""):
            raise file.error(line, f"write a text after “{name}:”, or remove the line.")
        raise file.error(line, f"“{name}:” is a text: put it in quotation marks.")


def _require_markdown(file: _File, name: str, value: object, line: int) -> None:
    """Require a text that passes the checks of the text of a card."""
    _require_text(file, name, value, line)
    _refuse_foreign(file, line, str(value))
    for token in _all(MarkdownIt("commonmark").parse(str(value))):
        if token.type in ("html_block", "html_inline"):
            raise file.error(line, "write Markdown, no HTML.")


def _require_one_of(file: _File, name: str, given: _Value, options: Sequence[str]) -> None:
    if given.value not in options:
        problem = f"there is no {name} {quoted(given.value)}: choose among {', '.join(options)}."
        raise file.error(given.line, problem)
