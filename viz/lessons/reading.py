"""Lesson files: Markdown with a front matter in YAML, one card for each second-level heading.

`docs/guides/own-lesson.md` describes them, with an example.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
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
from viz.lessons import lesson
from viz.lessons.measures import MEASURES

MAX_BYTES = 200_000  # largest size of a lesson file
MAX_CARDS = 40
MAX_CHARACTERS = 20_000
"""Largest size of a card: what reads Markdown takes long for one endless paragraph."""

_NEEDED = ("title", "goal", "minutes", "language")
_CHOICE = re.compile(r"\[([ xX])\] (.+)", re.DOTALL)
_NEARLY_CHOICES = {f"{dash}[{mark}" for dash in ("", *"-*+–—") for mark in ("", *"xX✓")}
"""Beginnings of a line that is nearly a choice, up to its “]” and without spaces."""
_NEARLY_A_CARD = re.compile(r"##[^#\s]")
_END_OF_BLOCK = re.compile(r"(```|~~~|## |[-*+] \[)")
"""Start of a line that follows a block; inside a block, it shows that the block was not closed."""
_BLANK = re.compile(r"\{(?!answer\})[^{}]*\}")
_PROGRESS = ("lesson", "card", "answers", "class", "present", "minutes", "locked")
"""Names in a copied address that are about the student's lesson, not about the view."""
_FENCE = "---"
_MAX_EVENTS = 200  # begins, ends and values of YAML in a card or the front matter
_FOREIGN = {
    "![": "a lesson has no pictures: link a view of the app.",
    "[^": "a lesson has no footnotes: write the sentence into the card.",
}
_NO_HTML = "write Markdown, no HTML."
_NO_MEASURE = (
    "write the answer as “{measure: …}”, a space after each colon, or mark a choice “- [x]”."
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
    """A value of a field, with its line in the file, from 1."""

    value: Any
    line: int


class _File(NamedTuple):
    """A lesson file while it is read."""

    name: str
    lines: Sequence[str]

    def error(self, line: int, problem: object) -> LessonError:
        """Make the error of a line, from 1."""
        return LessonError(f"{self.name}, line {line}: {problem}")


def read_lesson(path: Path) -> lesson.Lesson:
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
    parsed = parse_lesson(path.stem, text, name)
    return replace(parsed, checksum=sha256(content).hexdigest())


def parse_lesson(name: str, text: str, file_name: str) -> lesson.Lesson:
    """Parse the text of a lesson file; `name` is that in the URL, `file_name` that in errors."""
    file = _File(file_name, text.splitlines())
    size = 0
    for number, line in enumerate(file.lines, start=1):
        size = len(line) + (0 if line.startswith("## ") else size)
        if size > MAX_CHARACTERS:
            raise file.error(number, f"a card has at most {MAX_CHARACTERS:,} characters: make two.")
    front, end = _front_matter(file)
    tokens = MarkdownIt("commonmark").parse("\n".join([""] * end + list(file.lines[end:])))
    for token, part in _html(tokens):
        lines = _lines(token)
        raise file.error(next((n for n in lines if part in file.lines[n - 1]), lines[0]), _NO_HTML)
    for number, line in enumerate(file.lines[end:], start=end + 1):
        if problem := _unsupported_markdown(line):
            raise file.error(number, problem)
    _require_marks(file, tokens)
    headings = [t for t in tokens if t.type == "heading_open" and t.tag == "h2" and not t.level]
    starts = [_lines(token)[0] for token in headings]
    if not starts:
        raise file.error(len(file.lines), "there is no card: begin one with “## ” and its title.")
    if len(starts) > MAX_CARDS:
        raise file.error(starts[MAX_CARDS], f"a lesson has at most {MAX_CARDS} cards.")
    ends = [*starts[1:], len(file.lines) + 1]
    cards = (_card(file, tokens, start, stop) for start, stop in zip(starts, ends, strict=True))
    text = "\n".join(file.lines[end : starts[0] - 1]).strip()
    return lesson.Lesson(name=name, cards=tuple(cards), text=text, **front)


def _front_matter(file: _File) -> tuple[dict[str, Any], int]:
    """Return the values of the front matter, and the number of its lines with both fences."""
    fences = [number for number, line in enumerate(file.lines, 1) if line.rstrip() == _FENCE]
    if fences[:1] != [1]:
        raise file.error(1, f"begin the file with “{_FENCE}”, title, goal, minutes and language.")
    if len(fences) == 1:
        raise file.error(1, f"end the first part with a line “{_FENCE}”.")
    end = fences[1]
    values = _fields(file, file.lines[1 : end - 1], 2, _FRONT)
    for name in _NEEDED:
        if name not in values:
            raise file.error(end, f"“{name}:” is missing between the two lines “{_FENCE}”.")
    return {name: value for name, (value, _) in values.items()}, end


def _card(file: _File, tokens: Sequence[Token], start: int, stop: int) -> lesson.Card:
    """Parse the card of the lines from `start` up to `stop`, from 1."""
    own = [t for t in tokens if t.map and start <= t.map[0] + 1 < stop]
    inside = (t for t in own if t.type == "inline" and t.map and t.map[0] + 1 == start)
    title = "".join(child.content for token in inside for child in token.children or ()).strip()
    if not title:
        raise file.error(start, "give the card a title after “## ”.")
    fences = [t for t in own if t.type == "fence" and t.info.strip() == "yaml" and not t.level]
    if len(fences) > 1:
        raise file.error(_lines(fences[1])[0], _TWO_BLOCKS)
    choices, taken = _choices(own)
    values: dict[str, _Value] = {}
    for fence in fences:
        values = _fields(file, fence.content.splitlines(), _lines(fence)[0] + 1, _CARD)
        taken.update(_lines(fence))
    rest = {n: file.lines[n - 1] for n in range(start, stop) if n not in taken}
    for number, line in rest.items():
        mark, bracket, after = line.partition("]")
        if bracket and "".join(mark.split()) in _NEARLY_CHOICES and after[:1] != "(":
            raise file.error(number, "write a choice as “- [ ] …”, the right one as “- [x] …”.")
    del rest[start]
    _require_one_answer(file, start, values, choices)
    given = {name: value for name, (value, _) in values.items()}
    if "light" in given and "link" in given:
        pages = lesson.PAGES_OF_LIGHTS.get(given["light"], (given["link"].page,))
        if given["link"].page not in pages:
            problem = f"the page of this link has no {given['light']}: link one of /"
            raise file.error(values["light"].line, f"{problem}{', /'.join(pages)}.")
    if "answer" in given:
        given["answer"] = replace(given["answer"], line=values["answer"].line)
    return lesson.Card(
        title=title,
        text="\n".join(rest.values()).strip(),
        line=start,
        view=given.pop("link", None),
        choices=choices,
        predict=given.pop("open", "") != "",
        own_sentence=given.pop("sentence", "") != "",
        source="\n".join(file.lines[start - 1 : stop - 1]),
        **given,
    )


def _require_one_answer(
    file: _File, line: int, values: Mapping[str, _Value], choices: Sequence[lesson.Choice]
) -> None:
    """Require one right answer for a question, and none without a question."""
    asked, measured = "ask" in values, "answer" in values
    right = sum(choice.right for choice in choices)
    if asked and not measured and not right:
        problem = "the question has no answer: mark one “- [x]”, or add “answer:”."
        raise file.error(values["ask"].line, problem)
    for problem, is_wrong in {
        "the card has an answer but no question: add “ask:”.": not asked and (choices or measured),
        "the card has two answers: remove “answer:”, or the mark “[x]”.": measured and right > 0,
        "two choices are right: mark one “- [x]”.": right > 1,
        "one choice is not a choice: add another “- [ ]”.": len(choices) == 1,
        "two choices are the same.": len({choice.text for choice in choices}) < len(choices),
    }.items():
        if is_wrong:
            raise file.error(line, problem)


def _choices(tokens: Sequence[Token]) -> tuple[tuple[lesson.Choice, ...], set[int]]:
    """Return the choices among the tokens of a card, and the lines on which they stand."""
    choices: list[lesson.Choice] = []
    taken: set[int] = set()
    item: Token | None = None
    for token in tokens:
        if token.type == "list_item_open":
            item = token
        elif token.type == "inline" and item is not None:
            if match := _CHOICE.fullmatch(token.content):
                choices.append(lesson.Choice(" ".join(match[2].split()), match[1] != " "))
                taken.update(_lines(item))
            item = None
    return tuple(choices), taken


def _fields(
    file: _File, lines: Sequence[str], first: int, parsers: Mapping[str, "_Parser"]
) -> dict[str, _Value]:
    """Read a mapping in YAML, and parse each value; `first` is the line in the file, from 1."""
    text = "\n".join(lines)
    try:
        _refuse_unsafe_yaml(file, text, first)
        loader = _Loader(text)
        node = loader.get_single_node()
        values = loader.construct_document(node) if node is not None else {}
    except LessonError:
        raise
    except Exception as error:  # noqa: BLE001  the library raises what Python does, too
        raise _yaml_error(file, first, error) from None
    if not isinstance(node, yaml.MappingNode | None) or not isinstance(values, dict):
        raise file.error(first, "write one “name: value” a line.")
    result: dict[str, _Value] = {}
    for key, value in node.value if node is not None else ():
        name, line = key.value, first + value.start_mark.line
        rest = lines[value.end_mark.line][value.end_mark.column :] if value.value else ""
        try:
            if name not in parsers:
                names = ", ".join(parsers)
                raise ValueError(f"there is no field {quoted(name)}: choose among {names}.")
            if name in result:
                raise ValueError(f"the field {quoted(name)} is there twice.")
            if isinstance(value, yaml.ScalarNode) and rest.lstrip().startswith("#"):
                raise ValueError(
                    f"what follows “ #” is lost: put all of “{name}:” in quotation marks."
                )
            result[name] = _Value(parsers[name](name, values[name]), line)
        except ValueError as error:
            raise file.error(line, error) from None
    return result


def _yaml_error(file: _File, first: int, error: Exception) -> LessonError:
    """Make the error of invalid YAML, at the line where the value that is wrong begins."""
    mark = getattr(error, "problem_mark", None)
    if "block" not in (getattr(error, "context", None) or "block"):
        mark = getattr(error, "context_mark", None) or mark
    problem = getattr(error, "problem", None) or "it cannot be read"
    return file.error(
        first + (mark.line if mark else 0),
        f"this is not YAML ({problem}): write “name: value” from the beginning of the line, with "
        "a space after the colon, and a text with signs in straight quotation marks.",
    )


def _refuse_unsafe_yaml(file: _File, text: str, first: int) -> None:
    """Refuse YAML with anchors, tags, lone surrogates or too many values."""
    for number, event in enumerate(yaml.parse(text, Loader=_Loader)):
        line = first + (event.start_mark.line if event.start_mark else 0)
        if getattr(event, "anchor", None) or getattr(event, "tag", None):
            problem = "“&”, “*” and “!” begin no value: put the text in quotation marks."
            raise file.error(line, problem)
        if number > _MAX_EVENTS:
            raise file.error(line, "there are too many values: write one after each name.")
        value = event.value if isinstance(event, yaml.ScalarEvent) else ""
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise file.error(line, "half of a surrogate pair is not a letter: write the letter.")


def _html(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """Yield each piece of HTML, with the token that has its lines."""
    for token in tokens:
        for part in (token, *(token.children or ())):
            if part.type in ("html_block", "html_inline"):
                yield token, part.content


def _unsupported_markdown(text: str) -> str:
    """Return what is wrong with a picture or a footnote wherever Markdown may show one, or "".

    The browser's Markdown has tables, formulas and footnotes. The parser here has not, and they can
    hide from it the one mark that shows a picture.
    """
    return next((problem for mark, problem in _FOREIGN.items() if mark in text), "")


def _require_marks(file: _File, tokens: Sequence[Token]) -> None:
    """Refuse marks of Markdown that would quietly turn a card or its block into text."""
    for token in tokens:
        line = _lines(token)[0]
        if token.type == "heading_open" and token.tag == "h1":
            raise file.error(line, "begin a card with “## ”, and nothing with “# ”.")
        if token.type == "inline":
            for number in _lines(token):
                if _NEARLY_A_CARD.match(file.lines[number - 1]):
                    raise file.error(number, "write a space after “##”.")
        if token.type != "fence":
            continue
        content = token.content.splitlines()
        if token.info.strip() == "yaml":
            if any(map(_END_OF_BLOCK.match, content)):
                raise file.error(line, "this block has no end: add a line “```” below it.")
        elif content and content[0].partition(":")[0] in _CARD:
            raise file.error(line, "begin the block with “```yaml”.")


def _lines(token: Token) -> range:
    start, stop = token.map or (0, 1)
    return range(start + 1, stop + 1)


_Parser = Callable[[str, Any], Any]
"""Type of a function that takes name and value of a field, and raises ValueError."""


def _text(name: str, value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value
    if value in (None, ""):
        raise ValueError(f"write a text after “{name}:”, or remove the line.")
    raise ValueError(f"“{name}:” is a text: put it in quotation marks.")


def _markdown(name: str, value: Any) -> str:
    text = _text(name, value)
    html = [*_html(MarkdownIt("commonmark").parse(text))]
    if problem := _unsupported_markdown(text) or (_NO_HTML if html else ""):
        raise ValueError(problem)
    return text


def _reveal(name: str, value: Any) -> str:
    text = _markdown(name, value)
    if blank := _BLANK.search(text):
        problem = f"{quoted(blank[0])} stands for nothing: write {{answer}} for the answer."
        raise ValueError(problem)
    return text


def _one_of(options: Sequence[str], name: str, value: Any) -> str:
    if value not in options:
        names = ", ".join(options)
        raise ValueError(f"there is no {name} {quoted(value)}: choose among {names}.")
    return str(value)


def _minutes(_name: str, value: Any) -> int:
    if type(value) is not int or not 1 <= value <= 240:
        raise ValueError("write the minutes as a whole number from 1 to 240.")
    return value


def _view(name: str, value: Any) -> lesson.View:
    """Parse a link: the path and query of an address of the app."""
    link = _text(name, value)
    try:
        parts = urlsplit(link)
    except ValueError as error:  # brackets that hold no number of a machine
        raise ValueError(f"{quoted(link)} is not an address: {error}.") from None
    page = parts.path.strip("/")
    if parts.scheme in ("http", "https"):
        # an address of the app, wherever it runs
        page = page.rpartition("/")[2]
    if not page and (parts.query or not parts.netloc):
        page = next(iter(PAGE_TITLES))
    if parts.scheme not in ("", "http", "https") or page not in PAGE_TITLES:
        raise ValueError(
            f"there is no page {quoted(link)}: copy the address of a view, or begin with / "
            f"and one of {', '.join(PAGE_TITLES)}."
        )
    choices = parse_qs(parts.query, keep_blank_values=True)
    return lesson.View(page, {name: choices[name] for name in choices if name not in _PROGRESS})


def _measurement(_name: str, value: Any) -> lesson.Measurement:
    """Parse what is measured for an answer."""
    if not isinstance(value, dict) or not isinstance(value.get("measure"), str):
        raise ValueError(_NO_MEASURE)
    name = value["measure"]
    if name not in MEASURES:
        raise ValueError(f"there is no measure {quoted(name)}: choose among {', '.join(MEASURES)}.")
    tolerance = value.get("within", MEASURES[name].tolerance)
    if not isinstance(tolerance, int | float) or tolerance < 0:
        raise ValueError("write “within:” as a number from 0, such as 0.05.")
    needed = MEASURES[name].arguments
    arguments = {key: given for key, given in value.items() if key not in ("measure", "within")}
    if not all(isinstance(key, str) for key in arguments):
        raise ValueError("write numbers in the answer with a point, such as 0.05.")
    for key in [*needed, *arguments]:
        if (key in needed) != (key in arguments):
            names = ", ".join(needed) or "nothing else"
            problem = "is missing" if key in needed else "is too much"
            raise ValueError(f"{quoted(key)} {problem}: “{name}” takes {names}.")
    parsed = {key: needed[key](given) for key, given in arguments.items()}
    return lesson.Measurement(name, parsed, float(tolerance))


_FRONT: Mapping[str, _Parser] = {
    "title": _text,
    "goal": _text,
    "minutes": _minutes,
    "language": partial(_one_of, get_args(lesson.Language)),
    "model": partial(_one_of, ("bundled", "any")),
    "sentence": _text,
    "notes": _markdown,
}
_CARD: Mapping[str, _Parser] = {
    "link": _view,
    "open": partial(_one_of, ("after",)),
    "light": partial(_one_of, get_args(lesson.Light)),
    "sentence": partial(_one_of, ("own",)),
    "ask": _markdown,
    "answer": _measurement,
    "hint": _markdown,
    "reveal": _reveal,
    "words": _text,
}
