"""The player on its pages: it shows what is on the page, whatever was typed, or is not there."""

import pytest

from tests.viz.pages import reading
from transformer import Translator
from viz.draw.trace_message import WINDOW

LONG = "dog " * 60


@pytest.mark.parametrize(
    ("path", "text", "choices"),
    [
        ("translate", "❤ €5", {}),
        ("translate", LONG, {}),
        ("translate", "A dog runs.", {"edited": "Ein Hund ."}),
        ("translate", "A dog runs.", {"prefix": "▁Die"}),
        ("heads", "A dog runs.", {"view": "step by step", "lens": "norms"}),
    ],
)
def test_it_shows_the_sentence_and_the_translation_of_the_page(
    serve, translator: Translator, path: str, text: str, choices: dict[str, str]
) -> None:
    app = serve(path, text=text, **choices)
    assert not app.exception
    (meta, _), (player, _) = (reading.message(app, name) for name in ("trace", "player"))
    assert player["trace"] == meta["key"]
    meta = meta["trace"]
    translation = translator.translate(
        text, prefix=choices.get("prefix", "").split(), forbidden=choices.get("forbid", "").split()
    )
    target = choices.get("edited") or translation.text
    trace = translator.trace(text, target=target) if target else translator.trace_of(translation)
    assert meta["source"]["pieces"] == [*trace.source_tokens]
    assert meta["target"]["pieces"] == [*trace.target_tokens]
    assert len(meta["options"]) == len(trace.target_tokens)
    for kind in meta["kinds"]:
        shown = [min(size, WINDOW) for size in trace.weights(kind["kind"]).shape[2:]]
        assert [*kind["weights"].shape[-2:]] == kind["size"] == shown
