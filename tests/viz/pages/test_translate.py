"""The translate page: its pictures, what a click on them asks, and two decodings side by side."""

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import choice, in_url, meanwhile, texts, unsure
from tests.viz.draw.message import decode
from tests.viz.pages.reading import SENTENCE, html, message
from transformer import Translator, decoding
from transformer.analysis import alignment, alignment_settings
from transformer.analysis.alignment_settings import AlignmentSettings, GoldFigures
from transformer.text.languages import OURS
from viz.app.cache import cached_results
from viz.app.chrome import explanations, mounts
from viz.draw.changed_words import mark_changed_words
from viz.draw.labels import browser_tokens
from viz.pages.translate import ALMOST, ONE_MAP
from viz.pages.translate.maps import NOTHING, link_method

GOLD = GoldFigures("a *set* of :red[links]", 508, 31.25)
SETTINGS = AlignmentSettings(0, 2, "reads", "weights", "each", GOLD)
UNMEASURED = AlignmentSettings(1, None, "writes", "norm", "mutual")


def test_words_are_linked_by_the_map_that_aligns_them(
    serve, translator: Translator, monkeypatch
) -> None:
    settings = SETTINGS
    monkeypatch.setattr(alignment_settings, "read_alignment", lambda *_: settings)
    app = serve("translate", text=SENTENCE, where_from="true", translate_view=ONE_MAP)
    meta, _ = message(app, "word_links")
    trace = translator.trace(SENTENCE)
    pairs = alignment.align(translator, trace, replace(settings, links="each"))
    mutual = alignment.align(translator, trace, replace(settings, links="mutual"))
    # every word of the translation has its link
    ends = [(link["source"], link["target"], link["mutual"]) for link in meta["links"]]
    assert ends == [(pair.source, pair.target, pair in mutual) for pair in pairs]
    assert 0 < len(mutual) < len(pairs)
    # the map below opens on the same layer and head
    assert [app.selectbox(key=f"map_{name}").value for name in ("layer", "head")] == ["1", "3"]
    # and its rows carry both words
    both = message(app, "attention_map")[0]["both"]
    assert both["reads"] == browser_tokens(trace.decoder_tokens)
    assert both["writes"] == browser_tokens(trace.target_tokens)
    made = link_method(settings, OURS, settings.row)
    assert explanations.as_markdown(made) in [text.value for text in app.caption]
    assert made in meta["parts"]
    # the player ends with the same links
    sent = message(app, "player")[0]
    strengths = [link["strength"] for link in sent["links"]]
    assert strengths == pytest.approx([p.strength for p in pairs])
    read_from = sent["about"]["alignment"]
    assert (read_from["layer"], read_from["head"]) == (settings.layer, settings.head)
    assert round(100 * read_from["error"]) == 31
    # another alignment.json in the same folder links the same trace anew
    settings = UNMEASURED
    links = message(app.run(), "word_links")[0]["links"]
    pairs = alignment.align(translator, trace, replace(settings, links="each"))
    strengths = [link["strength"] for link in links]
    assert strengths == pytest.approx([pair.strength for pair in pairs], abs=1e-5)


def test_the_switch_says_which_row_stands_for_a_word(serve, translator, monkeypatch) -> None:
    monkeypatch.setattr(alignment_settings, "read_alignment", lambda *_: SETTINGS)
    app = serve("translate", text=SENTENCE, where_from="true")
    assert app.button_group(key="rows").value == "word read"  # the row that was measured
    app.button_group(key="rows").set_value("word predicted").run()
    links = message(app, "word_links")[0]["links"]
    trace = translator.trace(SENTENCE)
    pairs = alignment.align(translator, trace, replace(SETTINGS, row="writes"))
    strengths = [link["strength"] for link in links]
    assert strengths == pytest.approx([pair.strength for pair in pairs], abs=1e-5)
    text = next(text.value for text in app.caption if text.value.startswith("A solid link"))
    assert "31" not in text  # that figure is of the other row
    assert explanations.as_markdown(link_method(SETTINGS, OURS, "writes")) == text


def test_where_nothing_was_written_there_is_nothing_to_link(serve, translator, monkeypatch) -> None:
    end = replace(translator.trace(SENTENCE), target="")
    rows = slice(-1, None)
    empty = replace(end, target_pieces=end.target_pieces[rows], cross=end.cross[:, :, rows])
    monkeypatch.setattr(cached_results, "trace", lambda *_: empty)
    app = serve("translate", text=SENTENCE)
    assert not app.exception
    assert NOTHING in [caption.value for caption in app.caption]


def send(app: AppTest, key: str, value: object) -> None:
    app._run(choice(app, key, value))
    assert not app.exception


def drawn(app: AppTest, key: str) -> dict[str, Any]:
    """Return the plain values of the picture under a key."""
    pictures = app.get("bidi_component")
    return next(decode(c.proto.bytes)[0] for c in pictures if c.proto.id.endswith(f"-{key}"))


def german(app: AppTest) -> str:
    return texts(app)[1]


def test_a_link_shows_the_dropped_candidates(serve) -> None:
    app = serve("translate", text=SENTENCE, dropped="true")
    assert drawn(app, "translate-tree")["dropped"] is True
    send(app, "translate-tree", {"dropped": False})
    assert in_url(app, "dropped") is None
    assert drawn(app, "translate-tree")["dropped"] is False
    send(app, "translate-tree", {"dropped": True})
    assert in_url(app, "dropped") == "true"


def test_a_node_of_the_tree_is_forced_and_its_end_taken_as_it_is(serve, translator) -> None:
    app = serve("translate", text=SENTENCE)
    tree = translator.translate(SENTENCE, tree=True).tree
    assert tree is not None
    drawn_tree = drawn(app, "translate-tree")
    node = next(n for n, entry in enumerate(tree.nodes) if entry.step == 2 and n not in path(tree))
    written = [drawn_tree["nodes"][n]["text"] for n in tree.path(node)]
    click = {"node": node, "prefix": "".join(written)}
    send(app, "translate-tree", click)
    assert in_url(app, "prefix") == " ".join(written)
    assert german(app) == translator.translate(SENTENCE, prefix=written).text
    assert drawn(app, "translate-tree")["chosen"] == 1
    # the same click once more comes too late: the place is another prefix now
    send(app, "translate-tree", {**click, "node": 4})
    assert mounts.LATE in [caption.value for caption in app.caption]
    assert in_url(app, "prefix") == " ".join(written)
    assert mounts.LATE not in [caption.value for caption in app.run().caption]
    # a dot is a whole sentence
    app.button(key="release").click().run()
    end = next(
        n for n, entry in enumerate(tree.nodes) if entry.state == "finished" and n != tree.best
    )
    prefix = "".join(drawn_tree["nodes"][n]["text"] for n in tree.path(end))
    send(app, "translate-tree", {"node": end, "prefix": prefix})
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
    assert mounts.LATE in [caption.value for caption in app.caption]


@pytest.mark.parametrize("picture", ["tree", "editor"])
def test_a_click_in_the_picture_of_the_sentence_before_comes_too_late(
    serve, translator: Translator, monkeypatch: pytest.MonkeyPatch, picture: str
) -> None:
    other = "The cat sings."
    app = serve("translate", text=SENTENCE)
    (first, *_) = message(app, "beam_tree")[0]["nodes"]
    clicked = {
        "tree": {"node": 0, "prefix": first["text"]},
        "editor": {"text": "Der Hund", "revision": 7},
    }
    app.text_area(key="text").set_value(other)
    typed = app._tree.get_widget_states()
    late = choice(app, f"translate-{picture}", clicked[picture])
    meanwhile(monkeypatch, cached_results, "search", [late])
    app._run(typed)
    assert german(app) == translator.translate(other).text
    assert (in_url(app, "prefix"), in_url(app, "edited")) == (None, None)
    assert mounts.LATE in [caption.value for caption in app.caption]
    if picture == "editor":  # else it would wait for an answer, and show none that comes
        assert message(app, "translation_editor")[0]["revision"] == 7


def path(tree: decoding.SearchTree) -> tuple[int, ...]:
    return tree.path(tree.best)


def test_an_alternative_is_forced_from_the_editor_and_from_the_bars(serve, translator) -> None:
    app = serve("translate", text=SENTENCE, translate_view=ALMOST)
    own = translator.translate(SENTENCE)
    known = translator.score(SENTENCE, [piece.text for piece in own.best.pieces])
    before = "".join(piece.text for piece in known.pieces[:2])
    other = next(item.piece for item in known.alternatives[2] if item.piece != "</s>")
    number = [item.piece for item in known.alternatives[2]].index(other)
    wanted = [*(piece.text for piece in known.pieces[:2]), other]
    for key, place in (("translate-editor", "force"), ("translate-steps", "step")):
        click = {place: 2, "alternative": number, "prefix": before + other}
        send(app, key, click)
        assert in_url(app, "prefix") == " ".join(wanted)
        assert german(app) == translator.translate(SENTENCE, prefix=wanted).text
        app = serve("translate", text=SENTENCE, translate_view=ALMOST)


@pytest.mark.parametrize("forbid", ["", "Hund"])
def test_the_editor_knows_whether_the_search_had_constraints(serve, forbid: str) -> None:
    app = serve("translate", text=SENTENCE, forbid=forbid)
    assert drawn(app, "translate-editor")["constrained"] == bool(forbid)


def test_what_is_typed_is_scored_and_the_pictures_follow(serve, translator) -> None:
    app = serve("translate", text=SENTENCE)
    for revision, typed in enumerate(("Der Hund", "Der Hund schläft."), 1):
        send(app, "translate-editor", {"text": typed, "revision": revision})
    editor = drawn(app, "translate-editor")
    assert (editor["text"], editor["revision"], editor["byHand"]) == (typed, revision, True)
    pieces = [piece.text for piece in translator.score(SENTENCE, typed).pieces]
    assert [piece["raw"] for piece in editor["pieces"]] == pieces
    assert german(app) == typed
    trace = translator.trace(SENTENCE, typed)
    carried = drawn(app, "trace")["trace"]
    assert carried["target"]["pieces"] == [*trace.labels("cross").queries]
    assert "your version" in " ".join(caption.value for caption in app.caption)  # over the tree
    # the search beside it can be asked for what none can do
    app.text_input(key="forbid").set_value("z.B.").run()
    assert not app.exception
    assert any("“z.B.” cannot be forbidden" in line for line in texts(app))
    app = serve("translate", text=SENTENCE)
    # all of it is deleted: the field stays empty, and nothing else moves
    send(app, "translate-editor", {"text": "", "revision": 3})
    assert (drawn(app, "translate-editor")["text"], drawn(app, "translate-editor")["pieces"]) == (
        "",
        [],
    )
    assert german(app) == translator.translate(SENTENCE).text
    # the search goes on where a person stops
    send(app, "translate-editor", {"text": "Der Hund", "revision": 4})
    app.button(key="go-on").click().run()
    wanted = [piece.text for piece in translator.tokenizer.pieces("Der Hund")]
    assert in_url(app, "prefix") == " ".join(wanted)
    assert german(app) == translator.translate(SENTENCE, prefix=wanted).text


@pytest.mark.parametrize(
    ("versus", "settings"),
    [
        ({"versus": "another α", "versus_alpha": "2.0"}, {"alpha": 2.0}),
        ({"versus": "another prefix", "versus_prefix": "Mein Bruder"}, {"prefix": "Mein Bruder"}),
    ],
)
def test_two_decodings_stand_side_by_side_and_the_other_can_be_taken(
    serve,
    translator: Translator,
    versus: dict[str, str],
    settings: dict[str, Any],
) -> None:
    app = serve("translate", text=SENTENCE, versus_maps="true", **versus)
    own, other = translator.translate(SENTENCE), translator.translate(SENTENCE, **settings)
    bodies = [body for body in html(app) if "In the bar" in body or "The other decoding" in body]
    for body, item in zip(bodies, (own, other), strict=True):
        assert f"score −{-item.best.hypothesis.score:.2f}" in body
    assert mark_changed_words(other.text, own.text) in bodies[1]
    for key, item in (("here", own), ("there", other)):
        labels = translator.trace_of(item).labels("cross")
        assert drawn(app, f"versus-map-{key}")["queries"] == browser_tokens(labels.queries)
    assert not any(
        c.proto.id.endswith("-translate-map") for c in app.get("bidi_component")
    )  # it would be the left one once more
    two_penalties = any(
        "log probability alone compares" in caption.value for caption in app.caption
    )
    assert two_penalties is ("alpha" in settings)
    app.button(key="versus-take").click().run()
    assert german(app) == other.text


def test_what_a_reader_should_know_of_the_other_decoding_is_said_once(serve, unsure_model) -> None:
    text = "The dog 漢 sleeps."
    app = serve("translate", text=text, versus="another prefix", versus_prefix="Mein Bruder")
    assert len(unsure(app)) == 2  # of the bar's, too
    assert sum("The vocabulary has no" in message for message in texts(app)) == 1


def test_a_prefix_that_cannot_be_written_is_refused_beside_the_rest(serve) -> None:
    app = serve("translate", text=SENTENCE, versus="another prefix", versus_prefix="漢")
    assert "The model cannot write “漢”: leave it out of the forced prefix." in texts(app)
    assert message(app, "player")


def test_the_next_step_opens_on_the_ribbon_that_was_clicked(serve) -> None:
    app = serve("translate", text=SENTENCE, stop="2", numbers="decoder_self-2-3-3-1")
    links = [parse_qs(link.proto.query_string) for link in app.get("page_link")]
    (url,) = [url for url in links if url.get("stop") == ["3"]]
    chosen = {name: url[name] for name in ("kind", "layer", "head", "word", "key")}
    assert chosen == {
        "kind": ["decoder"], "layer": ["2"], "head": ["3"], "word": ["3"], "key": ["1"]
    }  # fmt: skip
