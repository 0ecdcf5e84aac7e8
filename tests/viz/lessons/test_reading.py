"""Lesson files: what a good one holds, and the line that the error of a bad one names."""

import time
from pathlib import Path

import pytest

from viz.app.links import address
from viz.lessons import LessonError, read_lesson, reading
from viz.lessons.lesson import Measurement

FRONT = "---\ntitle: Masks\ngoal: Read a mask.\nminutes: 5\nlanguage: en\n---\n"
"""Six lines, so that what follows begins on line 7."""
GOOD = (
    FRONT
    + """
Look first.

## Look at it

Some *text*.

```yaml
link: /masks?mask-view=shift right&kind=decoder
light: masks
ask: What is 2 × 2?
reveal: It is {answer}.
```

- [ ] 3
- [x] 4

## Measure it

- a list that is none of choices

```yaml
ask: How large?
answer: {measure: weight, head: L9 H9 cross, row: 1, column: 1, within: 0.2}
```
"""
)


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "masks.en.md"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_good_file_has_all_that_it_says(tmp_path: Path) -> None:
    lesson = read_lesson(write(tmp_path, GOOD))
    assert (lesson.name, lesson.title, lesson.goal) == ("masks.en", "Masks", "Read a mask.")
    assert (lesson.minutes, lesson.language, lesson.model) == (5, "en", "any")
    assert lesson.text == "Look first."
    first, second = lesson.cards
    assert (first.title, first.text, first.line) == ("Look at it", "Some *text*.", 10)
    assert first.view is not None
    assert first.view.url == "/masks?mask-view=shift+right&kind=decoder"
    assert [tuple(choice) for choice in first.choices] == [("3", False), ("4", True)]
    assert (first.light, first.reveal) == ("masks", "It is {answer}.")
    assert second.text == "- a list that is none of choices"
    assert second.answer == Measurement(
        "weight", {"head": ("cross", 8, 8), "row": 1, "column": 1}, 0.2
    )


@pytest.mark.parametrize("change", [("\n", "\r\n"), ("---\ntitle", "\ufeff---\ntitle")])
def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing(tmp_path, change) -> None:
    lesson = read_lesson(write(tmp_path, GOOD))
    assert read_lesson(write(tmp_path, GOOD.replace(*change))).cards == lesson.cards


@pytest.mark.parametrize("start", ["https://a.example/space", ""])
def test_a_copied_address_is_the_view_without_the_reader_s_lesson(tmp_path, start) -> None:
    rest = "/heads?layer=4&" + "&".join(f"{name}=1" for name in address.CARRIED)
    (only,) = read_lesson(write(tmp_path, card(f"link: {start}{rest}"))).cards
    assert only.view is not None
    assert only.view.url == "/heads?layer=4"
    root = f"link: {start.removesuffix('/space')}/?text=Hello."
    (only,) = read_lesson(write(tmp_path, card(root))).cards
    assert only.view is not None
    assert only.view.url == "/translate?text=Hello."


def card(*lines: str) -> str:
    """Return a file whose card has a block of YAML; its first line is line 9."""
    return FRONT + "## Card\n```yaml\n" + "\n".join(lines) + "\n```\n"


ASK = "ask: Why?"
CHOICES = "\n- [x] yes\n- [ ] no\n"
BAD: dict[str, tuple[int, str | bytes]] = {
    "address of another site": (9, card("link: https://example.org/")),
    "unknown measure": (10, card(ASK, "answer: {measure: beauty}")),
    "argument too much": (10, card(ASK, "answer: {measure: subwords, side: source, row: 1}")),
    "unknown light": (10, card("link: /masks", "light: moon")),
    "no answer": (9, card(ASK)),
    "two answers": (7, card(ASK, "answer: {measure: subwords, side: source}") + CHOICES),
    "answer without a question": (7, FRONT + "## Card\n" + CHOICES),
    "unknown field": (10, card(ASK, "colour: red")),
    "field twice": (10, card(ASK, ASK)),
    "broken YAML": (10, card(ASK, "light: [map")),
    "no blank after a colon": (10, card("link: /masks", "light:masks", ASK)),
    "text that a comment cuts off": (9, card("ask: Row #5: why?") + CHOICES),
    "name in braces that is none": (10, card(ASK, "reveal: '{anwser}'") + CHOICES),
    "choice with a dash of the word processor": (12, card(ASK) + "\n– [ ] yes\n- [x] no\n"),
    "block without an end": (8, FRONT + "## Card\n```yaml\nask: Why?\n" + CHOICES),
    "block that is not named": (8, card(ASK).replace("yaml", "yml") + CHOICES),
    "decimal comma": (9, card("answer: {measure: subwords, side: source, within: 0,5}")),
    "an object of Python": (9, card("ask: !!python/object/apply:os.system [ls]")),
    "no card": (7, FRONT + "text\n"),
    "HTML": (9, FRONT + "## Card\n\n<b>bold</b>\n"),
    "image": (10, FRONT + "## Card\n\ntext\n![a picture](https://example.org/a.png)\n"),
    "41 cards": (7 + 40 * 2, FRONT + "## Card\ntext\n" * (reading.MAX_CARDS + 1)),
    "no front matter": (1, "# Masks\n\n## Card\n"),
    "empty file": (1, ""),
    "no minutes at all": (4, FRONT.replace("minutes: 5", "minutes: 0")),
    "anchor": (9, card("ask: &a Why?") + CHOICES),
    "address that is none": (9, card('link: "http://[x]/"')),
    "sign that there is not": (9, card(r'ask: "\UFFFFFFFF"')),
    "tolerance that is none": (10, card(ASK, "answer: {measure: least certain, within: .inf}")),
    "lists within lists": (9, card("ask: " + "[" * 9_000)),
    "card that is too long": (11, card(ASK) + " " * 21_000 + "\n" + CHOICES),
    "picture in an escape": (9, card(r'ask: "Why \x21[a](https://example.org/a.png)?"') + CHOICES),
    "picture in a footnote": (9, FRONT + "## Card\n\ntext[^1]\n\n[^1]: ![a](b)\n"),
    "picture behind a cell": (11, FRONT + "## Card\n\n|a|b|\n|-|-|\n|`|![a](b)`|\n"),
    "not UTF-8": (2, FRONT.replace("Masks", "Müller").encode("latin-1")),
}
"""By what is wrong: the line that the error names, and the file."""


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gives_one_sentence_with_its_line(tmp_path: Path, name: str) -> None:
    line, text = BAD[name]
    with pytest.raises(LessonError) as error:
        read_lesson(write(tmp_path, text))
    assert str(error.value).startswith(f"masks.en.md, line {line}: ")
    assert len(str(error.value)) < 1000


def test_a_file_that_is_too_large_or_missing_is_named(tmp_path: Path) -> None:
    for path in (
        write(tmp_path, GOOD + "x" * 2_000_000),
        tmp_path / "missing.md",
        tmp_path,
    ):
        with pytest.raises(LessonError) as error:
            read_lesson(path)
        assert str(error.value).startswith(path.name)
        assert str(tmp_path) not in str(error.value).removeprefix(path.name)
    assert len(GOOD) < reading.MAX_BYTES
    with pytest.raises(LessonError, match="cannot be shown"):
        read_lesson(tmp_path / "\udcff.md")


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        card("a0: &a0 [x, x]", *(f"a{n}: &a{n} [{f'*a{n - 1},' * 9}]" for n in range(1, 30))),
        card(f"ask: [{'a,' * 90_000}]"),
        FRONT + "## Card\n[" + " " * 190_000,
        FRONT + "## Card\n" + "[" * 190_000,
    ],
)
def test_no_file_holds_its_reader(tmp_path: Path, text: str) -> None:
    start = time.process_time()
    with pytest.raises(LessonError):
        read_lesson(write(tmp_path, text))
    assert time.process_time() - start < 2
