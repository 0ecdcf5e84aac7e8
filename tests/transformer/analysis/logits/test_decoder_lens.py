"""The decoder on each encoder layer, against a loop over the modules in float64, without hooks."""

import copy
import math

import pytest
import torch

from tests.transformer.checkpoints.marian import marian_folder
from transformer import InputError, Transformer, Translator, config, decoding
from transformer.analysis.logits.decoder_lens import decoder_lens

MOST = 9  # pieces of a translation: random models seldom end one


@pytest.fixture(scope="module", params=["ours", 3])
def double(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    """A model in float64: ours, or a MarianMT one of so many encoder layers."""
    if request.param == "ours":
        loaded = copy.copy(request.getfixturevalue("translator"))
        loaded.model = copy.deepcopy(loaded.model)
    else:
        folder = tmp_path_factory.mktemp("marian")
        loaded = Translator.load(
            marian_folder.write(folder, layers=request.param, decoder=(2, 4, 20))
        )
    loaded.model.double()
    return loaded


def log_p(model: Transformer, layer: int, source: list[int], read: list[int]) -> torch.Tensor:
    """Log P of every piece after each one that the decoder has read, `[target, vocab]`."""
    memory = model.encoder.embedding(torch.tensor([source]))
    for n in range(layer):
        memory = model.encoder.layers[n](memory)
    x = model.decoder.embedding(torch.tensor([read]))
    for decoder_layer in model.decoder.layers:
        x = decoder_layer(x, memory)
    return model.logits(x)[0].log_softmax(-1).detach()


def greedy(model: Transformer, layer: int, source: list[int]) -> list[int]:
    written: list[int] = []
    while len(written) < MOST and config.EOS not in written:
        last = log_p(model, layer, source, [config.BOS, *written])[-1]
        last[list(decoding.NEVER_WRITTEN)] = -math.inf
        written.append(int(last.argmax()))
    return written


def test_each_layer_is_read_as_the_last_one_is(double: Translator) -> None:
    model = double.model
    trace = double.trace(marian_folder.SOURCE[0], target=marian_folder.TARGET[0])
    source, target = ([p.id for p in side] for side in (trace.source_pieces, trace.target_pieces))
    log_probs = []
    for layer in range(model.config.N + 1):
        reading = decoder_lens(double, trace, layer, beam_size=1, max_length=MOST)
        own = log_p(model, layer, source, [config.BOS, *target[:-1]])[range(len(target)), target]
        assert reading.layer == layer
        assert reading.log_prob == pytest.approx(float(own.sum()), rel=1e-10)
        written = greedy(model, layer, source)
        assert [*reading.translation.best.hypothesis.tokens] == written
        assert (reading.length, reading.ended) == (len(written), written[-1] == config.EOS)
        log_probs.append(reading.log_prob)
    assert len({round(value, 6) for value in log_probs}) == model.config.N + 1
    assert log_probs[-1] == pytest.approx(float(trace.log_probs.sum()), rel=1e-5)


@pytest.mark.parametrize("layer", [-1, 3, 0.5])
def test_a_layer_that_is_not_there_is_refused(translator: Translator, trace, layer) -> None:
    with pytest.raises(InputError):
        decoder_lens(translator, trace, layer)
