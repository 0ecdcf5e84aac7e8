"""The how-to of lessons: its tables list what there is, and its lesson is one."""

import re
from pathlib import Path
from typing import get_args

from transformer.files.installed import ASSETS
from viz.draw.labels import PAGE_TITLES
from viz.lessons import grading, lesson, reading
from viz.lessons.measures import MEASURES
from viz.lessons.wording import missing_names

GUIDE = (Path(__file__).parents[3] / "docs" / "guides" / "own-lesson.md").read_text("utf-8")


def rows(heading):
    """Return the cells of the tables below a heading, without their first two lines."""
    pattern = rf"^## {heading}\n(.*?)(?=^## |\Z)"
    (section,) = re.findall(pattern, GUIDE, re.DOTALL | re.MULTILINE)
    tables = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    lines = [line for table in tables for line in table.splitlines()[2:]]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def names(cell):
    return tuple(re.findall("`([^`]+)`", cell))


def test_the_tables_list_what_there_is():
    measures = {names(first)[0]: names(second) for first, second, _ in rows("Measures")}
    assert measures == {name: tuple(measure.arguments) for name, measure in MEASURES.items()}
    lights = [name for first, _ in rows("Places to highlight") for name in names(first)]
    assert sorted(lights) == sorted(get_args(lesson.Light))
    fields = [name for first, _ in rows("The fields") for name in names(first)]
    assert fields == [*reading._FRONT, *reading._CARD]
    lines = {name: second for first, second in rows("Places to highlight") for name in names(first)}
    for light, pages in lesson.PAGES_OF_LIGHTS.items():
        assert {page for page in PAGE_TITLES if PAGE_TITLES[page] in lines[light]} >= set(pages)


def test_its_lesson_is_one_whose_answers_can_be_computed(bundled):
    (text,) = re.findall(r"^````markdown\n(.*?)^````", GUIDE, re.DOTALL | re.MULTILINE)
    entries = list(grading.answer_key(reading.parse_lesson("snow", text, "snow.md"), bundled))
    assert text == (ASSETS / "lessons" / "new.en.txt").read_text("utf-8")
    assert [entry.problem for entry in entries] == ["", ""]
    assert not any([*missing_names(card, sentence)] for card, sentence, *_ in entries if sentence)
    answers = [entry.answer.text for entry in entries if entry.answer]
    assert answers[0] == "snow"
    assert 0 < float(answers[1]) < 1
