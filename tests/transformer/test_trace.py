import json

import numpy as np
import pytest
import sentencepiece
import torch

from transformer import AttentionTrace, CheckpointError, InputError
from transformer.config import BOS, EOS

ENGLISH = "The tired teacher waits beside the river."
GERMAN = "Die müde Lehrerin wartet neben dem Fluss."


@pytest.fixture(scope="module")
def trace(translator):
    return translator.trace(ENGLISH, GERMAN)


@pytest.fixture
def processor(tokenizer):
    """SentencePiece itself, so that no label comes from the code under test."""
    return sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)


def log_probs_after(model, source, written):
    with torch.no_grad():
        return model(torch.tensor([source]), torch.tensor([[BOS, *written]]))[0, -1].log_softmax(-1)


def test_the_tokens_are_sentencepieces(trace, processor):
    source, target = (processor.EncodeAsPieces(text) for text in (ENGLISH, GERMAN))
    assert trace.source_tokens == (*source, "</s>")
    assert trace.target_tokens == (*target, "</s>")
    assert trace.decoder_tokens == ("<s>", *target)
    assert (trace.source, trace.target) == (ENGLISH, GERMAN)


def test_the_axes_are_labelled_by_what_stands_there(trace):
    source, reads, writes = trace.source_tokens, trace.decoder_tokens, trace.target_tokens
    assert trace.labels("encoder_self") == (source, source)
    assert trace.labels("decoder_self") == (reads, reads)
    assert trace.labels("cross") == (writes, source)
    assert trace.labels("cross", queries="reads") == (reads, source)
    assert trace.labels("decoder_self", queries="writes") == (writes, reads)
    assert trace.labels("encoder_self", queries="writes") == (source, source)
    for kind, queries in (("decoder", None), ("Cross", None), ("cross", "write")):
        with pytest.raises(InputError, match=r"(kind|queries) = '\w+' does not exist"):
            trace.labels(kind, queries)


def test_each_position_writes_the_token_it_is_labelled_with(trace, model, processor):
    """The label's probability, from a pass that has seen no more than what stands before it."""
    source = [*processor.EncodeAsIds(ENGLISH), EOS]
    written = [*processor.EncodeAsIds(GERMAN), EOS]
    expected = [
        log_probs_after(model, source, written[:i])[piece].item() for i, piece in enumerate(written)
    ]
    np.testing.assert_allclose(trace.log_probs, expected, atol=1e-4)


class Planted:
    """Makes head 3 of the last layer look from one token at one other, and nowhere else.

    Which position a token stands at is found in what the model itself reads, by comparing the
    embedded rows with the embedding table: no label takes part in it.
    """

    def __init__(self, model, kind, query, key):
        self.model, self.query, self.key = model, query, key
        self.stack_of_query = "encoder" if kind == "encoder_self" else "decoder"
        self.stack_of_key = "decoder" if kind == "decoder_self" else "encoder"
        self.embedded: dict[str, torch.Tensor] = {}
        attention = "cross_attention" if kind == "cross" else "self_attention"
        points = {f"{self.stack_of_query}.layers.1.{attention}.hook_pattern": self.plant}
        for stack in ("encoder", "decoder"):
            points[f"{stack}.embedding.hook_tokens"] = self.remember
        self.hooks = model.hooks(points)
        self.reading = model.hooks(dict.fromkeys(points, lambda value, name: None))

    def remember(self, value, name):
        self.embedded[name.split(".")[0]] = value[0]

    def position(self, stack, token):
        row = self.model.shared_embedding[token] * self.model.config.d_model**0.5
        (position,) = (self.embedded[stack] - row).abs().amax(-1).lt(1e-5).nonzero().flatten()
        return int(position)

    def plant(self, value, name):
        value = value.clone()
        row = value[0, 3, self.position(self.stack_of_query, self.query)]
        row[:] = 0
        row[self.position(self.stack_of_key, self.key)] = 1
        return value


@pytest.mark.parametrize(
    ("kind", "query", "key"),
    [
        ("encoder_self", "▁river", "▁wa"),
        ("encoder_self", "▁The", "</s>"),
        ("decoder_self", "▁Fluss", "artet"),
        ("decoder_self", "▁neben", "<s>"),
        ("cross", "artet", "▁wa"),
        ("cross", "</s>", "▁river"),
        ("cross", "▁Der", "</s>"),
    ],
)
def test_a_planted_look_is_found_between_the_right_labels(translator, processor, kind, query, key):
    # no token occurs twice on a side, so each names one position
    english, german = "The dog waits beside the river.", "Der Hund wartet neben dem Fluss."
    read = query
    if kind == "cross":  # such a row is named by what its position writes
        pieces = processor.EncodeAsPieces(german)
        read = ["<s>", *pieces][[*pieces, "</s>"].index(query)]
    ids = processor.PieceToId(read), processor.PieceToId(key)
    plant = Planted(translator.model, kind, *ids)
    with plant.hooks:
        trace = translator.trace(english, german)
    queries, keys = trace.labels(kind)
    weights = trace.weights(kind)[1, 3]  # [query, key]
    row = weights[queries.index(query)]
    assert keys[int(row.argmax())] == key
    np.testing.assert_allclose(row, np.eye(len(keys))[keys.index(key)], atol=1e-6)
    # and nowhere else did anybody plant anything
    with plant.reading:  # which takes the same way, so that the numbers are the same
        plain = translator.trace(english, german).weights(kind)
    others = np.ones(plain.shape, dtype=bool)
    others[1, 3, queries.index(query)] = False
    np.testing.assert_array_equal(trace.weights(kind)[others], plain[others])


def test_a_trace_is_the_search_seen_again(translator):
    """One teacher-forced pass gives the probabilities that the search had step by step."""
    translation = translator.translate(ENGLISH)
    for number, candidate in enumerate(translation.candidates):
        again = translator.trace_of(translation, number)
        np.testing.assert_allclose(again.log_probs, candidate.hypothesis.log_probs, atol=1e-4)
        assert again.target_pieces == candidate.pieces
        assert again.target == candidate.text


def test_plain_numpy_reads_the_file(trace, tmp_path):
    trace.save(tmp_path / "trace.npz")
    with np.load(tmp_path / "trace.npz", allow_pickle=False) as file:
        np.testing.assert_array_equal(file["cross"], trace.cross)
        assert json.loads(str(file["words"]))["source"] == ENGLISH


def test_a_trace_that_is_larger_than_it_may_be_says_so(trace, tmp_path):
    trace.save(tmp_path / "trace.npz")
    size = (tmp_path / "trace.npz").stat().st_size
    with pytest.raises(CheckpointError, match=r"unpacks to [\d,]+ bytes, and up to"):
        AttentionTrace.load(tmp_path / "trace.npz", max_bytes=size)
    with pytest.raises(CheckpointError, match=rf"it has {size:,} bytes"):
        AttentionTrace.load(tmp_path / "trace.npz", max_bytes=size - 1)
