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
