"""Every analysis of a model whose decoder has other layers, heads and widths than its encoder."""

import itertools

import numpy as np
import pytest

from tests.transformer.checkpoints.marian import marian_folder
from transformer import KINDS, AttentionTrace, InputError, Kind, Translator
from transformer.analysis import alignment, source_share, teacher_forcing
from transformer.analysis.heads import importance, removal
from transformer.analysis.heads.head import Head, all_heads, require_heads
from transformer.analysis.lenses import HAS_HEADS, NAMES, alti, lens
from transformer.analysis.logits.contrast import contrast, erase
from transformer.analysis.logits.direct_logits import direct_logits
from transformer.analysis.logits.logit_lens import layer_predictions
from transformer.corpus import faithfulness
from transformer.paper import arithmetic
from transformer.paper.masking import leak


@pytest.fixture(scope="module", params=["shallow decoder", "deep decoder"])
def translator(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Translator:
    """Random weights; of its two cases one has fewer layers in the decoder, one more."""
    folder = tmp_path_factory.mktemp("unequal")
    layers, decoder = (3, (1, 4, 20)) if request.param == "shallow decoder" else (1, (3, 4, 40))
    return Translator.load(
        marian_folder.write(folder, layers=layers, decoder=decoder, scaled=False)
    )


@pytest.fixture(scope="module")
def trace(translator: Translator) -> AttentionTrace:
    return translator.trace(marian_folder.SOURCE[0], target=marian_folder.TARGET[0])


def shape(translator: Translator, kind: Kind) -> tuple[int, int]:
    config = translator.model.config
    return (config.N, 2) if kind == "encoder_self" else (config.decoder.N, 4)


def test_every_lens_sees_every_layer(translator, trace):
    for name, kind in itertools.product(NAMES, KINDS):
        values = lens(name, translator, trace, kind)
        layers, heads = shape(translator, kind)
        assert values.shape[: values.ndim - 2] == (
            (layers, heads) if name in HAS_HEADS else (layers,)
        )
        assert np.isfinite(values).all()
    np.testing.assert_allclose(alti.whole_model(translator.model, trace).sum(-1), 1, atol=1e-4)
    shares = source_share.source_shares(translator, trace)
    assert shares.source.shape == (len(trace.target_pieces), len(trace.source_pieces))
    np.testing.assert_allclose(shares.from_source + shares.prefix, 1, atol=1e-4)


def test_all_heads_are_there_and_no_other(translator: Translator, trace: AttentionTrace) -> None:
    model, heads = translator.model, all_heads(translator.model.config)
    assert len(heads) == sum(np.prod(shape(translator, kind)) for kind in KINDS)
    require_heads(model, heads)
    for kind in KINDS:
        layers, count = shape(translator, kind)
        for wrong in (Head(kind, layers, 0), Head(kind, 0, count)):
            with pytest.raises(InputError, match="counted from 0"):
                require_heads(model, [wrong])
        with pytest.raises(InputError, match=f"from 0 to {layers - 1}"):
            arithmetic.sublayer_values(model, trace, kind, layers)
        values = arithmetic.sublayer_values(model, trace, kind, layers - 1)
        np.testing.assert_allclose(values.weights, trace.weights(kind)[-1], atol=1e-5)
    text = marian_folder.SOURCE[1]
    whole = translator.translate(text, beam_size=1, max_length=6).log_prob
    for head in heads[::5]:
        with removal.removed(model, [removal.Removal(*head)]):
            assert translator.translate(text, beam_size=1, max_length=6).log_prob != whole


def test_logits_are_taken_apart_by_the_projection_of_its_own(translator, trace):
    parts = direct_logits(translator.model, trace)
    total = parts.tokens + parts.positions + parts.biases + parts.feed_forward.sum(0)
    total += sum(heads.sum((0, 1)) for heads in parts.heads.values())
    np.testing.assert_allclose(total, parts.logits, atol=1e-3)
    assert len(layer_predictions(translator, trace).pieces) == translator.model.config.decoder.N
    other = 4 + (trace.target_pieces[1].id == 4)
    for kind, values in contrast(translator.model, trace, 1, other).values.items():
        assert values.shape[:2] == shape(translator, kind)
    assert erase(translator.model, trace, 1, other).shape == (len(trace.source_pieces),)


def test_what_is_measured_of_a_corpus_has_each_stack_s_shape(translator, trace):
    model, batch = translator.model, teacher_forcing.batch_traces([trace, trace])
    gradients = importance.gradient_importance(model, batch.source, batch.target, batch.written)
    assert gradients.shape == (2, sum(np.prod(shape(translator, kind)) for kind in KINDS))
    for kind in KINDS:
        assert leak(model, batch, kind, masked=False).to_hidden.shape == shape(translator, kind)
        assert faithfulness.uniform_changes(model, trace, kind).any()
        assert faithfulness.permuted_changes(model, trace, kind).any()
    assert alignment.align(translator, trace)
