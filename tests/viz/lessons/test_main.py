"""The command `headlight lessons`."""

import csv
from hashlib import sha256

import pytest

from transformer.files.installed import BUNDLED
from viz.lessons import read_lesson
from viz.lessons.__main__ import main
from viz.lessons.answers import Answers, GivenAnswer, Try, write_answers


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


def given(lesson, card, *tries, right="7", shown=False):
    """All that was given to a card, from 1; the last try is right where it is the answer."""
    marked = tuple(Try(text, text == right) for text in tries)
    return GivenAnswer(lesson.tasks[card - 1], right, marked, shown)


def test_files_of_one_lesson_are_a_table(lesson, lesson_file, tmp_path, capsys):
    eva = (given(lesson, 1, "7"), given(lesson, 2, "8"), given(lesson, 6, ",7", "7"))
    files = {
        "another.json": answers(lesson, "Ann", *eva, lesson="masks.de"),
        "eva.json": answers(lesson, "<b>Eva</b>", *eva),
        "formula.json": answers(lesson, "=1+1", given(lesson, 2, "=1+1")),
        "column.json": answers(lesson, "x;=1+1", given(lesson, 2, "7", shown=True)),
        "none.json": answers(lesson, "Udo"),
        "version.json": answers(
            lesson, "Old", GivenAnswer("0", "7", (), False), lesson_sha256="0" * 64
        ),
        "twice.json": answers(lesson, "Two", *eva, *eva),
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
    rows = [line.split("  ") for line in output.out.splitlines()[:4]]
    assert [row[0].strip() for row in rows] == ["<b>Eva</b>", "=1+1", "x;=1+1", "Udo"]
    marks = ["✓ ✗ – – ✓2", "– ✗ – – –", "– ? – – –", "– – – – –"]
    assert [[row[-2].strip(), row[-1]] for row in rows] == [
        [f"{right} of 5", words] for right, words in zip("2000", marks, strict=True)
    ]
    problems = output.err.splitlines()
    for name in ("another", "version", "twice", "edited", "evil"):
        assert sum(f"{name}.json" in problem for problem in problems) == 1
    assert problems[-1].endswith("5 files of 9 left out.")
    with table.open(encoding="utf-8-sig", newline="") as file:
        header, *cells = csv.reader(file)
    cards = [f"card {number}" for number in (1, 2, 3, 5, 6)]
    assert header == ["name", "right", "questions", *cards, *(f"{card} given" for card in cards)]
    assert cells[0] == ["<b>Eva</b>", "2", "5", *"✓✗––", "✓2", "7", "8", "", "", ",7 | 7"]
    assert cells[1] == ["'=1+1", "0", "5", *"–✗–––", "", "'=1+1", "", "", ""]
    for line in table.read_text("utf-8-sig").splitlines():  # as where `;` separates, too
        (cell,) = next(csv.reader([line], delimiter=";"))
        assert cell.startswith(("name", "x", "<", "'", "Udo"))
    assert main(["collect", paths[1], "--lessons", str(tmp_path)]) == 0
    # the name of a lesson is not a path
    evil = answers(lesson, "Eva", lesson=f"../{lesson.name}")
    (tmp_path / "eva.json").write_bytes(evil)
    assert main(["collect", paths[1], "--lessons", str(tmp_path / "folder")]) == 2
    assert "has no lesson" in capsys.readouterr().err


def collected(folder, capsys, lesson, files):
    paths = [folder / f"{number}.json" for number in range(len(files))]
    for path, content in zip(paths, files, strict=True):
        path.write_bytes(content)
    assert main(["collect", *map(str, paths), "--lessons", str(folder)]) == 0
    output = capsys.readouterr()
    lines = output.out.splitlines()
    header = next(number for number, line in enumerate(lines) if line.split()[0] == "card")
    cards = [line.split(maxsplit=4) for line in lines[header + 1 :]]
    return [line.split("  ")[0].strip() for line in lines[:header]], cards, output.err


def test_the_most_frequent_mistake_of_each_card_is_told(lesson, tmp_path, capsys):
    pupils = [("8,0", "7"), ("8.0", "8", "9"), ("7",), ("9", "6"), ()]
    files = [
        answers(lesson, f"P{n}", given(lesson, 2, *tries, shown=not tries))
        for n, tries in enumerate(pupils)
    ]
    _, cards, _ = collected(tmp_path, capsys, lesson, files)
    assert cards[1][:4] == ["2", "2", "1", "1"]  # card, right, at the first try, shown
    assert cards[1][4].split() in (["8,0", "2"], ["8.0", "2"], ["8", "2"])
    assert cards[0] == ["1", "0", "0", "0", "0"]  # no mistake
    evil = answers(lesson, "Eva", given(lesson, 1, "\x1b[2J\nx"))
    _, cards, _ = collected(tmp_path, capsys, lesson, [evil])
    assert "[2J" in cards[0][4]
    assert "\x1b" not in cards[0][4]


def test_a_copy_and_an_earlier_state_are_counted_once(lesson, tmp_path, capsys):
    first = given(lesson, 2, "8")
    early = answers(lesson, "Eva", first)
    late = answers(lesson, "Eva", given(lesson, 2, "8", "7"), given(lesson, 1, "7"))
    other = answers(lesson, "Eva", given(lesson, 2, "9"))
    names, _, notes = collected(tmp_path, capsys, lesson, [early, late, late, other])
    assert names == ["Eva", "Eva"]
    # that an answer was shown is the later state, whichever file comes first
    for shown in (True, False):
        both = [
            answers(lesson, "Udo", given(lesson, 2, "8", shown=state))
            for state in (shown, not shown)
        ]
        _, cards, _ = collected(tmp_path, capsys, lesson, both)
        assert cards[1][1:4] == ["0", "0", "1"]
    assert notes.count("counted once") == 2


def test_a_file_from_before_a_typo_was_mended_is_taken(lesson, lesson_file, tmp_path, capsys):
    old = answers(lesson, "Eva", given(lesson, 2, "7"), given(lesson, 3, "Eva", right="Eva"))
    mended = lesson_file.read_text("utf-8").replace("Wie viele?", "Wie viele Teilwörter?")
    lesson_file.write_text(mended, "utf-8")
    names, cards, notes = collected(tmp_path, capsys, lesson, [old])
    assert (names, notes) == (["Eva"], "")
    assert cards[1][1] == "1"
    # another question takes the place of the second: what was given to it is left out, the rest not
    lesson_file.write_text(mended.replace("side: source", "side: target"), "utf-8")
    names, cards, notes = collected(tmp_path, capsys, lesson, [old])
    assert (cards[1][1], cards[2][1], "1 card" in notes) == ("0", "1", True)


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_first_lesson_is_written_and_passes_its_check(tmp_path, capsys, language):
    path = tmp_path / "first.md"
    command = ["new", "--language", language, "-o", str(path)]
    assert main(command) == 0
    assert main(["check", str(path)]) == 0
    assert read_lesson(path).language == language
    path.write_text("mine")
    assert main(command) == 2  # never over what its author has written
    assert path.read_text() == "mine"


@pytest.mark.slow
def test_files_are_written(lesson_file, tmp_path, capsys):
    page = tmp_path / "lesson.html"
    assert main(["handout", str(lesson_file), "-o", str(page)]) == 0
    checksum = sha256((BUNDLED / "MANIFEST.json").read_bytes()).hexdigest()
    assert f"model bundled, SHA-256 {checksum[:16]}" in page.read_text("utf-8")
    assert main(["handout", str(lesson_file), "-o", str(tmp_path / "no" / "x.html")]) == 2


def test_what_is_no_command_any_more_is_refused_with_those_that_are(capsys):
    for name in ("notebook", "puzzles"):
        with pytest.raises(SystemExit) as end:
            main([name, "-o", "x"])
        assert end.value.code == 2
        problem = capsys.readouterr().err.splitlines()[-1]
        assert all(word in problem for word in (name, "new", "check", "handout", "collect"))
