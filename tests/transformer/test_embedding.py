import copy
import math

import numpy as np
import pytest
import torch
from torch import nn

from tests.transformer import reference
from transformer import InputError, Transformer, TransformerConfig
from transformer.embedding import Embedding, sinusoidal_positions


def config(**changes):
    shape = {"vocab_size": 50, "N": 1, "d_model": 32, "d_ff": 16, "h": 2, "max_length": 40}
    return TransformerConfig(**(shape | changes))


def embedding(**changes):
    c = config(**changes)
    table = nn.Parameter(torch.randn(c.vocab_size, c.d_model))
    return Embedding(c, table).eval()


@pytest.mark.parametrize(("length", "d_model"), [(1, 2), (40, 6), (30, 32), (300, 4)])
def test_positions_are_the_papers_waves(length, d_model):
    """§3.5: sines at even dimensions, cosines at odd ones, interleaved."""
    expected = reference.positions(length, d_model)
    np.testing.assert_allclose(sinusoidal_positions(length, d_model), expected, atol=1e-6)


def test_an_embedding_is_its_row_times_the_root_of_the_width_plus_the_position():
    """§3.4 and §3.5."""
    e = embedding()
    tokens = torch.tensor([[3, 7, 7], [9, 0, 1]])
    rows = e.table.detach().double().numpy()[tokens.numpy()]
    expected = rows * math.sqrt(32) + reference.positions(3, 32)
    np.testing.assert_allclose(e(tokens).detach(), expected, atol=1e-5)


def test_scaled_embeddings_begin_with_rms_one():
    """N(0, 1/√d_model) times √d_model, beside waves of RMS 1/√2."""
    model = Transformer(config(vocab_size=4000))
    _, cache = model.run_with_cache(
        torch.arange(4000).view(100, 40), torch.ones(100, 1, dtype=torch.long)
    )
    tokens, waves = (cache[f"encoder.embedding.hook_{n}"] for n in ("tokens", "positions"))
    assert rms(tokens) == pytest.approx(1, abs=0.01)  # 128,000 draws: standard error 0.002
    assert rms(waves) == pytest.approx(math.sqrt(0.5), abs=1e-6)


def test_the_longest_sequence_fits_and_one_more_piece_does_not():
    e = embedding()
    e(torch.zeros(1, 40, dtype=torch.long))
    e(torch.zeros(1, 1, dtype=torch.long), start=39)
    for length, start in ((41, 0), (1, 40)):
        with pytest.raises(InputError, match=r"41 pieces.*at most 40"):
            e(torch.zeros(1, length, dtype=torch.long), start=start)


def test_one_matrix_serves_both_embeddings_and_the_projection():
    """§3.4: whoever changes one changes all three."""
    model = copy.deepcopy(Transformer(config())).double()
    assert model.encoder.embedding.table is model.shared_embedding
    assert model.decoder.embedding.table is model.shared_embedding
    assert [n for n, _ in model.named_parameters() if "table" in n] == []
    x = torch.randn(2, 32).double()
    assert torch.equal(model.logits(x), x @ model.shared_embedding.T)


def test_learned_positions_are_parameters_of_each_stack():
    """Table 3, row (E)."""
    model = Transformer(config(positions="learned"))
    parameters = dict(model.named_parameters())
    ours = parameters["encoder.embedding.positions"], parameters["decoder.embedding.positions"]
    assert [p.shape for p in ours] == [(40, 32)] * 2
    assert not torch.equal(*ours)
    model(torch.tensor([[4, 5, 6]]), torch.tensor([[2, 7]])).sum().backward()
    # a position learns when something stands on it, and only then
    grads = [p.grad.any(-1).tolist() for p in ours if p.grad is not None]
    assert grads == [[True] * 3 + [False] * 37, [True] * 2 + [False] * 38]


def test_learned_positions_are_added_where_the_waves_would_be():
    e = embedding(positions="learned")
    tokens = torch.tensor([[3, 7]])
    expected = e.table[tokens] * math.sqrt(32) + e.positions[5:7]
    torch.testing.assert_close(e(tokens, start=5), expected)


def test_dropout_falls_on_the_sum_of_embedding_and_position():
    """§5.4: an element is dropped with its position or not at all."""
    torch.manual_seed(0)
    e = embedding(P_drop=0.5)
    tokens = torch.randint(4, 50, (8, 20))
    whole = e.eval()(tokens)
    dropped = e.train()(tokens)
    remaining = dropped != 0
    assert remaining.float().mean().item() == pytest.approx(0.5, abs=0.05)
    torch.testing.assert_close(dropped[remaining], 2 * whole[remaining])


def rms(x):
    return x.detach().square().mean().sqrt().item()


def test_under_autocast_the_sum_of_all_sub_layers_begins_in_its_type():
    layer, tokens = embedding(), torch.tensor([[4, 5]])
    plain = layer(tokens)
    assert plain.dtype == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        low = layer(tokens)
    assert low.dtype == torch.bfloat16
    torch.testing.assert_close(low, plain.bfloat16())
