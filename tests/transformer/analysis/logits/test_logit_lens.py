"""Words that each decoder layer would write, and those that a search would have at each step."""

import math

import numpy as np
import pytest
import torch

from tests.transformer.analysis.plain_model import PlainModel
from tests.transformer.reference import softmax
from transformer import InputError, Translator
from transformer.analysis.logits.logit_lens import alternatives, layer_predictions
from transformer.cache import Cache
from transformer.config import BOS, EOS
from transformer.decoding import NEVER_WRITTEN
from transformer.masks import padding_mask

K = 4


def test_each_layer_is_projected_as_the_last_one_is(translator, trace) -> None:
    source, written = (
        [p.id for p in pieces] for pieces in (trace.source_pieces, trace.target_pieces)
    )
    plain = PlainModel(translator.model, source, [BOS, *written[:-1]])
    predictions = layer_predictions(translator, trace, K)
    text = {
        id_: translator.tokenizer.pieces_of([id_])[0].text
        for id_ in range(translator.model.config.vocab_size)
    }
    for layer in range(translator.model.config.N):
        p = softmax(plain.layers["decoder", layer] @ plain.table.T)
        for step, id_ in enumerate(written):
            allowed = [i for i in np.argsort(-p[step]) if i not in NEVER_WRITTEN]
            np.testing.assert_allclose(
                predictions.probabilities[layer, step], p[step, allowed[:K]], rtol=1e-4
            )
            assert predictions.pieces[layer][step] == tuple(text[i] for i in allowed[:K])
            assert predictions.written[layer, step] == pytest.approx(p[step, id_], rel=1e-4)
            assert predictions.rank[layer, step] == allowed.index(id_)
    np.testing.assert_allclose(np.log(predictions.written[-1]), trace.log_probs, rtol=1e-4)


@pytest.mark.parametrize("k", [0, 158])
def test_a_number_of_pieces_that_is_not_there_is_refused(translator, trace, k) -> None:
    with pytest.raises(InputError):
        layer_predictions(translator, trace, k)


TEXT = "The dog sleeps in the garden."


def test_the_choices_are_those_of_the_search_step_by_step(translator: Translator) -> None:
    """A cached search over growing prefixes, not a teacher-forced pass."""
    trace = translator.trace(TEXT, "Der Hund schläft im Garten.")
    steps = alternatives(translator.model, translator.tokenizer, trace, 3)
    source = torch.tensor([[piece.id for piece in trace.source_pieces]])
    mask = padding_mask(source)
    with torch.inference_mode():
        memory = translator.model.encode(source, mask)
        cache = Cache(translator.model.config.N)
        read = torch.tensor([[BOS]])
        for choices, piece in zip(steps, trace.target_pieces, strict=True):
            decoded = translator.model.decode(read, memory, mask, cache)
            log_p = translator.model.logits(decoded)[0, -1].log_softmax(-1)
            log_p[list(NEVER_WRITTEN)] = -math.inf
            assert choices[0].piece == piece.text
            assert math.log(choices[0].probability) == pytest.approx(float(log_p[piece.id]), 1e-4)
            log_p[piece.id] = -math.inf
            best = log_p.topk(3)
            names = [p.text for p in translator.tokenizer.pieces_of(best.indices.tolist())]
            assert [choice.piece for choice in choices[1:]] == names
            assert [choice.probability for choice in choices[1:]] == pytest.approx(
                best.values.exp().tolist(), rel=1e-3
            )
            read = torch.tensor([[piece.id]])
    assert trace.target_pieces[-1].id == EOS
