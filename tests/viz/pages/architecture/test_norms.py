"""Layer norm and batch norm on the same batch."""

import numpy as np

from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE, records, tables
from transformer import Translator
from transformer.analysis.paper.norms import batch_norm, norm_values
from transformer.analysis.teacher_forcing import batch_traces
from viz.pages.architecture.drawing import NORMS


def test_the_norms_view_prints_what_joining_changes(opened, translator: Translator) -> None:
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
        assert cells[1] == "0 up to rounding"
        assert float(cells[2]) > 1e-4
    assert second[0] == f"and {(~both.real).sum()} pads that count"
    (by_token,), (by_feature,) = records(app, 0), records(app, 1)
    assert len(by_token) == 2 * both.real.sum()
    for rows, norm in ((by_token, "layer norm"), (by_feature, "batch norm")):
        flat = [row["spread"] for row in rows if row["norm"] == norm]
        np.testing.assert_allclose(flat, 1, atol=1e-3)
    app.toggle(key="arch_padding").set_value(True).run()
    assert len(records(app)[0]) == 2 * both.real.size  # padding counts: it is drawn, too
    app.text_area(key="more").set_value(SENTENCE).run()  # of one length, nothing is padded
    assert len(tables(app)[0]) == 3


def test_one_sentence_alone_has_nothing_that_joins(opened) -> None:
    app = opened(arch_view=NORMS)
    app.text_area(key="more").set_value("").run()
    assert any("further sentence" in line for line in texts(app))
