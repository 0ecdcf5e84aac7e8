"""‖x‖ of keys is that of what W_K reads, and a planted sink receives what it was given."""

import math

import numpy as np
import pytest
import torch

from tests.transformer.analysis.lens_cases import Case
from tests.transformer.checkpoints.marian import marian_folder
from transformer import KINDS, AttentionTrace, Kind, Transformer, Translator
from transformer.analysis.sinks import share_on_sinks
from transformer.circuits.key_norms import key_norms
from transformer.kinds import attention_name


def read_by_W_K(model: Transformer, trace: AttentionTrace, kind: Kind) -> list[torch.Tensor]:
    """Run the model once more, and keep what the projection of each layer's keys is given."""
    inputs: list[torch.Tensor] = []
    handles = [
        model.get_submodule(f"{attention_name(kind, layer)}.W_K").register_forward_pre_hook(
            lambda _module, given: inputs.append(given[0][0].detach().double())
        )
        for layer in range(model.config.stack(kind).N)
    ]
    source, target = ([piece.id for piece in x] for x in (trace.source_pieces, trace.target_pieces))
    with torch.no_grad():
        model(torch.tensor([source]), torch.tensor([[2, *target[:-1]]]))
    for handle in handles:
        handle.remove()
    return inputs


def looped(trace: AttentionTrace, kind: Kind, layer: int, key: int) -> float:
    """Average one key's weight over the heads and rows that count, in plain Python."""
    weights = trace.weights(kind)[layer].astype(float)
    heads = [n for n in range(len(weights)) if trace.existing_heads(kind)[layer, n]]
    rows = range(int(kind == "decoder_self" and weights.shape[1] > 1), weights.shape[1])
    cells = [float(weights[head, row, key]) for head in heads for row in rows]
    return math.fsum(cells) / len(cells)


@pytest.mark.parametrize("kind", KINDS)
def test_keys_are_as_long_as_what_their_projection_reads(case: Case, kind: Kind) -> None:
    check(case.model, case.trace, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_marian_model_with_unequal_stacks_likewise(tmp_path, kind: Kind) -> None:
    folder = marian_folder.write(tmp_path, layers=2, decoder=(3, 4, 40), scaled=False)
    translator = Translator.load(folder)
    trace = translator.trace(marian_folder.SOURCE[0], target=marian_folder.TARGET[0])
    check(translator.model, trace, kind)


def check(model: Transformer, trace: AttentionTrace, kind: Kind) -> None:
    result = key_norms(model, trace, kind)
    read = read_by_W_K(model, trace, kind)
    assert len(read) == len(result.norms) == len(result.received)
    for layer, key in np.ndindex(result.norms.shape):
        squares = (float(x) ** 2 for x in read[layer][key])
        assert result.norms[layer, key] == pytest.approx(math.sqrt(math.fsum(squares)), rel=1e-5)
        assert result.received[layer, key] == pytest.approx(
            looped(trace, kind, layer, key), rel=1e-5
        )
    np.testing.assert_allclose(result.received.sum(1), 1, atol=1e-5)
    np.testing.assert_allclose(
        result.received[:, result.sinks].sum(1),
        np.nanmean(share_on_sinks(trace, kind), axis=1),
        atol=1e-5,
    )
