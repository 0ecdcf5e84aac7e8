"""The numbers that the player of Figure 1 says are those of the trace, the flow and the score."""

import re

import pytest

from tests.viz.pages.reading import SENTENCE, message
from transformer import Translator
from viz.draw.trace_message import WINDOW

LONG = " ".join(["Der Hund singt."] * 20)


@pytest.fixture
def playing(opened):
    def read(text: str = SENTENCE, **url: str):
        meta, _ = message(opened(text=text, arch_layer="2", **url), "architecture")
        return meta["playing"], {box["name"]: box["sentences"] for box in meta["boxes"]}

    return read


def numbers(sentence: str) -> list[float]:
    """Return the numbers outside quotes."""
    outside = re.sub("“.*?”", "", sentence).replace("−", "-").replace(",", "")
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", outside)]


def test_it_starts_by_itself_but_not_at_a_box_that_a_link_opens(playing) -> None:
    assert playing()[0]["starts"]
    assert not playing(arch_box="Linear")[0]["starts"]
    assert playing(arch_box="no box")[0]["starts"]


def test_of_a_long_translation_a_window_plays_and_says_so(playing, translator: Translator) -> None:
    shown, sentences = playing(edited=LONG)
    count = len(translator.trace(SENTENCE, target=LONG).target_tokens)
    assert count > WINDOW
    assert {len(all_) for name, all_ in sentences.items() if name.startswith("dec")} == {WINDOW}
    assert len(shown["steps"]) == WINDOW
    assert numbers(shown["last"]) == [WINDOW, count]
