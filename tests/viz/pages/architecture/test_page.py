"""The architecture page as Streamlit runs it: each view, its numbers, its links, its sentences."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import in_url, texts
from transformer import Transformer, TransformerConfig, Translator
from transformer.analysis.complexity import LAYERS, Sizes, work
from transformer.analysis.counting import PARTS, parameters_by_formula, parameters_of_model
from viz.pages.architecture.boxes import BOXES
from viz.pages.architecture.drawing import NORMS
from viz.pages.architecture.page import PARAMETERS, TABLES, VIEWS, WORK
from viz.pages.architecture.work import MEASURED

SENTENCE = "The dog sleeps in the garden."


def architecture_page() -> None:
    """AppTest cannot walk to a page; this is the way there."""
    from viz.app import sentence_bar
    from viz.pages import architecture

    sentence_bar.show("page")
    architecture.show()


@pytest.fixture
def opened(serve):
    def open_(**url: str) -> AppTest:
        app = serve(architecture_page, **{"text": SENTENCE, **url})
        assert not app.exception
        return app

    return open_


def drawn(app: AppTest, chart: int = 0) -> list[list[dict[Any, Any]]]:
    """The rows of each data set that a chart draws; Streamlit sends them as Arrow."""
    sets = app.get("vega_lite_chart")[chart].proto.datasets
    frames = [convert_arrow_bytes_to_pandas_df(one.data.data) for one in sets]
    return [frame.to_dict("records") for frame in frames]


def tables(app: AppTest) -> list[list[list[str]]]:
    """The cells of the Markdown tables on the page."""
    return [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        for element in app.markdown
        if len(lines := element.value.splitlines()) > 2 and lines[0].startswith("|")
    ]


def facts(app: AppTest) -> dict[str, str]:
    """Names and values of the open box."""
    return dict(tables(app)[0][2:])


@pytest.mark.parametrize("box", BOXES, ids=lambda box: box.name)
def test_every_box_opens_to_the_shapes_and_parameters_of_the_model(
    opened, translator: Translator, box
) -> None:
    app = opened(arch_box=box.heading, arch_layer="2")
    heading = app.subheader[0].value
    assert heading == box.heading + (", layer 2" if box.layered else "")
    trace, model = translator.trace(SENTENCE), translator.model
    n, m, d, vocab = len(trace.source_tokens), len(trace.target_tokens), 32, model.config.vocab_size
    rows = n if box.stack == "encoder" else m
    keys = m if box.name == "decoder.self_attention" else n
    found = facts(app)
    if box.kind:
        assert found["weights"] == f"4 × {rows} × {keys}"
        assert (found["Q"], found["K"], found["V"]) == (
            f"4 × {rows} × 8", f"4 × {keys} × 8", f"4 × {keys} × 8",
        )  # fmt: skip
    elif box.name.endswith(("linear", "softmax")):
        assert found["out"] == f"{m} × {vocab}"
    else:
        assert found["out"] == (f"{rows} tokens" if "tokens" in box.name else f"{rows} × {d}")
    expected = {
        "attention": 4 * 32 * 32, "feed_forward": 32 * 64 + 64 + 64 * 32 + 32, "norm": 64,
        "embedding": vocab * 32, "linear": vocab * 32, "positions": "none: a formula",
    }  # fmt: skip
    last = box.name.rpartition("_norm")[1].strip("_") or box.name.split(".")[1]
    wanted = expected.get("attention" if last.endswith("attention") else last, "none")
    assert found["parameters"] == (f"{wanted:,}" if isinstance(wanted, int) else wanted)


def test_the_share_of_zeros_is_that_of_the_hidden_layer(opened, translator: Translator) -> None:
    app = opened(arch_box="Feed forward of the encoder", arch_layer="1")
    trace = translator.trace(SENTENCE)
    ids = [piece.id for piece in trace.source_pieces]
    with torch.inference_mode():
        _, cache = translator.model.run_with_cache(
            torch.tensor([ids]), torch.tensor([[2]]), names=lambda name: name.endswith("hidden")
        )
    hidden = cache["encoder.layers.0.feed_forward.hook_hidden"][0].numpy()
    zero = np.mean(hidden == 0)
    assert facts(app)["hidden"] == f"{len(ids)} × 64, of which the ReLU makes {zero:.0%} zero"


def links(app: AppTest) -> list[tuple[str, str]]:
    return [(link.proto.page, link.proto.query_string) for link in app.get("page_link")]


def test_an_attention_box_leads_to_its_layer_on_the_pages_of_heads(opened) -> None:
    app = opened(arch_box="Cross-attention of the decoder", arch_layer="2")
    assert links(app) == [("heads", "layer=2&kind=cross"), ("inside", "layer=2&kind=cross")]
    app = opened(arch_box="Masked self-attention of the decoder", arch_layer="1")
    assert [page for page, _ in links(app)] == ["heads", "inside", "masks"]
    assert links(app)[0] == ("heads", "layer=1&kind=decoder")
    assert links(opened(arch_box="Positions of the encoder")) == [("positions", "")]


def test_a_norm_leads_to_the_view_of_norms_at_its_place(opened) -> None:
    app = opened(arch_box="Add & norm after cross-attention of the decoder", arch_layer="2")
    app.button[-1].click().run()
    assert not app.exception
    assert in_url(app, "arch_view") == NORMS
    assert app.selectbox(key="arch_norm").value == "after cross-attention of the decoder"
    assert app.selectbox(key="arch_layer").value == "2"


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("wrong", ["x", "-1", "99999999"])
def test_a_url_that_makes_no_sense_opens_the_page_as_ever(opened, view: str, wrong: str) -> None:
    names = ("box", "norm", "N", "d_k", "positions", "quantity", "d", "n", "padding")
    app = opened(arch_view=view, arch_layer=wrong, **{f"arch_{name}": wrong for name in names})
    assert not app.error
    assert not any("must be" in line or "nothing to draw" in line for line in texts(app))


def test_a_view_that_does_not_exist_is_the_drawing(opened) -> None:
    assert opened(arch_view="x").subheader[0].value == "Self-attention of the encoder, layer 1"


@pytest.mark.parametrize("view", VIEWS)
def test_without_a_translation_there_is_no_traceback(serve, view: str) -> None:
    app = serve(architecture_page, text=" ", arch_view=view)
    assert not app.exception
    if view in (VIEWS[0], NORMS):
        assert "Without a translation there is nothing to draw." in texts(app)


def test_the_parameters_of_the_base_model_are_counted_twice(opened) -> None:
    app = opened(arch_view=PARAMETERS)
    assert app.metric[0].value == "63.05 M"
    said = texts(app)
    assert (
        "63,045,632 by formula; 63,045,632 in the real model, the same. Table 3 says 65 M." in said
    )
    base = parameters_by_formula(TransformerConfig.base())
    rows = tables(app)[0][2:]
    assert [(part, formula, real) for part, _, formula, real, _ in rows] == [
        (part, f"{base[part]:,}", f"{base[part]:,}") for part in PARTS
    ]
    assert sum(float(share.rstrip("%")) for *_, share in rows) == pytest.approx(100, abs=0.05)


def test_presets_and_fields_reach_the_formula_and_the_real_model(
    opened, translator: Translator
) -> None:
    app = opened(
        arch_view=PARAMETERS, arch_N="2", arch_d_model="32", arch_d_ff="48", arch_h="3",
        arch_d_k="5", arch_d_v="7", arch_vocab_size="100", arch_max_length="9",
        arch_positions="learned",
    )  # fmt: skip
    config = TransformerConfig(
        vocab_size=100, N=2, d_model=32, d_ff=48, h=3, d_k=5, d_v=7, max_length=9,
        positions="learned",
    )  # fmt: skip
    total = Transformer(config).number_of_parameters()
    assert f"{total:,} by formula; {total:,} in the real model, the same." in texts(app)
    shown = {part: int(real.replace(",", "")) for part, _, _, real, _ in tables(app)[0][2:]}
    assert shown == parameters_of_model(Transformer(config))
    served = sum(parameter.numel() for parameter in translator.model.parameters())
    ends = {row["model"]: row["count"] for rows in drawn(app) for row in rows if "label" in row}
    assert (ends["this model"], ends["the served model"]) == (total, served)


def test_a_configuration_that_cannot_be_gets_its_one_sentence(opened) -> None:
    app = opened(arch_view=PARAMETERS, arch_h="7")
    assert texts(app)[-1] == (
        "d_model = 512 cannot be divided among h = 7 heads: choose an h that divides d_model, or "
        "give d_k and d_v."
    )
    app.number_input(key="arch_h").set_value(8).run()
    assert app.metric[0].value == "63.05 M"


def test_work_is_drawn_by_formula_and_as_measured(opened, translator: Translator) -> None:
    app = opened(arch_view=WORK, arch_d="128", arch_k="5", arch_r="10", arch_n="1000")
    sizes = Sizes(d=128, k=5, r=10, h=8)
    rings, rows = sorted(drawn(app), key=len)
    for row in rows:
        assert row["value"] == pytest.approx(float(work(row["layer"], row["n"], sizes)))
    assert {row["layer"] for row in rows} == set(LAYERS)
    assert max(row["n"] for row in rows) == pytest.approx(1000)
    assert {row["n"] for row in rings} == {128, 640, 10}
    found = json.loads(MEASURED.read_text("utf-8"))
    (dots,) = drawn(app, 1)
    assert [(dot["layer"], dot["n"], dot["value"]) for dot in dots] == [
        (layer, one["n"], one["seconds"] * 1000)
        for layer, ones in found["layers"].items()
        for one in ones
    ]
    n = len(translator.trace(SENTENCE).source_tokens)
    cells = tables(app)[0]
    assert cells[0][-1] == f"n = {n}"
    assert [row[-1] for row in cells[2:]] == [
        f"{float(work(layer, n, sizes)):,.0f}" for layer in LAYERS
    ]
    assert any("up to n = d = 128" in line and "n = k · d = 640" in line for line in texts(app))
    assert any(found["machine"] in line and f"d = {found['d']}" in line for line in texts(app))


def test_memory_is_another_picture(opened) -> None:
    app = opened(arch_view=WORK, arch_quantity="memory", arch_d="16", arch_heads="2", arch_n="64")
    (rows,) = drawn(app)  # nothing crosses
    for row in rows:
        if row["layer"] == "self-attention":
            assert row["value"] == pytest.approx(16 * row["n"] + 2 * row["n"] ** 2)
    (dots,) = drawn(app, 1)
    found = json.loads(MEASURED.read_text("utf-8"))["layers"]
    assert dots[0]["value"] == found["self-attention"][0]["bytes"] / 2**20


def test_without_a_measurement_the_page_says_how_to_make_one(opened, monkeypatch, tmp_path) -> None:
    from viz.pages.architecture import work as page

    for text in (None, "{", '{"layers": {"recurrent": [{"n": 3}]}}', "[]"):
        monkeypatch.setattr(page, "MEASURED", tmp_path / "layers.json")
        if text is not None:
            (tmp_path / "layers.json").write_text(text)
        app = opened(arch_view=WORK)
        assert any("python -m benchmarks layers" in line for line in texts(app))
        assert len(app.get("vega_lite_chart")) == 1


def test_the_norms_view_prints_what_joining_changes(opened, translator: Translator) -> None:
    from transformer.analysis.batch import batch_traces
    from transformer.analysis.norms import batch_norm, norm_values

    name = "encoder.layers.1.feed_forward_norm"
    url = {"arch_norm": "after feed forward of the encoder", "arch_layer": "2", "more": "The dog."}
    app = opened(arch_view=NORMS, **url)
    (_, _, first, second) = tables(app)[0]
    traces = [translator.trace(SENTENCE), translator.trace("The dog.")]
    alone = norm_values(translator.model, batch_traces(traces[:1]), name)
    both = norm_values(translator.model, batch_traces(traces), name)
    n = alone.x.shape[1]
    by_itself = batch_norm(alone.x, alone.real, alone.eps)
    for cells, counts in ((first, both.real), (second, np.ones_like(both.real))):
        change = np.abs(batch_norm(both.x, counts, both.eps)[:1, :n] - by_itself).max()
        assert cells[2] == f"{change:.2g}"
        assert float(cells[1]) < 1e-4 < float(cells[2])
    assert second[0] == f"and {(~both.real).sum()} pads that count"
    (by_token,), (by_feature,) = drawn(app, 0), drawn(app, 1)
    assert len(by_token) == 2 * both.real.sum()
    for rows, norm in ((by_token, "layer norm"), (by_feature, "batch norm")):
        flat = [row["spread"] for row in rows if row["norm"] == norm]
        np.testing.assert_allclose(flat, 1, atol=1e-3)
    app.toggle(key="arch_padding").set_value(True).run()
    assert len(drawn(app)[0]) == 2 * both.real.size  # padding counts: it is drawn, too


def test_one_sentence_alone_has_nothing_that_joins(opened) -> None:
    app = opened(arch_view=NORMS)
    app.text_area(key="more").set_value("").run()
    assert any("no further sentence" in line for line in texts(app))


def test_the_papers_tables_stand_without_rows_of_ours(opened, monkeypatch, tmp_path) -> None:
    from viz.app import trained_rows

    monkeypatch.setattr(trained_rows.read_all, "__defaults__", (tmp_path,))
    app = opened(arch_view=TABLES)
    assert "No row was trained here yet: the tables are the paper's alone." in texts(app)
    third, second = (frame.value for frame in app.dataframe)
    assert len(third) == 20
    assert "here" not in third
    assert len(second) == 10
    assert not app.get("vega_lite_chart")


def test_rows_that_were_trained_stand_beside_the_papers(opened, monkeypatch, tmp_path) -> None:
    from viz.app import trained_rows

    shape: dict[str, Any] = {"vocab_size": 80, "N": 4, "d_model": 16, "d_ff": 24, "h": 2}
    rows = {"sinusoidal": ({}, 9.0, 28.0), "c-N2": ({"N": 2}, 10.8, 25.5)}
    for name, (change, ppl, bleu) in rows.items():
        folder = tmp_path / name
        folder.mkdir()
        config = TransformerConfig(**{**shape, **change})
        (folder / "config.json").write_text(json.dumps(config.to_dict()))
        last = {"step": 7, "validation_perplexity": ppl, "validation_bleu": bleu}
        lines = [{"step": 0, "parameters": 123_456}, last]
        (folder / "run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.setattr(trained_rows.read_all, "__defaults__", (tmp_path,))
    app = opened(arch_view=TABLES)
    frame = app.dataframe[0].value
    here = ["here", "PPL here", "BLEU here", "params here"]
    assert frame.loc[0, here].tolist() == ["base", "9.00", "28.0", "0.12 M"]
    assert frame.loc[7, ["", "N", *here]].tolist() == [
        "(C)", "2", "N = 2", "10.80", "25.5", "0.12 M",
    ]  # fmt: skip
    assert (frame[here].to_numpy() != "").sum() == 8
    by_side = {row["whose"]: row for rows in drawn(app) for row in rows if "whose" in row}
    assert by_side["here"]["bleu"] == pytest.approx(-2.5)
    assert by_side["here"]["perplexity"] == pytest.approx(1.2)
    assert by_side["paper"]["bleu"] == pytest.approx(23.7 - 25.8)
    assert by_side["paper"]["perplexity"] == pytest.approx(6.11 / 4.92)
    assert any("Multi30k" in line and "Only the differences" in line for line in texts(app))
    assert re.search("7.57 M", " ".join(texts(app)))
