"""The padded batch is the sentences themselves, one below the other."""

import pytest
import torch

from tests.transformer.analysis.padded import TEXTS, traces
from transformer.analysis.teacher_forcing import batch_traces
from transformer.errors import InputError

__all__ = ["traces"]  # a fixture: used by its name


def test_each_row_is_its_sentence_and_then_padding(traces):
    made = batch_traces(traces)
    assert made.source.shape == (len(TEXTS), max(len(one.source_pieces) for one in traces))
    assert made.target.shape == made.written.shape
    assert made.written.size(1) == max(len(one.target_pieces) for one in traces)
    for n, one in enumerate(traces):
        source = [piece.id for piece in one.source_pieces]
        written = [piece.id for piece in one.target_pieces]
        assert made.source[n].tolist() == source + [0] * (made.source.size(1) - len(source))
        assert made.written[n].tolist() == written + [0] * (made.written.size(1) - len(written))


def test_the_decoder_reads_what_was_written_one_step_before(traces):
    made = batch_traces(traces)
    assert (made.target[:, 0] == 2).all()  # <s>
    for n, one in enumerate(traces):
        length = len(one.target_pieces)
        assert torch.equal(made.target[n, 1:length], made.written[n, : length - 1])
        assert (made.target[n, length:] == 0).all()


def test_the_tokens_stand_beside_their_ids(traces, tokenizer):
    made = batch_traces(traces)
    for ids, tokens in (
        (made.source, made.source_tokens),
        (made.target, made.decoder_tokens),
        (made.written, made.target_tokens),
    ):
        assert [len(row) for row in tokens] == [ids.size(1)] * len(TEXTS)
        for row, names in zip(ids.tolist(), tokens, strict=True):
            # what the model has never seen keeps its own letters
            for token, name in zip(row, names, strict=True):
                assert token == 1 or tokenizer.pieces_of([token])[0].text == name or token == 0
                assert (token == 0) == (name == "<pad>")


def test_without_a_sentence_there_is_no_batch():
    with pytest.raises(InputError, match=r"no sentence.*type one\.$"):
        batch_traces([])
