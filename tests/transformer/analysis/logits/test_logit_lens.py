"""Words that each decoder layer would write, and those that a search would have at each step."""

import numpy as np
import pytest

from tests.transformer import reference
from tests.transformer.analysis import plain_model
from transformer import InputError, config, decoding
from transformer.analysis.logits.logit_lens import alternatives, layer_predictions

K = 4


def test_each_layer_is_projected_as_the_last_one_is(translator, trace) -> None:
    source, written = (
        [p.id for p in pieces] for pieces in (trace.source_pieces, trace.target_pieces)
    )
    plain = plain_model.PlainModel(translator.model, source, [config.BOS, *written[:-1]])
    predictions = layer_predictions(translator, trace, K)
    text = {
        id_: translator.tokenizer.pieces_of([id_])[0].text
        for id_ in range(translator.model.config.vocab_size)
    }
    for layer in range(translator.model.config.N):
        p = reference.softmax(plain.layers["decoder", layer] @ plain.table.T)
        for step, id_ in enumerate(written):
            allowed = [i for i in np.argsort(-p[step]) if i not in decoding.NEVER_WRITTEN]
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


def test_the_choices_are_the_written_piece_and_the_alternatives_of_a_score(translator) -> None:
    trace = translator.trace(TEXT, "Der Hund schläft im Garten.")
    scored = translator.score(TEXT, "Der Hund schläft im Garten.", alternatives=3)
    steps = alternatives(translator.model, translator.tokenizer, trace, 3)
    assert [tuple(others) for _, *others in steps] == [*scored.alternatives]
    assert [own.piece for own, *_ in steps] == [*trace.target_tokens]
    assert [own.probability for own, *_ in steps] == pytest.approx(np.exp(scored.log_probs))
