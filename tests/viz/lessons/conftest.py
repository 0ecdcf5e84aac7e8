"""The bundled model, and a lesson about it whose texts are hostile."""

from pathlib import Path

import pytest

from viz.lessons import Lesson, read_lesson

TEXT = """---
title: Köpfe <b>&amp;
goal: Lies <i>eine</i> Karte.
minutes: 5
language: de
sentence: A man rides a horse.
notes: Frag **zuerst**.
---

Vorher.

## Eine Zeile & mehr

Text mit *Nachdruck*.

```yaml
link: /heads?kind=cross-attention&layer=4&head=5
ask: Worauf schaut „Pferd“?
answer: {measure: strongest, head: L4 H5 cross, row: Pferd}
reveal: Auf **{answer}**.
```

- [ ] man
- [ ] horse

## Zahl

```yaml
link: /translate
ask: Wie viele?
answer: {measure: subwords, side: source}
```

## Gemerkt

```yaml
link: /roles?text=A+dog+sleeps.&roles_view=Remove+heads
ask: Wer?
```

- [x] Eva
- [ ] Adam

## Ohne Frage

Ende.

## Unmöglich

```yaml
ask: Wer?
answer: {measure: entropy, head: L9 H9 cross}
```

## Ohne ihn

```yaml
link: /inside?kind=encoder&layer=2&head=mean
ask: Wie wahrscheinlich?
answer: {measure: log probability without heads, heads: "L4 H5 cross, L2 H5 encoder"}
```
"""


@pytest.fixture(autouse=True)
def no_app(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what `tests/headlight/test_opened.py` tests: the app takes seconds to open."""
    monkeypatch.setattr("viz.lessons.__main__._faults_of_views", lambda *_: [])


@pytest.fixture
def lesson_file(tmp_path: Path) -> Path:
    path = tmp_path / "heads.de.md"
    path.write_text(TEXT, "utf-8")
    return path


@pytest.fixture
def lesson(lesson_file: Path) -> Lesson:
    return read_lesson(lesson_file)
