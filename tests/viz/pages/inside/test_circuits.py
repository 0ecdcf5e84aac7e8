"""Why a head looks there: sums that agree, of the trained model and of any translation."""

import re

import pytest

from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE
from transformer import Translator
from transformer.analysis import stream
from transformer.circuits import score

ROW = 2  # of the heads below
NUMBER = re.compile(r"[−+]?\d+\.\d+")


def numbers(text: str) -> list[float]:
    return [float(number.replace("−", "-")) for number in NUMBER.findall(text)]


def open_(serve, kind: str, layer: int, head: int, **url: str):
    place = {"kind": kind, "layer": str(layer + 1), "head": str(head + 1), "word": str(ROW + 1)}
    app = serve("inside", text=SENTENCE, **place, **url)
    assert not app.exception
    return app


def says(app, words: str) -> list[str]:
    shown = [element.value.replace("\\", "") for element in (*app.markdown, *app.caption)]
    return [line for text in shown for line in text.splitlines() if words in line]


@pytest.mark.usefixtures("given_translations")
def test_a_sum_that_is_broken_is_seen(serve, monkeypatch) -> None:
    whole = stream.stream_of

    def without_biases(*args):
        broken = whole(*args)
        broken.parts[stream.BIASES] = 0
        return broken

    monkeypatch.setattr(score, "stream_of", without_biases)
    summed, once = numbers(says(open_(serve, "encoder", 1, 1), "cells, which sum to")[0])
    assert abs(summed - once) > 0.05


def test_another_scale_leaves_the_scores_of_the_trained_model(serve) -> None:
    before, after = (
        says(open_(serve, "encoder", 1, 1, **url), "cells, which sum to")
        for url in ({}, {"scale_of": "none"})
    )
    assert before == after
    app = open_(serve, "encoder", 1, 1, scale_of="none")
    assert any("as it was trained" in line for line in texts(app))


def test_an_edited_translation_and_a_forced_one_are_split(serve, translator: Translator) -> None:
    for url in ({"edited": "Der Hund schläft."}, {"prefix": "Die Katze"}):
        app = open_(serve, "cross-attention", 1, 0, **url)
        summed, once = numbers(says(app, "cells, which sum to")[0])
        assert summed == pytest.approx(once, abs=2e-4)
