"""Files of a class, dropped by a teacher."""

import json
import time

import pytest
from streamlit.testing.v1 import AppTest

from viz.lessons.answers import Answers, GivenAnswer, Try, write_answers
from viz.lessons.reading import parse_lesson

LESSON = """---
title: One
goal: One
minutes: 1
language: de
---

## One

```yaml
ask: Which?
```

- [ ] dog
- [x] The
"""


def page(text):
    from viz.app.lessons import class_answers
    from viz.lessons.reading import parse_lesson

    class_answers._show(parse_lesson("one", text, "one.md"))


@pytest.fixture
def drop():
    app = AppTest.from_function(page, kwargs={"text": LESSON}, default_timeout=30).run()

    def run(*files):
        dropped = [(name, content, "") for name, content in files]
        return app.file_uploader[0].set_value(dropped).run() if files else app.run()

    return run


def file(reader, *tries, copies=1, **changes):
    lesson = parse_lesson("one", LESSON, "one.md")
    marked = tuple(Try(text, text == "The") for text in tries)
    given = (GivenAnswer(lesson.tasks[0], "The", marked, False),) * copies
    fields = {"lesson_sha256": lesson.checksum, "answers": given, **changes}
    answers = Answers("one", sentence="", model="m", model_sha256="", reader=reader, **fields)
    return write_answers(answers)


def tables(app):
    return [table.value.to_numpy().tolist() for table in app.table]


def test_three_hundred_files_are_a_table_and_bad_ones_a_sentence_each(drop):
    good = [(f"{n}.json", file(f"*S{n}*", "dog", *["The"] * (n % 2))) for n in range(300)]
    other = (GivenAnswer("0", "The", (), False),)
    bad = {
        "forged.json": file("Eva", "dog").replace(b"false", b"true"),
        "cut.json": file("Eva", "dog")[:100],
        "old.json": file("Eva", answers=other, lesson_sha256="0" * 64),
        "many.json": file("Eva", "dog", copies=10_000),
        "picture.png": bytes(range(256)),
        "\x1b\nx.json": b"[" * 100_000,
    }
    began = time.monotonic()
    app = drop(*good, *bad.items())
    assert time.monotonic() - began < 10
    assert not app.exception
    summary, rows = tables(app)
    assert summary == [[1, 150, 0, 0, "dog", 300]]
    assert rows[:2] == [["\\*S0\\*", 0, "✗"], ["\\*S1\\*", 1, "✓2"]]
    assert len(rows) == 300
    sentences = app.text[-1].value.splitlines()
    assert len(sentences) == len(bad)
    for name in bad:
        assert sum(name.strip("\x1b\n") in text for text in sentences) == 1
    assert "10,000 answers" in next(text for text in sentences if text.startswith("many"))


def test_a_file_that_was_read_is_kept_no_longer_than_its_answers(drop):
    first = ("a.json", file("Eva", "dog"))
    app = drop(first, ("b.json", file("Eva", "dog", "The")))
    assert tables(app)[1] == [["Eva", 1, "✓2"]]  # an earlier state, which is said
    assert "a.json" in app.text[-1].value
    before = tables(app)
    assert [held.getvalue() for held in app.session_state["class-files"]] == [b"", b""]
    assert tables(drop()) == before  # and what was read of them stays
    app = drop(("c.json", json.dumps([]).encode()))
    assert (tables(app), len(app.text[-1].value.splitlines())) == ([], 1)
