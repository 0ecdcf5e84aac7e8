"""The command `headlight lessons`."""

import csv
import json
from hashlib import sha256

import pytest

from transformer.files.installed import BUNDLED
from viz.lessons import read_lesson
from viz.lessons.__main__ import main
from viz.lessons.answers import Answers, GivenAnswer, write_answers


def test_a_check_prints_the_answer_of_each_card(lesson_file, tmp_path, capsys):
    bad = tmp_path / "bad.md"
    bad.write_text("---\ntitle: x\n---\n")
    assert main(["check", str(bad), str(lesson_file)]) == 2
    output = capsys.readouterr()
    lines = output.out.splitlines()
    starts = [f"heads.de.md, line {number}: " for number in (12, 26, 34, 44, 55)]
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=True)] == starts
    ends = ["→ horse", "→ 7", "→ Eva", "→ –"]
    assert [line[-len(end) :] for line, end in zip(lines, ends, strict=False)] == ends
    no_lesson, problem = output.err.splitlines()
    assert no_lesson.startswith("headlight lessons: bad.md, line 3: ")
    assert problem.startswith("headlight lessons: heads.de.md, line 52: ")
    assert "9" in problem


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("- [ ] horse", "- [ ] rides", "line 19: none of the choices is the answer"),
        ("row: Pferd", "row: auf", "20%"),  # 0.497 for horse, 0.492 for rides
        ("layer=4&head=5", "layer=2&head=5", "L4 H5"),
    ],
)
def test_a_question_that_misleads_who_looks_well_is_a_problem(
    lesson_file, capsys, old, new, problem
):
    text = lesson_file.read_text("utf-8").split("## Zahl")[0]
    lesson_file.write_text(text.replace(old, new), "utf-8")
    assert main(["check", str(lesson_file)]) == 2
    assert problem in capsys.readouterr().err


def answers(lesson, reader, /, *given, **changes):
    fields = {
        "lesson": lesson.name,
        "lesson_sha256": lesson.checksum,
        "sentence": "A man rides a horse.",
        "model": "bundled",
        "model_sha256": "",
        "reader": reader,
        "answers": given,
    }
    return write_answers(Answers(**{**fields, **changes}))


RIGHT, WRONG = GivenAnswer("7", "7", True), GivenAnswer("8", "7", False)


def test_files_of_one_lesson_are_a_table(lesson, lesson_file, tmp_path, capsys):
    eva = (RIGHT, WRONG, None, None, None, RIGHT)
    files = {
        "another.json": answers(lesson, "Ann", *eva, lesson="masks.de"),
        "eva.json": answers(lesson, "<b>Eva</b>", *eva),
        "formula.json": answers(lesson, "=1+1", *[None] * 6),
        "column.json": answers(lesson, "x;=1+1", *[None] * 6),
        "version.json": answers(lesson, "Old", *eva, lesson_sha256="0" * 64),
        "cards.json": answers(lesson, "Few", RIGHT),
        "edited.json": answers(lesson, "Udo", *eva).replace(b'"Udo"', b'"Ute"'),
        "evil.json": b"[" * 100_000,
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    paths = [str(tmp_path / name) for name in files]
    table = tmp_path / "table.csv"
    command = ["collect", *paths, "--lessons", str(tmp_path), "--out", str(table)]
    assert main(command) == 2
    output = capsys.readouterr()
    rows = [line.split("  ") for line in output.out.splitlines()]
    assert [row[0].strip() for row in rows] == ["<b>Eva</b>", "=1+1", "x;=1+1"]
    assert [row[-2:] for row in rows] == [["2 of 5", "✓ ✗ – – ✓"], *[["0 of 5", "– – – – –"]] * 2]
    problems = output.err.splitlines()
    for name in ("another", "version", "cards", "edited", "evil"):
        assert sum(f"{name}.json" in problem for problem in problems) == 1
    assert problems[-1].endswith("5 files of 8 left out.")
    with table.open(encoding="utf-8-sig", newline="") as file:
        assert list(csv.reader(file)) == [
            ["name", "right", "questions", *(f"card {number}" for number in (1, 2, 3, 5, 6))],
            ["<b>Eva</b>", "2", "5", "✓", "✗", "–", "–", "✓"],
            ["'=1+1", "0", "5", *"–––––"],
            ["x;=1+1", "0", "5", *"–––––"],
        ]
    for line in table.read_text("utf-8-sig").splitlines():  # as where `;` separates, too
        (cell,) = next(csv.reader([line], delimiter=";"))
        assert cell.startswith(("name", "x", "<", "'"))
    assert main(["collect", paths[1], "--lessons", str(tmp_path)]) == 0
    # the name of a lesson is no path
    (tmp_path / "eva.json").write_bytes(answers(lesson, "Eva", RIGHT, lesson=f"../{lesson.name}"))
    assert main(["collect", paths[1], "--lessons", str(tmp_path / "folder")]) == 2
    assert "has no lesson" in capsys.readouterr().err


@pytest.mark.slow
def test_files_are_written(lesson_file, tmp_path, capsys):
    page, cells = tmp_path / "lesson.html", tmp_path / "lesson.ipynb"
    assert main(["handout", str(lesson_file), "-o", str(page)]) == 0
    checksum = sha256((BUNDLED / "MANIFEST.json").read_bytes()).hexdigest()
    assert f"model bundled, SHA-256 {checksum[:16]}" in page.read_text("utf-8")
    assert main(["notebook", str(lesson_file), "-o", str(cells)]) == 0
    assert len(json.loads(cells.read_text("utf-8"))["cells"]) > 12
    assert main(["handout", str(lesson_file), "-o", str(tmp_path / "no" / "x.html")]) == 2


@pytest.mark.slow
def test_fewer_puzzles_are_said(tmp_path, capsys):
    lines, out = tmp_path / "lines", tmp_path / "puzzles.md"
    lines.write_bytes(b"\nA dog sleeps.\nA dog sleeps.\n\xff\n" + b"x" * 100_000)
    given = ["puzzles", "--text", str(lines), "--count", "2", "-o", str(out)]
    assert main(given) == 0
    (card,) = read_lesson(out).cards
    assert card.view is not None
    assert card.view.choices["text"] == ["A dog sleeps."]
    assert "1 puzzle of 2" in capsys.readouterr().err
    lines.write_text("\n")
    out.unlink()
    assert main(given) == 2
    assert not out.exists()
