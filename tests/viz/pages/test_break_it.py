"""Break it: the heads that a sentence needs most, beside random others."""

import re
import statistics

import pytest

from tests.viz.pages.reading import SENTENCE, html
from transformer import Translator
from transformer.analysis.heads import removal_order
from transformer.analysis.heads.effect import effect
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal
from viz.app import jobs
from viz.draw.changed_words import mark_changed_words
from viz.draw.formatting import format_number
from viz.pages.translate import break_it


def candidates(app) -> list[str]:
    titled = '<div class="headlight-candidate"><small>'
    return [body for body in html(app) if body.startswith((f"{titled}Without", f"{titled}Control"))]


@pytest.mark.parametrize("count", [1, 5])
def test_needed_heads_are_removed_beside_five_draws_of_others(
    serve, translator: Translator, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    drawn: list[list[list[Head]]] = []
    as_ever = removal_order.log_p_without

    def noted(model, trace, removals, *more):
        drawn.append([list(heads) for heads in removals])
        return as_ever(model, trace, removals, *more)

    monkeypatch.setattr(removal_order, "log_p_without", noted)
    monkeypatch.setattr(removal_order, "LENGTH", 8)
    app = serve("translate", text=SENTENCE)
    app.button(key="break-button").click().run()
    app.slider(key="break").set_value(count).run()
    trace = translator.trace(SENTENCE)
    order = removal_order.removal_order(translator.model, trace)
    controls = next(d for d in drawn if len(d) == break_it.DRAWS and len(d[0]) == count)
    needed, control = candidates(app)
    for body, heads in ((needed, order[:count]), (control, controls[0])):
        changed = effect(translator, trace, [Removal(*head) for head in heads])
        assert mark_changed_words(changed.translation.text, trace.target) in body
    alone = float(
        effect(translator, trace, [Removal(*h) for h in order[:count]]).after.log_probs.sum()
    )
    assert f" {format_number(alone)}, " in needed
    log_p = as_ever(translator.model, trace, controls)
    shown = map(format_number, (statistics.median(log_p), min(log_p), max(log_p)))
    assert "{} ({} to {})".format(*shown) in control
    for heads in controls:
        assert not {*heads} & {*order[:count]}
        assert [head.kind for head in heads] == [head.kind for head in order[:count]]
    assert len({*map(tuple, controls)}) > 1
    app.button(key="break-restore").click().run()
    assert not candidates(app)


def test_the_answer_comes_before_its_control(serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "PATIENCE", 0.0)
    monkeypatch.setattr(break_it, "DRAWS", 0)  # the job fails there
    app = serve("translate", text=SENTENCE, **{"break": "1"})
    job = app.session_state["job break"]
    job.wait(20)
    assert job.state == "failed"
    (answer,) = candidates(app.run())
    assert re.search(r"Without L\d H\d", answer)
    assert jobs.BROKEN in [text.value for text in app.text]
