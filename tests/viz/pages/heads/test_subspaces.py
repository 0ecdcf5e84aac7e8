"""The shares of subspaces and positions on the page All heads, where there are none."""

from transformer import Transformer, TransformerConfig
from transformer.checkpoints import checkpoint


def sentence(app) -> str:
    assert not app.exception
    (text,) = (t.value for t in app.markdown if "subspace" in t.value or "one head:" in t.value)
    return str(text)


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
