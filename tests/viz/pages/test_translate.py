"""The translate page: its pictures, what a click on them asks, and two decodings side by side."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import choice, in_url, meanwhile, texts, unsure
from tests.viz.draw.message import decode
from tests.viz.pages.reading import SENTENCE, html, message, without_text
from transformer import Translator
from transformer.analysis import alignment_settings
from transformer.analysis.alignment import align
from transformer.analysis.alignment_settings import AlignmentSettings, GoldFigures
from transformer.analysis.source_share import by_words, source_shares
from transformer.decoding import SearchTree
from transformer.text.languages import OURS, Languages
from viz.app.cache import cached_results
from viz.app.chrome.explanations import as_markdown
from viz.app.chrome.mounts import LATE
from viz.app.sentence.translation_line import mark_changed_words
from viz.draw.labels import display_tokens
from viz.pages.translate.maps import NOTHING, link_method

GOLD = GoldFigures("a *set* of :red[links]", 508, 31.25)
SETTINGS = AlignmentSettings(0, 2, "reads", "weights", "each", GOLD)
UNMEASURED = AlignmentSettings(1, None, "writes", "norm", "mutual")


@pytest.mark.parametrize("settings", [SETTINGS, UNMEASURED])
def test_words_are_linked_by_the_map_that_aligns_them(
    serve, translator: Translator, monkeypatch, settings: AlignmentSettings
) -> None:
    monkeypatch.setattr(alignment_settings, "read", lambda *_: settings)
    app = serve("translate", text=SENTENCE, where_from="true")
    assert not app.exception
    words, drawn_map = message(app, "word_links"), message(app, "attention_map")
    meta, arrays = words
    trace = translator.trace(SENTENCE)
    pairs = align(translator, trace, replace(settings, links="each"))
    mutual = align(translator, trace, replace(settings, links="mutual"))
    # every word of the translation has its link
    assert [pair.target for pair in pairs] == [*range(len(meta["target"]))]
    assert arrays["ends"].tolist() == [[pair.source, pair.target] for pair in pairs]
    assert meta["mutual"] == [pair in mutual for pair in pairs]
    assert 0 < sum(meta["mutual"]) < len(pairs)
    assert arrays["strengths"] == pytest.approx([pair.strength for pair in pairs], abs=1e-5)
    assert meta["source"] == ["The", "dog", "sleeps", "in", "the", "garden", "."]
    assert "".join(meta["target"]) == trace.target.replace(" ", "")
    # the map below opens on the same layer and head
    assert app.selectbox(key="map_layer").value == str(settings.layer + 1)
    head = "mean" if settings.head is None else str(settings.head + 1)
    assert app.selectbox(key="map_head").value == head
    # and its rows carry both words, those of another layer, too
    for layer in (settings.layer + 1, 2 - settings.layer):
        app.selectbox(key="map_layer").set_value(str(layer)).run()
        both = message(app, "attention_map")[0]["both"]
        assert both["reads"] == display_tokens(trace.decoder_tokens)
        assert both["writes"] == display_tokens(trace.target_tokens)
        assert both["titles"] == ["German: last word read", "German: next word predicted"]
    weights = trace.cross[settings.layer]  # [head, query, key]
    seen = weights.mean(0) if settings.head is None else weights[settings.head]
    assert drawn_map[1]["weights"] == pytest.approx(seen, abs=1e-6)
    made = link_method(settings, OURS, settings.row)
    assert as_markdown(made) in [text.value for text in app.caption]
    assert made in words[0]["caption"]
    # the player ends with the same links
    links = message(app, "player")[0]["links"]
    assert [link["strength"] for link in links] == pytest.approx([p.strength for p in pairs])
    assert [link["mutual"] for link in links] == meta["mutual"]
    # another alignment.json in the same folder links the same trace anew
    other = UNMEASURED if settings is SETTINGS else SETTINGS
    monkeypatch.setattr(alignment_settings, "read", lambda *_: other)
    _, arrays = message(app.run(), "word_links")
    pairs = align(translator, trace, replace(other, links="each"))
    assert arrays["strengths"] == pytest.approx([pair.strength for pair in pairs], abs=1e-5)


def test_the_switch_says_which_row_stands_for_a_word(
    serve, translator: Translator, monkeypatch
) -> None:
    monkeypatch.setattr(alignment_settings, "read", lambda *_: SETTINGS)
    app = serve("translate", text=SENTENCE, where_from="true")
    assert app.button_group(key="rows").value == "word read"  # the row that was measured
    app.button_group(key="rows").set_value("word predicted").run()
    _, arrays = message(app, "word_links")
    trace = translator.trace(SENTENCE)
    pairs = align(translator, trace, replace(SETTINGS, row="writes"))
    assert arrays["strengths"] == pytest.approx([pair.strength for pair in pairs], abs=1e-5)
    text = next(text.value for text in app.caption if text.value.startswith("A solid link"))
    assert "31" not in text  # that figure is of the other row
    assert as_markdown(link_method(SETTINGS, OURS, "writes")) == text


def test_a_switch_that_a_link_can_set_draws_the_shares_of_the_source(
    serve, translator: Translator
) -> None:
    app = serve("translate", text=SENTENCE)
    with pytest.raises(ValueError, match="expected 1, got 0"):
        message(app, "word_links")
    assert not app.toggle(key="where_from").value
    meta, arrays = message(serve("translate", text=SENTENCE, where_from="true"), "word_links")
    trace = translator.trace(SENTENCE)
    shares = by_words(source_shares(translator, trace), trace)
    read, written = len(meta["source"]), len(meta["target"])
    assert arrays["used"] == pytest.approx(shares.used[:read], abs=1e-6)
    assert arrays["fromSource"] == pytest.approx(shares.from_source[:written], abs=1e-6)
    assert arrays["onSinks"] == pytest.approx(shares.on_sinks[:written], abs=1e-6)
    assert [len(values) for values in arrays.values()][2:] == [read, written, written]


def test_the_map_of_a_head_is_drawn_without_sinks(serve, translator: Translator) -> None:
    link = {"text": SENTENCE, "map_layer": "2", "map_head": "mean", "without_sinks": "true"}
    app = serve("translate", **link)
    trace = translator.trace(SENTENCE)
    words = ~np.array(without_text(trace.source_tokens))
    heads = trace.cross[1].astype(float)
    rest = heads[..., words].sum(-1, keepdims=True)
    expected = np.zeros(heads.shape[1:])
    expected[:, words] = (heads[..., words] / rest).mean(0)
    drawn = message(app, "attention_map")[1]["weights"]
    np.testing.assert_allclose(drawn, expected, rtol=1e-5)
    (line,) = [caption.value for caption in app.caption if "Left out" in caption.value]
    left = 1 - trace.cross[..., words].sum(-1, dtype=float).mean((1, 2))  # mean over heads and rows
    assert re.findall(r"(\d+)\s\\%", line) == [f"{100 * left.mean():.0f}", f"{100 * left[1]:.0f}"]


def test_the_page_says_which_map_it_is_and_how_well_that_did() -> None:
    assert link_method(SETTINGS, OURS, "reads") == (
        "A solid link joins two words that are each other’s strongest match in cross-attention "
        "L1 H3 when the decoder reads the German word. Solid and dashed links: 31 % alignment "
        "error on 508 hand-aligned sentences (a *set* of :red[links]); the map was chosen on them, "
        "so expect more elsewhere."
    )
    mutual = link_method(replace(SETTINGS, links="mutual"), OURS, "reads")
    assert "Solid links: 31 %" in mutual
    assert "31" not in link_method(SETTINGS, OURS, "writes")
    unmeasured = link_method(UNMEASURED, OURS, "writes")
    assert (
        "all cross-attention heads of layer 2 (lens: norms) when the decoder predicts the German"
        in unmeasured
    )
    assert "%" not in unmeasured
    assert "the target word" in link_method(UNMEASURED, Languages("French", ""), "writes")


def test_where_nothing_was_written_there_is_nothing_to_link(
    serve, translator: Translator, monkeypatch
) -> None:
    end = replace(translator.trace(SENTENCE), target="")
    rows = slice(-1, None)
    empty = replace(end, target_pieces=end.target_pieces[rows], cross=end.cross[:, :, rows])
    monkeypatch.setattr(cached_results, "trace", lambda *_: empty)
    app = serve("translate", text=SENTENCE)
    assert not app.exception
    assert NOTHING in [caption.value for caption in app.caption]


def test_the_other_sentences_of_the_search_have_their_scores(serve, translator: Translator) -> None:
    app = serve("translate", text=SENTENCE, beam="4")
    bodies = [body for body in html(app) if "headlight-candidate" in body]
    best, *others = translator.translate(SENTENCE, beam_size=4).candidates
    assert len(bodies) == len(others) == 3
    for body, candidate in zip(bodies, others, strict=True):
        assert f"log probability −{-candidate.hypothesis.log_prob:.2f}" in body
        assert all(word in body for word in candidate.text.split())
    own = best.hypothesis
    message = (
        f"The best translation has score −{-own.score:.2f} · log probability −{-own.log_prob:.2f}"
    )
    assert any(message in caption.value for caption in app.caption)


def test_a_beam_of_one_has_nothing_to_compare(serve) -> None:
    app = serve("translate", text=SENTENCE, beam="1")
    assert texts(app)
    assert any("beam size of 1" in caption.value for caption in app.caption)


@pytest.fixture
def clicks(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """A button in the place of each picture, which sends what is put here under its key."""
    sent: dict[str, object] = {}

    def pictures(
        *, key: str, data: bytes, on_picked_change: Callable[[], None] | None = None
    ) -> None:
        messages[key] = decode(data)[0]
        if on_picked_change is not None:
            st.button(key, key=f"click-{key}", on_click=send, args=(key, on_picked_change))

    def send(key: str, heard: Callable[[], None]) -> None:
        st.session_state[key] = {"picked": sent[key]}
        heard()

    messages: dict[str, dict[str, Any]] = {}
    sent["messages"] = messages
    monkeypatch.setattr("viz.app.chrome.mounts._pictures", lambda: pictures)
    return sent


def send(app: AppTest, clicks: dict[str, object], key: str, value: object) -> None:
    clicks[key] = value
    app.button(key=f"click-{key}").click().run()


def german(app: AppTest) -> str:
    return texts(app)[1]


def test_a_link_shows_the_dropped_candidates(serve, clicks: dict[str, object]) -> None:
    messages: Any = clicks["messages"]
    app = serve("translate", text=SENTENCE, dropped="true")
    assert messages["translate-tree"]["dropped"] is True
    send(app, clicks, "translate-tree", {"dropped": False})
    assert in_url(app, "dropped") is None
    assert messages["translate-tree"]["dropped"] is False
    send(app, clicks, "translate-tree", {"dropped": True})
    assert in_url(app, "dropped") == "true"
    send(app, clicks, "translate-tree", {"dropped": "true"})  # no message of a browser of ours
    assert in_url(app, "dropped") == "true"


def test_a_node_of_the_tree_is_forced_and_its_end_taken_as_it_is(
    serve, translator: Translator, clicks: dict[str, object]
) -> None:
    app = serve("translate", text=SENTENCE)
    tree = translator.translate(SENTENCE, tree=True).tree
    assert tree is not None
    messages: Any = clicks["messages"]
    drawn_tree = messages["translate-tree"]
    node = next(n for n, entry in enumerate(tree.nodes) if entry.step == 2 and n not in path(tree))
    written = [drawn_tree["texts"][n] for n in tree.path(node)]
    click = {"node": node, "prefix": "".join(written)}
    send(app, clicks, "translate-tree", click)
    assert in_url(app, "prefix") == " ".join(written)
    assert german(app) == translator.translate(SENTENCE, prefix=written).text
    assert messages["translate-tree"]["chosen"] == 1
    # the same click once more comes too late: the place is another prefix now
    send(app, clicks, "translate-tree", {**click, "node": 4})
    assert LATE in [caption.value for caption in app.caption]
    assert in_url(app, "prefix") == " ".join(written)
    assert LATE not in [caption.value for caption in app.run().caption]
    # a dot is a whole sentence
    app.button(key="release").click().run()
    end = next(
        n for n, entry in enumerate(tree.nodes) if entry.state == "finished" and n != tree.best
    )
    prefix = "".join(drawn_tree["texts"][n] for n in tree.path(end))
    send(app, clicks, "translate-tree", {"node": end, "prefix": prefix})
    assert german(app) == translator.tokenizer.decode(tree.prefix(end))
    assert in_url(app, "edited") == german(app)


def test_another_decoding_of_the_sentence_before_is_not_taken(
    serve, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = serve("translate", text=SENTENCE, versus="greedy search")
    app.text_area(key="text").set_value("The cat sings.")
    typed = app._tree.get_widget_states()
    app.button(key="versus-take").click()
    late = app._tree.get_widget_states()
    for state in late.widgets:
        if state.HasField("string_value"):
            state.string_value = state.string_value.replace(SENTENCE, "The cat sings.")
    meanwhile(monkeypatch, cached_results, "search", [late])
    app._run(typed)
    assert german(app) == translator.translate("The cat sings.").text
    assert LATE in [caption.value for caption in app.caption]


@pytest.mark.parametrize("picture", ["tree", "steps", "editor"])
def test_a_click_in_the_picture_of_the_sentence_before_comes_too_late(
    serve, translator: Translator, monkeypatch: pytest.MonkeyPatch, picture: str
) -> None:
    other = "The cat sings."
    app = serve("translate", text=SENTENCE)
    nodes = message(app, "beam_tree")[0]["texts"]
    known = translator.score(SENTENCE, [p.text for p in translator.translate(SENTENCE).best.pieces])
    clicked = {
        "tree": {"node": 0, "prefix": nodes[0]},
        "steps": {"step": 0, "alternative": 0, "prefix": known.alternatives[0][0].piece},
        "editor": {"text": "Der Hund", "revision": 7},
    }
    app.text_area(key="text").set_value(other)
    typed = app._tree.get_widget_states()
    late = choice(app, f"translate-{picture}", clicked[picture])
    meanwhile(monkeypatch, cached_results, "search", [late])
    app._run(typed)
    assert german(app) == translator.translate(other).text
    assert (in_url(app, "prefix"), in_url(app, "edited")) == (None, None)
    assert LATE in [caption.value for caption in app.caption]
    if picture == "editor":  # else it would wait for an answer, and show none that comes
        assert message(app, "translation_editor")[0]["revision"] == 7


def path(tree: SearchTree) -> tuple[int, ...]:
    return tree.path(tree.best)


def test_an_alternative_is_forced_from_the_editor_and_from_the_bars(
    serve, translator: Translator, clicks: dict[str, object]
) -> None:
    app = serve("translate", text=SENTENCE)
    own = translator.translate(SENTENCE)
    known = translator.score(SENTENCE, [piece.text for piece in own.best.pieces])
    before = "".join(piece.text for piece in known.pieces[:2])
    other = next(item.piece for item in known.alternatives[2] if item.piece != "</s>")
    number = [item.piece for item in known.alternatives[2]].index(other)
    wanted = [*(piece.text for piece in known.pieces[:2]), other]
    for key, place in (("translate-editor", "force"), ("translate-steps", "step")):
        click = {place: 2, "alternative": number, "prefix": before + other}
        send(app, clicks, key, click)
        assert in_url(app, "prefix") == " ".join(wanted)
        assert german(app) == translator.translate(SENTENCE, prefix=wanted).text
        app.button(key="undo").click().run()
        assert german(app) == own.text
        assert in_url(app, "prefix") is None


def test_what_is_typed_is_scored_and_the_pictures_follow(
    serve, translator: Translator, clicks: dict[str, object]
) -> None:
    app = serve("translate", text=SENTENCE)
    messages: Any = clicks["messages"]
    for revision, typed in enumerate(("Der Hund", "Der Hund schläft."), 1):
        send(app, clicks, "translate-editor", {"text": typed, "revision": revision})
    editor = messages["translate-editor"]
    assert (editor["text"], editor["revision"], editor["byHand"]) == (typed, revision, True)
    pieces = [piece.text for piece in translator.score(SENTENCE, typed).pieces]
    assert [piece["raw"] for piece in editor["pieces"]] == pieces
    assert german(app) == typed
    trace = translator.trace(SENTENCE, typed)
    assert messages["translate-map"]["queries"] == display_tokens(trace.labels("cross").queries)
    assert "your version" in " ".join(caption.value for caption in app.caption)  # over the tree
    # the search beside it can be asked for what none can do
    app.text_input(key="forbid").set_value("z.B.").run()
    assert not app.exception
    assert any("“z.B.” cannot be forbidden" in line for line in texts(app))
    app.button(key="undo").click().run()
    # the letters were one step
    app.button(key="undo").click().run()
    assert german(app) == translator.translate(SENTENCE).text
    # all of it is deleted: the field stays empty, and nothing else moves
    send(app, clicks, "translate-editor", {"text": "", "revision": 3})
    assert (messages["translate-editor"]["text"], messages["translate-editor"]["pieces"]) == (
        "",
        [],
    )
    assert german(app) == translator.translate(SENTENCE).text
    # the search goes on where a person stops
    send(app, clicks, "translate-editor", {"text": "Der Hund", "revision": 4})
    app.button(key="go-on").click().run()
    wanted = [piece.text for piece in translator.tokenizer.pieces("Der Hund")]
    assert in_url(app, "prefix") == " ".join(wanted)
    assert german(app) == translator.translate(SENTENCE, prefix=wanted).text


@pytest.mark.parametrize(
    ("versus", "settings"),
    [
        ({"versus": "greedy search"}, {"beam_size": 1}),
        ({"versus": "another beam", "versus_beam": "2"}, {"beam_size": 2}),
        ({"versus": "another α", "versus_alpha": "2.0"}, {"alpha": 2.0}),
        ({"versus": "another prefix", "versus_prefix": "Mein Bruder"}, {"prefix": "Mein Bruder"}),
    ],
)
def test_two_decodings_stand_side_by_side_and_the_other_can_be_taken(
    serve,
    translator: Translator,
    clicks: dict[str, object],
    versus: dict[str, str],
    settings: dict[str, Any],
) -> None:
    app = serve("translate", text=SENTENCE, versus_maps="true", **versus)
    own, other = translator.translate(SENTENCE), translator.translate(SENTENCE, **settings)
    bodies = [body for body in html(app) if "In the bar" in body or "The other decoding" in body]
    for body, item in zip(bodies, (own, other), strict=True):
        assert f"log probability −{-item.log_prob:.2f}" in body
        assert f"score −{-item.best.hypothesis.score:.2f}" in body
    assert mark_changed_words(other.text, own.text) in bodies[1]
    messages: Any = clicks["messages"]
    for key, item in (("here", own), ("there", other)):
        labels = translator.trace_of(item).labels("cross")
        assert messages[f"versus-map-{key}"]["queries"] == display_tokens(labels.queries)
    assert "translate-map" not in messages  # it would be the left one once more
    two_penalties = any(
        "log probability alone compares" in caption.value for caption in app.caption
    )
    assert two_penalties is ("alpha" in settings)
    app.button(key="versus-take").click().run()
    assert german(app) == other.text
    app.button(key="undo").click().run()
    assert german(app) == own.text


def test_what_a_reader_should_know_of_the_other_decoding_is_said_once(serve, unsure_model) -> None:
    text = "The dog 漢 sleeps."
    app = serve("translate", text=text, versus="another prefix", versus_prefix="Mein Bruder")
    assert len(unsure(app)) == 2  # of the bar's, too
    assert sum("The vocabulary has no" in message for message in texts(app)) == 1


def test_the_tree_is_drawn_where_words_are_forbidden(serve, translator: Translator) -> None:
    word = next(word for word in translator.translate(SENTENCE).text.split() if word.isalpha())
    app = serve("translate", text=SENTENCE, forbid=word)
    assert word not in german(app).split()
    assert not app.exception
    assert message(app, "beam_tree")


def test_a_prefix_that_cannot_be_written_is_refused_beside_the_rest(serve) -> None:
    app = serve("translate", text=SENTENCE, versus="another prefix", versus_prefix="漢")
    assert "The model cannot write “漢”: leave it out of the forced prefix." in texts(app)
    assert message(app, "attention_map")
