"""Words, rows and heads that a lesson names: those that its sentence and the model have pass."""

import pytest

from tests.viz.lessons.test_bundled_lessons import LESSONS
from transformer.files.installed import ASSETS
from viz.draw import caption
from viz.lessons import read_lesson
from viz.lessons.__main__ import main
from viz.lessons.grading import answer_key
from viz.lessons.wording import missing_names

LESSON = """---
title: Horses
goal: Read a map.
minutes: 5
language: en
sentence: A man rides a horse.
---

## A row

The row that reads “auf” and the row of “Pferd” look at „rides“, as *Options* says. “ride
on” is a verb, and ‘Mann’ no ‘Frau’. “{answer}” and “A man rides a horse.” are quoted.
Cross-attention L4 H5, encoder L6 H8.

```yaml
link: /heads?kind=cross-attention&layer=4&head=5
words: ride on, Frau
ask: Which subword does the row “Pferd” look at most, in L4 H5?
answer: {measure: strongest, head: L4 H5 cross, row: Pferd}
reveal: >-
  The word “{answer}”, as in
  “reitet auf einem **Pferd**”.
```

## Without

```yaml
ask: Does it write “Es reitet ein Mann auf einem Pferd.” without encoder L1 H1?
answer: {measure: changed without heads, heads: L4 H5 cross}
words: Es reitet ein Mann auf einem Pferd.
```

## Of the encoder

```yaml
link: /heads?kind=encoder&layer=2&head=8
ask: Is “man” the darkest of the row “rides”?
```

- [x] yes, “man”
- [ ] no
"""


@pytest.fixture(scope="module")
def sentences(bundled, tmp_path_factory):
    """The subject of each card, which no other wording changes."""
    path = tmp_path_factory.mktemp("lesson") / "horses.en.md"
    path.write_text(LESSON, "utf-8")
    return [sentence for _, sentence, _, _ in answer_key(read_lesson(path), bundled)]


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("", "", 0, ""),
        ("‘Mann’", "‘Herr’", 12, "“Herr” is not in"),
        ("„rides“", "„läuft“", 11, "“läuft” is not in"),
        ("ride on, Frau", "Frau", 11, "“ride on” is not in"),
        ("“Pferd” look at most", "“horse” look at most", 18, "“horse” is not a row"),
        ("“Pferd” look at most", "“pferd” look at most", 18, "“pferd” is not in"),
        ("reitet auf", "rennt auf", 22, "“rennt auf einem Pferd” is not in"),
        ("row “rides”", "row “reitet”", 37, "“reitet” is not a row"),
        ("row “rides”", "rows “man” (Mann) and “reitet”", 37, "“reitet” is not a row"),
        ("encoder L6 H8", "encoder L6 H9", 13, "L6 H9"),
        ("in L4 H5?", "in L7 H5?", 18, "L7 H5"),
        ("encoder L1 H1", "encoder L0 H1", 28, "L0 H1"),
    ],
)
def test_a_name_is_checked_at_its_line(sentences, tmp_path, old, new, line, problem) -> None:
    assert LESSON.count(old) == 1 or not old
    path = tmp_path / "horses.en.md"
    path.write_text(LESSON.replace(old, new), "utf-8")
    cards = zip(read_lesson(path).cards, sentences, strict=True)
    slip = [slip for card, sentence in cards if sentence for slip in missing_names(card, sentence)]
    assert [number for number, _ in slip] == [line][: bool(line)]
    assert all(problem in sentence for _, sentence in slip)


@pytest.mark.parametrize("head", ["head: L4 H5 cross", "heads: L4 H5 cross"])
def test_the_command_says_it_and_ends_with_2(tmp_path, capsys, head) -> None:
    path = tmp_path / "horses.en.md"
    path.write_text(LESSON.replace("‘Mann’", "‘Herr’").replace(head, head[:-9] + "L9 H5 cross"))
    assert main(["check", str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert any("horses.en.md, line" in line and "L9 H5" in line for line in lines)


@pytest.mark.slow
def test_the_tours_and_the_puzzles_name_what_there_is(bundled) -> None:
    """Also without the heads that a card removes; test_bundled_lessons.py has all others."""
    others = {f"{name}.md" for name in LESSONS}
    files = [path for path in (ASSETS / "lessons").glob("*.md") if path.name not in others]
    assert len(files) == 3
    for path in files:
        for card, sentence, _, _ in answer_key(read_lesson(path), bundled):
            assert not sentence or [*missing_names(card, sentence)] == [], path


def test_the_puzzles_name_the_model_of_which_they_are(bundled) -> None:
    made_by = caption.Origin.from_translator(bundled, "", "").made_by
    assert made_by in read_lesson(ASSETS / "lessons" / "puzzles.en.md").notes
