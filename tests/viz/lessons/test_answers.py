import json
from hashlib import sha256

import pytest

from transformer import InputError
from viz.lessons.answers import (
    MAX_BYTES,
    Answers,
    GivenAnswer,
    Try,
    file_name,
    read_answers,
    write_answers,
)

ANSWERS = Answers(
    lesson="attention",
    lesson_sha256="a" * 64,
    sentence="A man rides a horse.",
    model="bundled",
    model_sha256="b" * 64,
    reader="Jürgen <b>Ö</b>",
    answers=(
        GivenAnswer("a1", "7", (Try("8", False), Try("7", True)), False),
        GivenAnswer("b2", "horse", (Try("man\u00a0", False),), False),
        GivenAnswer("c3", "yes", (Try("no", False), Try("yes", True)), True),
        GivenAnswer("d4", "0.67", (Try(".67", True),), False),
    ),
)


def test_a_file_holds_what_was_written(tmp_path):
    path = tmp_path / "answers.json"
    path.write_bytes(write_answers(ANSWERS))
    assert read_answers(path) == ANSWERS
    assert (ANSWERS.right, ANSWERS.at_once) == (2, 1)
    assert [given.mark for given in ANSWERS.answers] == ["✓2", "✗", "?2", "✓"]


def test_a_file_has_the_name_of_its_reader():
    assert file_name("snow.de", "Jürgen <b>Ö") == "snow.de-Jürgen-b-Ö.json"
    assert file_name("snow.de", "../..\\") == "snow.de-answers.json"
    assert len(file_name("snow.de", "x" * 100)) < 60


def fields():
    return json.loads(write_answers(ANSWERS))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("reader",), "Jurgen"),
        (("answers", 1, 2, 0, 1), True),
        (("answers", 1), ["b2", "7", [["7", True]], False]),
        (("sha256",), "0" * 64),
    ],
)
def test_a_file_that_was_edited_is_named(tmp_path, place, value):
    content = fields()
    *way, last = place
    inner = content
    for step in way:
        inner = inner[step]
    inner[last] = value
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"edited\.json was changed"):
        read_answers(path)


def signed(**changes):
    """A file with a sound checksum over unsound fields."""
    content = fields() | changes
    del content["sha256"]
    guard = sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return json.dumps({**content, "sha256": guard})


EVIL = {
    "empty": "",
    "not a number": '{"format": NaN}',
    "nested": "[" * 100_000 + "]" * 100_000,
    "other format": signed(format=3),
    "a long name": signed(reader="x" * 101),
    "a name that moves the cursor": signed(reader="Eva\u001b[2J"),
    "half a character": signed(reader="\ud800"),
    "of an older version": signed(format=1, answers=[["7", "7", True], None]),
    "a verdict that is a number": signed(answers=[["a1", "7", [["7", 1]], False]]),
    "a missing field": json.dumps({k: v for k, v in fields().items() if k != "model"}),
    "large": " " * (MAX_BYTES + 1),
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("name", EVIL)
def test_a_bad_file_is_one_sentence_with_its_name(tmp_path, name):
    path = tmp_path / "evil.json"
    content = EVIL[name]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        read_answers(path)
    assert str(caught.value).startswith(str(path))
    assert "changed" not in str(caught.value)  # it is refused for itself, not for its checksum
