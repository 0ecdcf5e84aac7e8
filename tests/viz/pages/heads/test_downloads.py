"""Downloaded files hold the values on the screen, to the last digit."""

import base64
import io
import json
import re
from html import escape

import numpy as np
import pandas as pd

from tests.made_trace import made_trace
from tests.viz.app_test import texts
from transformer import AttentionTrace
from transformer.kinds import KINDS
from viz.app.sentence import sentence_bar
from viz.draw.caption import Origin
from viz.draw.open_head import heads_of_kind, open_map
from viz.pages.heads.downloads import all_csv, csv, heat_map, npz


def test_a_csv_holds_each_weight_beside_its_two_tokens() -> None:
    shown = open_map(
        heads_of_kind(made_trace(5, 2, 3, 0), "cross", words=False, special=True), 1, 2
    )
    frame = pd.read_csv(io.BytesIO(csv(shown)))
    assert len(frame) == 25
    # the screen counts from 1
    query, key = frame["query_from_1"].to_numpy() - 1, frame["key_from_1"].to_numpy() - 1
    weight = frame["weight"].to_numpy(np.float32)
    np.testing.assert_array_equal(weight, shown.weights[query, key])
    assert list(frame["query_token"]) == [shown.labels.queries[n] for n in query]
    assert list(frame["key_token"]) == [shown.labels.keys[n] for n in key]
    assert list(zip(query, key, strict=True)) == list(np.ndindex(5, 5))


def test_tokens_of_any_kind_survive_the_csv_and_a_spreadsheet_knows_their_letters(
    translator,
) -> None:
    trace = translator.trace('He said: "no, not 1,5", NA and\tnull.', "Nein.")
    shown = open_map(heads_of_kind(trace, "encoder_self", words=True, special=True), 0, 0)
    frame = pd.read_csv(io.BytesIO(csv(shown)), keep_default_na=False)
    assert tuple(frame.key_token[: len(shown.labels.keys)]) == shown.labels.keys
    trace = AttentionTrace.from_arrays(
        encoder_self=np.full((1, 1, 2, 2), 0.5, np.float32), source_tokens=["▁Männer", "桌子"]
    )
    shown = open_map(heads_of_kind(trace, "encoder_self", words=False, special=True), 0, 0)
    for content in (csv(shown), all_csv(trace, "weights")):
        assert content.startswith(b"\xef\xbb\xbf")
        assert content.count(b"\xef\xbb\xbf") == 1
        assert "▁Männer" in content.decode("utf-8-sig")
        assert "桌子" in content.decode("utf-8-sig")


def test_files_of_a_lens_name_it_and_call_no_share_a_weight(tmp_path) -> None:
    layers = made_trace(5, 2, 1, 0)  # as a lens that does not tell heads apart leaves it
    values = heads_of_kind(layers, "cross", words=False, special=True, lens="alti")
    table = pd.read_csv(io.BytesIO(csv(open_map(values, 1, None))))
    every = pd.read_csv(io.BytesIO(all_csv(layers, "alti")))
    for frame in (table, every):
        assert set(frame["lens"]) == {"alti"}
        assert "weight" not in frame
    assert "head_from_1" not in every
    np.testing.assert_array_equal(
        every["share"].to_numpy(np.float32)[-25:], layers.cross[1, 0].ravel()
    )
    path = tmp_path / "lens.npz"
    path.write_bytes(npz(layers, "alti"))
    with np.load(path) as arrays:
        assert arrays["lens"] == "alti"
    loaded = AttentionTrace.load(path)
    np.testing.assert_array_equal(loaded.cross, layers.cross)
    assert loaded.source_pieces == layers.source_pieces
    assert loaded.notes == ("The lens is ALTI: these are shares, not the weights themselves.",)


def test_files_without_sinks_say_so_and_hold_what_is_drawn(tmp_path) -> None:
    trace = AttentionTrace.from_arrays(
        encoder_self=np.array([[[[0.1, 0.3, 0.6], [0.2, 0.2, 0.6], [0, 0, 1]]]], np.float32),
        source_tokens=["▁a", "▁b", "</s>"],
    )
    expected = np.array([[0.25, 0.75, 0], [0.5, 0.5, 0], [0, 0, 0]], np.float32)
    shown = heads_of_kind(trace, "encoder_self", words=False, special=True, sinks=False)
    for content in (csv(open_map(shown, 0, 0)), all_csv(trace, "weights", sinks=False)):
        column = pd.read_csv(io.BytesIO(content))["weight_without_sinks"]
        np.testing.assert_allclose(column, expected.ravel(), rtol=1e-6)
    path = tmp_path / "trace.npz"
    path.write_bytes(npz(trace, "weights", sinks=False))
    loaded = AttentionTrace.load(path)
    np.testing.assert_allclose(loaded.encoder_self[0, 0], expected, rtol=1e-6)
    assert "</s>" in loaded.notes[-1]
    assert open_map(shown, 0, 0).title.endswith("without sinks")


def test_a_file_is_named_by_head_sentence_and_model() -> None:
    origin = Origin("Two dogs, “./..” & <b>", "Zwei Hunde", "my model", "0" * 64)
    name = origin.file_name("L3 H5 · cross", "csv")
    assert name == "headlight-l3-h5-cross-two-dogs-b-my-model.csv"
    assert len(Origin("word " * 500, "", "m" * 10, "").file_name("L1 H1", "csv")) < 90


def linking_page() -> None:
    import streamlit as st

    from viz.app.sentence import sentence_bar
    from viz.pages.heads.downloads import _link

    sentence_bar.show()
    st.text(f"link: {_link()}")


def test_a_report_has_no_link_that_lacks_its_sentence(serve, monkeypatch) -> None:
    app = serve(linking_page, text="Dog.")
    app.context["url"] = "http://localhost/heads?text=x"
    for most, link in ((8_000, "http://localhost/heads?text=Dog."), (3, "")):
        monkeypatch.setattr(sentence_bar, "MAX_LINK_CHARACTERS", most)
        assert texts(app.run())[-1] == f"link: {link}".strip()


def test_a_report_says_what_the_bar_says_of_the_translation(serve, monkeypatch) -> None:
    files: dict[str, bytes] = {}
    monkeypatch.setattr(
        "streamlit.download_button",
        lambda label, data, *_, **_more: files.setdefault(label, data()),
    )
    app = serve("heads", text="The dog 漢 waits.")
    (message,) = [text for text in texts(app) if "the model reads <unk>" in text]
    assert escape(message) in files["HTML report"].decode()


def test_a_heat_map_is_one_page_with_every_weight_and_no_network(translator) -> None:
    trace = translator.trace("The <b>dog</b></script> sings.", "Der Hund singt.")
    for kind in KINDS:
        shown = open_map(heads_of_kind(trace, kind, words=False, special=True), 1, 2)
        origin = Origin.from_translator(translator, trace.source, trace.target)
        page = heat_map(shown, kind, trace, origin).decode()
        assert f"<p>{escape(origin.made_by)}.</p></body>" in page
        # the library is in the page; what follows it is the figure
        assert page.count("<script") == page.count("</script>")
        assert not re.search(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=", page)
        assert "<b>dog" not in page
        (data,) = re.findall(r"Plotly\.newPlot\(\s*\"[^\"]+\",\s*(\[.*?\]),\s*\{", page, re.DOTALL)
        (drawn,) = json.loads(data)
        z = drawn["z"]
        values = np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"])
        np.testing.assert_array_equal(values.reshape(shown.weights.shape), shown.weights)
        assert drawn["zmax"] == 1
