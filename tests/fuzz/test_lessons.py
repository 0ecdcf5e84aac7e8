"""Hostile lesson files and answers: a file is a lesson or one sentence, and the page stays."""

import json
from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from tests.fuzz import bounds
from transformer.files.installed import FILES
from viz.app.lessons.library import BUNDLED_LESSONS, LESSONS_VARIABLE, read_offered
from viz.lessons import read_lesson
from viz.lessons.answers import Answers, GivenAnswer, Try, read_answers, write_answers

FRONT = "---\ntitle: A\ngoal: B\nminutes: 1\nlanguage: en\n---\n"
NAMES = "link open light sentence ask answer hint reveal title minutes model {measure row".split()
VALUES = [
    *"/masks /heads?layer=4 http://[x]/ //a@b:99999999/ own after any 0xff 1_0 .inf .nan".split(),
    *"!!int !!bool !!timestamp !!python/name:os.system &a *a ~ {} [] >- | % @ ` - ? : #".split(),
    *("weight,", "L4 H5 cross,", "subwords, side: source}", "strongest, row: 1}", "1:30", "a: b"),
    *('"\\ud800"', '"\\UFFFFFFFF"', "'", '"', "[" * 9_000, "9" * 5_000, "![a](b)", "[^1]: ![a](b)"),
]
LINES = st.sampled_from(
    ["## Card", "##", "```yaml", "```", "- [x] a", "- [ ] b", "- [] c", "[" + " " * 15_000, "---"]
) | st.builds("{}: {}".format, st.sampled_from(NAMES), st.sampled_from(VALUES) | st.text())
FILE_TEXTS = st.builds(
    lambda front, lines: (FRONT * front + "\n".join(lines)).encode("utf-8", "surrogatepass"),
    st.booleans(),
    st.lists(LINES, max_size=20),
)
LESSONS = sorted(BUNDLED_LESSONS.glob("*.md"))


@pytest.mark.slow
@bounds.examples(8, 2_000)
@given(FILE_TEXTS | st.binary(max_size=300))
def test_a_text_is_a_lesson_or_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "lesson.md"
    path.write_bytes(content)
    with bounds.accepted_or_refused():
        read_lesson(path)


@bounds.examples(10, 500)
@given(st.sampled_from(LESSONS), bounds.BYTES, st.floats(0.5, 1))
def test_a_damaged_lesson_takes_no_other_away(tmp_path, lesson, places, end):
    path = tmp_path / "damaged.md"
    path.write_bytes(lesson.read_bytes())
    bounds.change_bytes(path, places, end)
    with pytest.MonkeyPatch.context() as patch, bounds.no_errors_logged():
        patch.setenv(LESSONS_VARIABLE, str(tmp_path))
        library = read_offered()
    assert len(library.lessons) + len(library.problems) == len(LESSONS) + 1
    event("refused" if library.problems else "accepted")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@bounds.examples(12, 2_000)
@given(st.dictionaries(st.sampled_from([*Answers.__annotations__, "format", "sha256", "x"]), JSON))
def test_answers_are_read_or_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    given_answer = GivenAnswer("a1", "7", (Try("x" * 10_000, False),), False)
    sound = write_answers(Answers("a", "0" * 64, "A cat.", "m", "", "Eva", (given_answer,)))
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({**json.loads(sound), **changes}))
    with bounds.accepted_or_refused():
        read_answers(path)


@pytest.mark.slow
@bounds.examples(2, 200)
@given(
    lesson=st.sampled_from([path.stem for path in LESSONS]),
    card=st.sampled_from(["1", "4", "7", "99", "x"]),
    answers=st.text(st.characters(codec="utf-8"), max_size=700)
    | st.lists(st.sampled_from(["?", "1", "9" * 400, "1e999", "**b**", ""])).map("|".join),
)
def test_answers_in_an_address_are_judged_on_the_page(lesson: str, card: str, answers: str) -> None:
    app = AppTest.from_file(str(FILES / "app.py"), default_timeout=bounds.SECONDS)
    tasks = read_lesson(BUNDLED_LESSONS / f"{lesson}.md").tasks
    answers = "~".join(f"{task}|{answers}" for task in tasks)
    for name, value in {"lesson": lesson, "card": card, "answers": answers}.items():
        app.query_params[name] = value
    with bounds.no_errors_logged():
        app.run()
    assert [box.message for box in app.exception] == []
    event("accepted")
