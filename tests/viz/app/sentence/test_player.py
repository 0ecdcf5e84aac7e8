"""The player on its pages: it shows what is on the page, whatever was typed, or is not there."""

import pytest

from tests.viz.pages import reading
from transformer import Translator
from viz.draw import labels, player

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
    meta, _ = reading.message(app, "player")
    translation = translator.translate(
        text, prefix=choices.get("prefix", "").split(), forbidden=choices.get("forbid", "").split()
    )
    target = choices.get("edited") or translation.text
    trace = translator.trace(text, target=target) if target else translator.trace_of(translation)
    source = labels.display_tokens(trace.source_tokens)
    assert meta["source"] == source[: player.WINDOW]
    assert meta["written"][1:] == labels.display_tokens(trace.target_tokens)[: player.WINDOW]
    assert len(meta["steps"]) == min(len(trace.target_tokens), player.WINDOW)
    for kind in meta["kinds"]:
        shown = [min(size, player.WINDOW) for size in trace.weights(kind["kind"]).shape[2:]]
        assert [*kind["weights"].shape[-2:]] == kind["size"] == shown
    left_out = max(len(source), len(trace.target_tokens)) > player.WINDOW
    assert bool(meta["outside"]) == left_out
