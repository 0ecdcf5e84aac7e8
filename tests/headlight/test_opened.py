"""The views of a lesson, opened in the app without a browser."""

import io
import runpy
import subprocess
import sys
from contextlib import redirect_stdout

import pytest

from headlight.opened import problems
from transformer.errors import quoted
from transformer.files.installed import BUNDLED
from viz.app import jobs
from viz.app.models import menu
from viz.lessons.__main__ import main
from viz.lessons.reading import parse_lesson

LESSON = """---
title: A
goal: B
minutes: 1
language: en
sentence: A man rides a horse.
---

## Card

```yaml
link: {link}
{light}
{words}hint: Look at *{label}*, not at **nothing**, nor at a*b and c*d.
```
"""


@pytest.fixture(autouse=True)
def bundled_model(monkeypatch):
    monkeypatch.setenv(menu.CHECKPOINT_VARIABLE, str(BUNDLED))


@pytest.mark.parametrize(
    ("link", "light", "problems"),
    [
        ("/heads?kind=decoder&layer=2&head=5&lens=norms", "light: map", []),
        (
            "/heads?kind=decodr&layer=7&head=5&knd=decoder",
            "light: map",
            ["decodr", "layer='7'", "'knd'"],
        ),
        ("/positions?pe_view=Wavs", "", ["pe_view='Wavs'"]),
        ("/positions?pe_view=Curves", "light: controls", ["no controls"]),
        ("/training?training_view=Heads forming&kind=decodr&trained=64", "light: grid", ["decodr"]),
        ("/inside?kind=encoder&layer=2&head=8&word=4&at=3", "light: row", []),
    ],
)
def test_what_a_page_does_not_take_is_named(link, light, problems):
    sentences = opened(link, light)
    assert len(sentences) == len(problems)
    assert all(map(str.__contains__, sentences, problems))


def opened(link, light="", label="Check", words=""):
    text = LESSON.format(link=link, light=light, label=label, words=words)
    lesson = parse_lesson("a", text, "a.md")
    return list(problems(lesson, lesson.cards[0]))


THERE = [
    "norms",  # a choice of a menu
    "Forbidden words",  # the name of a field behind a menu
    "average",  # the picture writes it
    "All heads",  # the name of a page
    "Without\n  sinks",  # a line ends in it
]
ABSENT = ["the row of … gives … the most", "Normen", "orms"]


def test_a_label_stands_on_the_page_that_a_card_opens():
    link, labels = "/heads?kind=decoder&layer=2&head=5", "*, *".join([*ABSENT, *THERE])
    for words, named in (("", ABSENT), ("words: Normen\n", [ABSENT[0], ABSENT[2]])):
        sentences = opened(link, label=labels, words=words)
        assert len(sentences) == len(named)
        assert all(quoted(label) in text for label, text in zip(named, sentences, strict=True))


@pytest.mark.filterwarnings("ignore:.*found in sys.modules")
def test_the_check_opens_each_view_and_says_the_line(
    tmp_path, capsys, monkeypatch, checkpoint_folder
):
    def run(command, *, env, **_more):
        """Run a module here: another process would only load it anew."""
        _, dash_m, name, *arguments = command
        assert (dash_m, env[menu.CHECKPOINT_VARIABLE]) == ("-m", str(checkpoint_folder))
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        with redirect_stdout(io.StringIO()) as out:
            runpy.run_module(name, run_name="__main__")
        return subprocess.CompletedProcess(command, 0, out.getvalue(), "")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(jobs, "PATIENCE", 1.0)  # which the module sets for its process
    path = tmp_path / "bad.md"
    path.write_text(
        LESSON.format(link="/heads?kind=decodr", light="", label="norms", words=""), "utf-8"
    )
    assert main(["check", str(path), "--checkpoint", str(checkpoint_folder)]) == 2
    (problem,) = capsys.readouterr().err.splitlines()
    assert "bad.md, line 9: " in problem
    assert "decodr" in problem
