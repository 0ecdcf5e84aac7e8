"""The numbers that the player of Figure 1 says are those of the trace, the flow and the score."""

import re
from typing import Any

import numpy as np
import pytest

from tests.viz.pages.reading import SENTENCE, message
from transformer import Translator
from transformer.paper.flow import LOGITS, flow
from viz.app.cache.cached_results import ALTERNATIVES
from viz.draw.labels import display_tokens
from viz.draw.player import WINDOW
from viz.pages.architecture.boxes import BOXES

LAYER = 1
LONG = " ".join(["Der Hund singt."] * 20)


@pytest.fixture
def playing(opened):
    def read(text: str = SENTENCE, **url: str):
        meta, _ = message(opened(text=text, arch_layer=str(LAYER + 1), **url), "architecture")
        return meta["playing"], {box["name"]: box["sentences"] for box in meta["boxes"]}

    return read


def numbers(sentence: str) -> list[float]:
    """Return the numbers outside quotes."""
    outside = re.sub("“.*?”", "", sentence).replace("−", "-").replace(",", "")
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", outside)]


def quotes(sentence: str) -> list[str]:
    return re.findall("“\u2068(.*?)\u2069”", sentence)


def test_every_box_says_its_numbers_at_every_step(playing, translator: Translator) -> None:
    _, sentences = playing()
    trace = translator.trace(SENTENCE)
    values = flow(translator.model, trace).values
    written = display_tokens(trace.target_tokens)
    count = len(written)
    for box in BOXES:
        rows: list[Any] = [None] if box.stack == "encoder" else [*range(count)]
        assert len(sentences[box.name]) == len(rows)
        for row, sentence in zip(rows, sentences[box.name], strict=True):

            def norm(name: str, row: int | None = row) -> float:
                norms = np.linalg.norm(values[name.format(LAYER)], axis=-1)
                return round(float(norms.mean() if row is None else norms[row]), 1)

            shown = numbers(sentence)
            if box.name.endswith("_norm"):
                module = box.module.format(LAYER)
                assert shown == [
                    norm(f"{module}.hook_{x}") for x in ("sublayer", "sum", "normalised")
                ]
            elif box.name.endswith("feed_forward"):
                hidden = values[box.inside[0][1].format(LAYER)]
                zeros = np.mean((hidden if row is None else hidden[row]) == 0)
                assert shown == [32, 64, round(100 * zeros), 0, 32, norm(box.value)]
            elif box.name.split(".")[1] in ("embedding", "positions", "sum"):
                assert shown[-1] == norm(box.value)
            elif box.value == LOGITS:
                column = list(dict.fromkeys(trace.target_tokens)).index(trace.target_tokens[row])
                assert shown[-1] == round(float(values[LOGITS][row, column]), 1)
                assert quotes(sentence) == [written[row]]
            elif box.name == "decoder.tokens":
                assert quotes(sentence) == [display_tokens(trace.decoder_tokens)[row]]
                assert shown == ([row + 1] if row else [])
            elif box.name == "encoder.tokens":
                assert shown == [len(trace.source_tokens)]
            elif box.kind:
                expect_attention(sentence, trace, box.kind, row)


def expect_attention(sentence: str, trace: Any, kind: str, row: Any) -> None:
    """The weight in the sentence is that of the head, the row and the key which it names."""
    weights, labels = trace.weights(kind)[LAYER], trace.labels(kind)
    keys, queries = display_tokens(labels.keys), display_tokens(labels.queries)
    if kind == "decoder_self" and row == 0:
        assert numbers(sentence) == [len(weights), 100]
        return
    if kind == "cross":
        head, _, share = numbers(sentence)
        (key,), rows = quotes(sentence), [row]
    else:
        share, head, _ = numbers(sentence)
        query, key = quotes(sentence)
        rows = [n for n, token in enumerate(queries) if token == query and row in (None, n)]
    columns = [n for n, token in enumerate(keys) if token == key]
    shown = weights[int(head) - 1][np.ix_(rows, columns)]
    assert share in np.round(100 * shown)
    allowed = [
        n for n, token in enumerate(labels.keys) if any(map(str.isalpha, token.strip("</s>")))
    ]
    others = weights[:, rows][..., [n for n in allowed if kind == "cross" or n not in rows]]
    assert others.size == 0 or share >= round(100 * float(others.max()))


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
            assert option["label"] == labels[n] == quotes(sentence)[-1]
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
