"""Every measure against what the model computes, on a small one."""

import copy
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch

from transformer import InputError, Kind, Transformer, Translator, kinds
from transformer.analysis import lenses, teacher_forcing
from transformer.analysis.heads.head import Head
from transformer.checkpoints import checkpoint
from transformer.circuits.merging import merge_parts
from transformer.circuits.score import split_scores
from transformer.circuits.writing import written_logits
from viz.draw.labels import KINDS_BY_NAME, display_tokens
from viz.lessons.measures import MEASURES, Sentence, Value

ENGLISH, GERMAN = "The old cat sleeps under the table.", "Die alte Katze schläft."


class Planted(NamedTuple):
    """A sentence, and a reader of its measures."""

    sentence: Sentence

    def measure(self, name: str, /, **given: object) -> Value:
        """Measure what a lesson file asks for."""
        measure = MEASURES[name]
        arguments = {key: parse(given[key]) for key, parse in measure.arguments.items()}
        return measure.compute(self.sentence, arguments)


@pytest.fixture(scope="module")
def planted(translator: Translator) -> Planted:
    return Planted(Sentence(translator, translator.trace(ENGLISH, target=GERMAN)))


HEADS: list[tuple[str, Kind, int, int]] = [
    (f"L{layer + 1} H{head + 1} {name}", kind, layer, head)
    for name, kind in KINDS_BY_NAME.items()
    for layer in range(2)
    for head in range(4)
]
"""As on the screen, with kind, layer and head from 0."""
ROW, COLUMN = 3, 2  # from 1, as in a lesson file


def without_heads(model: Transformer, heads: Iterable[tuple[Kind, int, int]]) -> Transformer:
    """Return a copy of a model in which the outputs of heads count nothing."""
    changed = copy.deepcopy(model)
    with torch.no_grad():
        for kind, layer, head in heads:
            weight = changed.get_parameter(f"{kinds.attention_name(kind, layer)}.W_O.weight")
            weight[:, 8 * head : 8 * head + 8] = 0
    return changed


def log_p(planted: Planted, model: Transformer) -> float:
    """Log probability of the translation under a changed model."""
    pair = teacher_forcing.forced_pair(model, planted.sentence.trace)
    with torch.inference_mode():
        shares = model(pair.source, pair.target)[0].log_softmax(-1)
    return float(shares.gather(-1, pair.written[:, None]).sum())


@pytest.mark.parametrize(("name", "kind", "layer", "head"), HEADS[::5])
def test_a_head_is_measured(planted: Planted, name: str, kind: Kind, layer: int, head: int) -> None:
    trace, translator = planted.sentence.trace, planted.sentence.translator
    pattern = trace.weights(kind)[layer, head].astype(np.float64)
    pair = teacher_forcing.forced_pair(translator.model, trace)
    _, cache = translator.model.run_with_cache(pair.source, pair.target)
    scores = cache[f"{kinds.attention_name(kind, layer)}.hook_attn_scores"][0, head]
    cell = {"head": name, "row": ROW, "column": COLUMN}
    weight = pattern[ROW - 1, COLUMN - 1]
    assert planted.measure("weight", **cell) == pytest.approx(weight, abs=1e-5)
    score = float(scores[ROW - 1, COLUMN - 1].detach())
    assert planted.measure("score", **cell) == pytest.approx(score, abs=1e-4)
    tokens = display_tokens(trace.labels(kind).keys)
    norms = lenses.lens("norm", translator, trace, kind)[layer, head]
    for row in range(len(pattern)):
        asked = {"head": name, "row": row + 1}
        assert planted.measure("strongest", **asked) == tokens[pattern[row].argmax()]
        assert planted.measure("strongest by norm", **asked) == tokens[norms[row].argmax()]
    # the decoder's first row sees itself alone and does not count
    rows = pattern[1 if kind == "decoder_self" else 0 :]
    bits = [-sum(p * math.log2(p) for p in row if p > 0) for row in rows]
    assert planted.measure("entropy", head=name) == pytest.approx(np.mean(bits), abs=1e-4)


def test_the_largest_part_of_a_score_and_what_a_head_writes(planted: Planted) -> None:
    trace, translator = planted.sentence.trace, planted.sentence.translator
    for name, kind, layer, head in HEADS[::3]:
        place = Head(kind, layer, head)
        split = split_scores(translator.model, trace, place, ROW - 1, [COLUMN - 1])
        largest = merge_parts(split, split.values[0]).max().idxmax()
        cell = {"head": name, "row": ROW, "column": COLUMN}
        assert planted.measure("largest part", **cell) == largest
        (logits,) = written_logits(translator.model, trace, place, ROW - 1, [COLUMN - 1])
        (piece,) = translator.target_tokenizer.pieces_of([int(logits.argmax())])
        assert planted.measure("written", **cell) == display_tokens([piece.text, "▁"])[0]


def test_probabilities(planted: Planted) -> None:
    trace = planted.sentence.trace
    tokens = display_tokens(trace.target_tokens)
    assert planted.measure("log probability") == pytest.approx(trace.log_probs.sum(), abs=1e-3)
    assert planted.measure("least certain") == tokens[int(trace.log_probs.argmin())]
    for row, value in enumerate(trace.log_probs, start=1):
        assert planted.measure("probability", row=row) == pytest.approx(math.exp(value), abs=1e-5)


def test_log_probability_without_heads_or_positions(planted: Planted, model: Transformer) -> None:
    for heads in (HEADS[:1], HEADS[20:21], HEADS[4:20:5]):
        expected = log_p(planted, without_heads(model, [head[1:] for head in heads]))
        names = ", ".join(head[0] for head in heads)
        value = planted.measure("log probability without heads", heads=names)
        assert value == pytest.approx(expected, abs=1e-3)
        assert value != pytest.approx(planted.sentence.log_p_of(), abs=1e-3)
    for stack in ("encoder", "decoder"):
        changed = copy.deepcopy(model)
        changed.get_buffer(f"{stack}.embedding.positions").zero_()
        value = planted.measure("log probability without positions", stack=stack)
        assert value == pytest.approx(log_p(planted, changed), abs=1e-3)
        assert value != pytest.approx(planted.sentence.log_p_of(), abs=1e-3)


def test_changed_without_heads(planted, model, tokenizer, tmp_path) -> None:
    translator = planted.sentence.translator
    sentence = Sentence(translator, translator.trace(ENGLISH))
    measure, answers = MEASURES["changed without heads"], set()
    for heads in (HEADS[:1], HEADS[20:21], HEADS[16:]):
        folder = tmp_path / heads[0][0] / str(len(heads))
        checkpoint.save(folder, without_heads(model, [head[1:] for head in heads]), tokenizer)
        text = Translator.load(folder).translate(ENGLISH).text
        names = ", ".join(head[0] for head in heads)
        answer = measure.compute(sentence, {"heads": measure.arguments["heads"](names)})
        assert answer == ("yes" if text != sentence.trace.target else "no")
        answers.add(answer)
    assert answers == {"yes", "no"}


def test_counts_and_sizes(planted: Planted, model: Transformer) -> None:
    assert planted.measure("subwords", side="source") == len(planted.sentence.trace.source_pieces)
    assert planted.measure("subwords", side="target") == len(planted.sentence.trace.target_pieces)
    assert planted.measure("visible", row=ROW) == ROW
    sizes = {"N": 2, "h": 4, "d_model": 32, "d_k": 8, "d_ff": 64, "vocab_size": 160}
    sizes["parameters"] = sum(parameter.numel() for parameter in model.parameters())
    for name, size in sizes.items():
        assert planted.measure("size", name=name) == size
    log = Path("assets/model/run.jsonl").read_text(encoding="utf-8").splitlines()
    losses = {(r := json.loads(line))["step"]: r["loss"] for line in log if '"loss"' in line}
    assert planted.measure("loss", step=1000) == losses[1000]


def test_a_token_is_its_text_or_its_number(planted: Planted) -> None:
    asked = {"head": "L1 H1 cross", "row": 2}
    tokens = display_tokens(planted.sentence.trace.source_tokens)
    inside = next(token for token in tokens if token.startswith("·"))  # not the first of its word
    for text in (".", inside.lstrip("·")):
        column = [token.lstrip("·") for token in tokens].index(text) + 1
        by_text = planted.measure("weight", **asked, column=text)
        assert by_text == planted.measure("weight", **asked, column=column)


CELL = {"head": "L1 H1 cross", "row": 1, "column": 1}


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("weight", {**CELL, "head": "L9 H9 cross"}),
        ("weight", {**CELL, "head": "L1 H1 cross, L1 H2 cross"}),
        ("weight", {**CELL, "column": "zebra"}),
        ("weight", {**CELL, "row": True}),
        ("strongest", {"head": "L1 H1 cross", "row": 0}),
        ("changed without heads", {"heads": "L1 H1 nose"}),
        ("encoding", {"position": 1, "dimension": 32}),
        ("loss", {"step": 51}),
        ("subwords", {"side": []}),
    ],
)
def test_what_there_is_not_is_said_in_one_sentence(planted, name, given) -> None:
    with pytest.raises((InputError, ValueError), match=r"^[^\n]+\.$"):
        planted.measure(name, **given)


@pytest.mark.parametrize(("rate", "text"), [(0.00069877, "0.000699"), (7e-7, "0.0000007")])
def test_a_learning_rate_is_written_as_a_student_writes_it(rate, text):
    assert MEASURES["learning rate"].text(rate) == text


def test_a_head_that_is_not_there_is_named_as_a_lesson_names_it(planted: Planted) -> None:
    for named in ("L9 H1", "L1 H9"):
        with pytest.raises(InputError, match=f"no {named} .*2 layers have 4 heads") as raised:
            planted.measure("entropy", head=f"{named} cross")
        assert "counted from 0" not in str(raised.value)
