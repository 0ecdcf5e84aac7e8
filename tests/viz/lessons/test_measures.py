"""Every measure against the formulas in plain NumPy and float64, on a small model."""

import copy
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
import torch

from tests.transformer.analysis.plain_model import PlainModel, brought
from transformer import InputError, Kind, Tokenizer, Transformer, Translator
from transformer.checkpoints import checkpoint
from transformer.config import BOS
from transformer.kinds import attention_name
from viz.draw.labels import KINDS_BY_NAME, display_tokens
from viz.lessons.measures import MEASURES, Sentence, Value

ENGLISH, GERMAN = "The old cat sleeps under the table.", "Die alte Katze schläft."
Floats = npt.NDArray[np.float64]


class Planted(NamedTuple):
    """A sentence, and the plain model that read it."""

    sentence: Sentence
    plain: PlainModel
    source: list[int]
    read: list[int]
    written: list[int]

    def measure(self, name: str, /, **given: object) -> Value:
        """Measure what a lesson file asks for."""
        measure = MEASURES[name]
        arguments = {key: parse(given[key]) for key, parse in measure.arguments.items()}
        return measure.compute(self.sentence, arguments)


@pytest.fixture(scope="module")
def planted(translator: Translator) -> Planted:
    trace = translator.trace(ENGLISH, target=GERMAN)
    source = [piece.id for piece in trace.source_pieces]
    written = [piece.id for piece in trace.target_pieces]
    read = [BOS, *written[:-1]]
    plain = PlainModel(translator.model, source, read)
    return Planted(Sentence(translator, trace), plain, source, read, written)


HEADS: list[tuple[str, Kind, int, int]] = [
    (f"L{layer + 1} H{head + 1} {name}", kind, layer, head)
    for name, kind in KINDS_BY_NAME.items()
    for layer in range(2)
    for head in range(4)
]
"""As on the screen, with kind, layer and head from 0."""
each_head = pytest.mark.parametrize(("name", "kind", "layer", "head"), HEADS)
ROW, COLUMN = 3, 2
"""From 1, as in a lesson file."""


def dots(plain: PlainModel, kind: Kind, layer: int, head: int) -> Floats:
    """q · k of a head, `[query, key]`, from the weights."""
    x = plain.attention[kind, layer].x
    keys = plain.layers["encoder", 1] if kind == "cross" else x
    q, k = (
        rows @ plain.weights[f"{attention_name(kind, layer)}.W_{letter}.weight"].T
        for letter, rows in (("Q", x), ("K", keys))
    )
    part = slice(8 * head, 8 * head + 8)
    product: Floats = q[:, part] @ k[:, part].T
    return product


def log_p(plain: PlainModel, written: list[int]) -> Floats:
    """Log probability of each piece, `[target]`."""
    logits = plain.logits - plain.logits.max(-1, keepdims=True)
    shares = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    picked: Floats = shares[np.arange(len(written)), written]
    return picked


def without_heads(model: Transformer, heads: Iterable[tuple[Kind, int, int]]) -> Transformer:
    """Return a copy of a model in which the outputs of heads count nothing."""
    changed = copy.deepcopy(model)
    with torch.no_grad():
        for kind, layer, head in heads:
            weight = changed.get_parameter(f"{attention_name(kind, layer)}.W_O.weight")
            weight[:, 8 * head : 8 * head + 8] = 0
    return changed


@each_head
def test_weights_and_scores(planted: Planted, name: str, kind: Kind, layer: int, head: int) -> None:
    pattern = planted.plain.attention[kind, layer].pattern[head]
    product = dots(planted.plain, kind, layer, head)[ROW - 1, COLUMN - 1]
    cell = {"head": name, "row": ROW, "column": COLUMN}
    assert planted.measure("weight", **cell) == pytest.approx(
        pattern[ROW - 1, COLUMN - 1], abs=1e-5
    )
    assert planted.measure("score", **cell) == pytest.approx(product / math.sqrt(8), abs=1e-4)


@each_head
def test_strongest_tokens(planted: Planted, name: str, kind: Kind, layer: int, head: int) -> None:
    block = planted.plain.attention[kind, layer]
    tokens = display_tokens(planted.sentence.trace.labels(kind).keys)
    for row in range(len(block.pattern[head])):
        norms = [np.linalg.norm(brought(block, head, row, j)) for j in range(len(tokens))]
        asked = {"head": name, "row": row + 1}
        assert planted.measure("strongest", **asked) == tokens[block.pattern[head, row].argmax()]
        assert planted.measure("strongest by norm", **asked) == tokens[int(np.argmax(norms))]


@each_head
def test_entropy(planted: Planted, name: str, kind: Kind, layer: int, head: int) -> None:
    # the decoder's first row sees itself alone and does not count
    first = 1 if kind == "decoder_self" else 0
    rows = planted.plain.attention[kind, layer].pattern[head][first:]
    bits = [-sum(p * math.log2(p) for p in row if p > 0) for row in rows]
    assert planted.measure("entropy", head=name) == pytest.approx(np.mean(bits), abs=1e-4)


def test_probabilities(planted: Planted) -> None:
    pieces = log_p(planted.plain, planted.written)
    tokens = display_tokens(planted.sentence.trace.target_tokens)
    assert planted.measure("log probability") == pytest.approx(pieces.sum(), abs=1e-3)
    assert planted.measure("least certain") == tokens[int(pieces.argmin())]
    for row, value in enumerate(pieces, start=1):
        assert planted.measure("probability", row=row) == pytest.approx(math.exp(value), abs=1e-5)


@pytest.mark.parametrize("heads", [HEADS[:1], HEADS[9:10], HEADS[20:21], HEADS[4:20:5]])
def test_log_probability_without_heads(
    planted: Planted, model: Transformer, heads: list[tuple[str, Kind, int, int]]
) -> None:
    changed = without_heads(model, [head[1:] for head in heads])
    expected = log_p(PlainModel(changed, planted.source, planted.read), planted.written).sum()
    names = ", ".join(head[0] for head in heads)
    value = planted.measure("log probability without heads", heads=names)
    assert value == pytest.approx(expected, abs=1e-3)
    assert value != pytest.approx(planted.sentence.log_p, abs=1e-3)


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_log_probability_without_positions(
    planted: Planted, model: Transformer, stack: str
) -> None:
    changed = copy.deepcopy(model)
    changed.get_buffer(f"{stack}.embedding.positions").zero_()
    expected = log_p(PlainModel(changed, planted.source, planted.read), planted.written).sum()
    value = planted.measure("log probability without positions", stack=stack)
    assert value == pytest.approx(expected, abs=1e-3)
    assert value != pytest.approx(planted.sentence.log_p, abs=1e-3)


def test_changed_without_heads(
    planted: Planted, model: Transformer, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    translator = planted.sentence.translator
    sentence = Sentence(translator, translator.trace(ENGLISH))
    measure, answers = MEASURES["changed without heads"], set()
    for heads in (HEADS[:1], HEADS[16:17], HEADS[20:21], HEADS[16:]):
        folder = tmp_path / heads[0][0] / str(len(heads))
        checkpoint.save(folder, without_heads(model, [head[1:] for head in heads]), tokenizer)
        text = Translator.load(folder).translate(ENGLISH).text
        names = ", ".join(head[0] for head in heads)
        answer = measure.compute(sentence, {"heads": measure.arguments["heads"](names)})
        assert answer == ("yes" if text != sentence.trace.target else "no")
        answers.add(answer)
    assert answers == {"yes", "no"}


def test_counts_and_sizes(planted: Planted, model: Transformer) -> None:
    assert planted.measure("subwords", side="source") == len(planted.source)
    assert planted.measure("subwords", side="target") == len(planted.written)
    assert planted.measure("visible", row=ROW) == ROW
    sizes = {"N": 2, "h": 4, "d_model": 32, "d_k": 8, "d_ff": 64, "vocab_size": 160}
    sizes["parameters"] = sum(parameter.numel() for parameter in model.parameters())
    for name, size in sizes.items():
        assert planted.measure("size", name=name) == size


def test_formulas_of_the_paper(planted: Planted) -> None:
    for position, dimension in ((0, 0), (0, 1), (1, 0), (7, 10), (30, 31)):
        angle = position / 10_000 ** (dimension // 2 * 2 / 32)
        expected = math.cos(angle) if dimension % 2 else math.sin(angle)
        value = planted.measure("encoding", position=position, dimension=dimension)
        assert value == pytest.approx(expected, abs=1e-9)
    for step in (1, 500, 4000, 9000):
        rate = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
        asked = {"step": step, "d_model": 512, "warmup": 4000}
        assert planted.measure("learning rate", **asked) == pytest.approx(rate)


def test_loss_is_that_of_the_log(planted: Planted) -> None:
    log = Path("assets/model/run.jsonl").read_text(encoding="utf-8").splitlines()
    losses = {(r := json.loads(line))["step"]: r["loss"] for line in log if '"loss"' in line}
    for step in (50, 1000, 26_000):
        assert planted.measure("loss", step=step) == losses[step]


def test_a_token_is_its_text_or_its_number(planted: Planted) -> None:
    asked = {"head": "L1 H1 cross", "row": 2}
    tokens = display_tokens(planted.sentence.trace.source_tokens)
    inside = next(token for token in tokens if token.startswith("·"))  # not the first of its word
    for text in (".", inside.lstrip("·")):
        column = [token.lstrip("·") for token in tokens].index(text) + 1
        by_text = planted.measure("weight", **asked, column=text)
        assert by_text == planted.measure("weight", **asked, column=column)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("weight", {"head": "L9 H9 cross", "row": 1, "column": 1}),
        ("log probability without heads", {"heads": "L1 H1 cross, L9 H9 cross"}),
        ("changed without heads", {"heads": "L9 H9 cross"}),
        ("strongest", {"head": "L1 H1 cross", "row": 99}),
        ("strongest", {"head": "L1 H1 cross", "row": 0}),
        ("weight", {"head": "L1 H1 cross", "row": 1, "column": "zebra"}),
        ("probability", {"row": "zebra"}),
        ("encoding", {"position": 1, "dimension": 32}),
        ("loss", {"step": 51}),
    ],
)
def test_what_a_sentence_has_not_is_said_in_one_sentence(
    planted: Planted, name: str, given: dict[str, object]
) -> None:
    with pytest.raises(InputError, match=r"^[^\n]+\.$"):
        planted.measure(name, **given)


@pytest.mark.parametrize(
    ("name", "argument", "value"),
    [
        ("weight", "head", "the best one"),
        ("weight", "head", "L1 H1 cross, L1 H2 cross"),
        ("weight", "head", 4),
        ("weight", "row", 1.5),
        ("weight", "row", True),
        ("changed without heads", "heads", "L1 H1 nose"),
        ("encoding", "position", -1),
        ("learning rate", "step", 10**9),
        ("size", "name", "colour"),
        ("subwords", "side", "left"),
        ("subwords", "side", []),
        ("log probability without positions", "stack", "both"),
    ],
)
def test_a_wrong_argument_is_a_value_error(name: str, argument: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+\.$"):
        MEASURES[name].arguments[argument](value)


def test_every_measure_is_tested_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert [name for name in MEASURES if f'"{name}"' not in text] == []
