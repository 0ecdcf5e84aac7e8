"""Answers of a class as a teacher sees them: files are dropped, and nothing of them is stored."""

import streamlit as st

from transformer import InputError
from transformer.errors import one_line
from viz.app.chrome.explanations import as_markdown
from viz.app.chrome.fields import files_field
from viz.app.chrome.problems import say
from viz.lessons import Lesson
from viz.lessons.answers import MAX_BYTES, Answers, parse_answers
from viz.lessons.collecting import answers_table, cards_table, collect, csv_of
from viz.lessons.texts import TEXTS

_FILES = "class-files"


def draw_button(lesson: Lesson) -> None:
    """Draw the button that opens the dialog for the files of a class."""
    title = TEXTS[lesson.language]["collect"]
    if st.button(title, key="lesson-collect", type="tertiary"):
        st.dialog(title, width="large")(_show)(lesson)


def _show(lesson: Lesson) -> None:
    texts = TEXTS[lesson.language]
    read = files_field(texts["files"], _FILES, MAX_BYTES, _read)
    problems = [one for one in read if isinstance(one, str)]
    collected = collect([one for one in read if not isinstance(one, str)], lesson)
    if sentences := [*problems, *collected.problems, *collected.notes]:
        with st.container(height=200 if len(sentences) > 8 else "content"):
            say("\n".join(sentences))
    if collected.students:
        _draw_tables(lesson, collected.students)


def _draw_tables(lesson: Lesson, students: list[Answers]) -> None:
    texts, count = TEXTS[lesson.language], len(students)
    table, cards = answers_table(lesson, students), cards_table(lesson, students)
    rights = f"{texts['rights']} / "
    numbers = cards["card"].astype(str)
    rows = table.iloc[:, [0, 1, *range(3, 3 + len(cards))]]
    rows = rows.set_axis([texts["name"], f"{rights}{len(cards)}", *numbers], axis=1)
    names = [texts[name] for name in ("column", "firsts", "showns", "mistake", "made_by")]
    cards = cards.set_axis([names[0], f"{rights}{count}", *names[1:]], axis=1)
    for frame, column in ((cards, texts["mistake"]), (rows, texts["name"])):
        frame[column] = frame[column].map(as_markdown)
    st.table(cards, border="horizontal", hide_index=True)
    st.caption(texts["marks"])
    with st.container(height=360 if count > 8 else "content"):
        st.table(rows, border="horizontal", hide_index=True)
    st.download_button(
        texts["table"],
        lambda: csv_of(table),
        f"{lesson.name}.csv",
        "text/csv",
        key="lesson-table",
        on_click="ignore",
    )


def _read(name: str, content: bytes) -> tuple[str, Answers] | str:
    """Read a file, or return a sentence on its problem."""
    name = one_line(name)
    try:
        return name, parse_answers(name, content)
    except InputError as error:
        return str(error)
