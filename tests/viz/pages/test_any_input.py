"""The paper's pages on short and long sentences and learned positions: numbers, or a sentence.

Each view draws something, and no number is missing in it; `test_listing` checks MarianMT's.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from tests.fuzz.views import VIEWS
from tests.viz.pages.reading import assert_whole, page_text
from transformer import Transformer, TransformerConfig, Translator
from transformer.checkpoints import checkpoint

PAGES = ("architecture", "figure2", "self_attention", "additive", "hooks")
PICTURES = ("vega_lite_chart", "bidi_component", "plotly_chart")
LONGEST = 511  # pieces of a sentence without its end


@pytest.fixture(scope="module")
def models(trained_folder: Path, tmp_path_factory: pytest.TempPathFactory):
    """Write each folder once: one layer of three heads with either positions."""
    tokenizer = Translator.load(trained_folder).tokenizer
    folder = tmp_path_factory.mktemp("models")

    def made(positions: str, max_length: int) -> Path:
        config = TransformerConfig.from_dict({
            "vocab_size": tokenizer.vocab_size, "N": 1, "h": 3, "d_model": 24, "d_ff": 16,
            "positions": positions, "max_length": max_length,
        })  # fmt: skip
        torch.manual_seed(0)
        checkpoint.save(folder / positions, Transformer(config), tokenizer)
        return folder / positions

    repeated = (" ".join([word] * LONGEST) for word in ("the", "a", "."))
    long = next(text for text in repeated if len(tokenizer.pieces(text)) == LONGEST)
    return {
        "one word": (trained_folder, "dog"),
        "no word": (trained_folder, "!"),
        "learned positions": (made("learned", 128), "The dog sleeps in the garden."),
        "512 pieces": (made("sinusoidal", 1024), long),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("page", "url"), [(page, url) for page in PAGES for url in VIEWS[page]], ids=str
)
@pytest.mark.parametrize("given", ["one word", "no word", "learned positions", "512 pieces"])
def test_a_view_draws_its_own_numbers_or_says_what_is_missing(
    serve: Callable[..., AppTest], models, given: str, page: str, url: dict[str, str]
) -> None:
    folder, text = models[given]
    if given == "512 pieces":  # written by hand: a model with random weights finds no end
        url = {**url, "edited": text}
    app = serve(page, checkpoint=folder, text=text, beam="1", head="3", **url)
    assert not app.exception
    drawn = sum(len(app.get(kind)) for kind in PICTURES)
    assert drawn, page_text(app)
    assert_whole(app)
