"""What each decoder layer would write, against the plain model."""

from dataclasses import replace

import numpy as np
import pytest

from tests.transformer.analysis.plain_model import PlainModel
from tests.transformer.reference import is_one_sentence, softmax
from transformer import InputError
from transformer.analysis.logits.logit_lens import layer_predictions
from transformer.config import BOS
from transformer.decoding import NEVER_WRITTEN

K = 4


def test_each_layer_is_projected_as_the_last_one_is(translator, trace) -> None:
    source, written = (
        [p.id for p in pieces] for pieces in (trace.source_pieces, trace.target_pieces)
    )
    plain = PlainModel(translator.model, source, [BOS, *written[:-1]])
    found = layer_predictions(translator, trace, K)
    text = {
        id_: translator.tokenizer.pieces_of([id_])[0].text
        for id_ in range(translator.model.config.vocab_size)
    }
    for layer in range(translator.model.config.N):
        p = softmax(plain.layers["decoder", layer] @ plain.table.T)
        for step, id_ in enumerate(written):
            allowed = [i for i in np.argsort(-p[step]) if i not in NEVER_WRITTEN]
            np.testing.assert_allclose(
                found.probabilities[layer, step], p[step, allowed[:K]], rtol=1e-4
            )
            assert found.pieces[layer][step] == tuple(text[i] for i in allowed[:K])
            assert found.written[layer, step] == pytest.approx(p[step, id_], rel=1e-4)
            assert found.rank[layer, step] == allowed.index(id_)
    np.testing.assert_allclose(np.log(found.written[-1]), trace.log_probs, rtol=1e-4)


@pytest.mark.parametrize("k", [0, 158])
def test_a_number_of_pieces_that_is_not_there_is_refused(translator, trace, k) -> None:
    with pytest.raises(InputError) as refused:
        layer_predictions(translator, trace, k)
    assert is_one_sentence(str(refused.value))


def test_one_step_has_its_own_predictions(translator, trace) -> None:
    whole = layer_predictions(translator, trace, K)
    first = layer_predictions(translator, replace(trace, target_pieces=trace.target_pieces[:1]), K)
    np.testing.assert_allclose(first.probabilities[:, 0], whole.probabilities[:, 0], rtol=1e-4)
