"""The shares of subspaces and positions on the page All heads, against NumPy."""

import re

import numpy as np

from tests.viz.pages import reading
from transformer import Transformer, TransformerConfig
from transformer.checkpoints import checkpoint


def sentence(app) -> str:
    assert not app.exception
    (text,) = (t.value for t in app.markdown if "subspace" in t.value or "one head:" in t.value)
    return str(text)


def test_the_shares_are_those_of_the_open_heads_layer(opened, translator) -> None:
    text = sentence(opened(kind="decoder", layer="2", head="3"))
    attention = translator.model.decoder.layers[1].self_attention
    expected = []
    for name in "QKVO":
        weight = attention.get_parameter(f"W_{name}.weight").detach().double().numpy()
        heads = np.split(weight.T if name == "O" else weight, attention.h)
        bases = [np.linalg.svd(head, full_matrices=False)[2] for head in heads]
        shares = [
            np.mean(np.linalg.svd(a @ b.T, compute_uv=False) ** 2)
            for n, a in enumerate(bases)
            for b in bases[:n]
        ]
        expected.append(round(100 * np.mean(shares)))
    weights = translator.trace(reading.SENTENCE).decoder_self[1]
    apart = [
        np.abs(a - b)[1:].sum(-1).mean() / 2 for n, a in enumerate(weights) for b in weights[:n]
    ]
    width, d_model = attention.W_Q.out_features // attention.h, attention.W_Q.in_features
    chance = round(100 * width / d_model)
    shown = [int(number) for number in re.findall(r"(\d+)\xa0%", text)]
    assert shown == [*expected, chance, round(100 * np.mean(apart))]
    assert "layer 2 of decoder self-attention" in text


def test_a_layer_with_one_head_says_so(serve, translator, tmp_path) -> None:
    config = TransformerConfig(
        vocab_size=translator.tokenizer.vocab_size, N=1, h=1, d_model=16, d_ff=16, max_length=64
    )
    checkpoint.save(tmp_path / "one", Transformer(config), translator.tokenizer)
    app = serve("heads", checkpoint=tmp_path / "one", text="The baker sings.")
    assert "one head" in sentence(app)


def test_the_mean_of_all_layers_has_no_subspace_of_its_own(serve) -> None:
    app = serve("heads", text="Dog.", kind="encoder", layer="mean", head="mean")
    assert not app.exception
    assert "random subspaces" not in "".join(element.value for element in app.markdown)
