"""The numbers that the player of Figure 1 says are those of the trace, the flow and the score."""

import re

import numpy as np
import pytest

from tests.viz.pages.reading import SENTENCE, message
from transformer import Translator
from viz.app.cache.cached_results import ALTERNATIVES
from viz.draw.labels import display_tokens
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


def quotes(sentence: str) -> list[str]:
    return re.findall("“\u2068(.*?)\u2069”", sentence)


def test_the_softmax_has_the_score_of_the_translation(playing, translator: Translator) -> None:
    trace = translator.trace(SENTENCE)
    # one that the model would not have written, too: what it goes on with may be less probable
    for url, target in (({}, trace.target), ({"edited": "Der Hund singt."}, "Der Hund singt.")):
        shown, sentences = playing(**url)
        scored = translator.score(SENTENCE, target, alternatives=ALTERNATIVES)
        labels = display_tokens([piece.text for piece in scored.pieces])
        assert len(shown["steps"]) == len(scored.log_probs) == len(sentences["decoder.softmax"])
        parts = zip(shown["steps"], scored.log_probs, sentences["decoder.softmax"], strict=True)
        for n, (step, log_prob, sentence) in enumerate(parts):
            option = step["options"][step["taken"]]
            assert option["label"] == labels[n]
            assert display_tokens([labels[n]]) == quotes(sentence)[-1:]
            assert option["p"] == pytest.approx(np.exp(log_prob), abs=1e-6)
            rounding = 0.01 if "<" in sentence else 0.0051
            assert numbers(sentence)[-1] == pytest.approx(option["p"], abs=rounding)
            assert (step["taken"] == 0) == (len(quotes(sentence)) == 1)
            assert len(step["options"]) == 5


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
