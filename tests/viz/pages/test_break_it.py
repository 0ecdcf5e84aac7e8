"""Break it: what the player gets of the heads that a sentence needs most, and of random others."""

import statistics
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.draw.message import decode
from tests.viz.pages.reading import SENTENCE
from transformer import Translator
from transformer.analysis.heads import removal_order
from transformer.analysis.heads.effect import effect
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal
from viz.app import jobs
from viz.draw import player
from viz.draw.labels import display_tokens
from viz.pages.translate import break_it


def sent(app: AppTest) -> dict[str, Any] | None:
    """Return the last value that the player got of removed heads."""
    assert not app.exception
    values = [decode(element.proto.bytes)[0] for element in app.get("bidi_component")]
    broken = [value["value"] for value in values if value.get("key") == player.BROKEN]
    return broken[-1] if broken else None


def removals(heads: list[Head]) -> list[Removal]:
    return [Removal(*head) for head in heads]


@pytest.mark.parametrize("count", [1, 5])
def test_needed_heads_are_removed_beside_five_draws_of_others(
    serve, translator: Translator, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    drawn: list[list[list[Head]]] = []
    as_ever = removal_order.log_p_without

    def noted(model, trace, sets, *more):
        drawn.append([list(heads) for heads in sets])
        return as_ever(model, trace, sets, *more)

    monkeypatch.setattr(removal_order, "log_p_without", noted)
    monkeypatch.setattr(removal_order, "LENGTH", 8)
    app = serve("translate", text=SENTENCE, **{"break": str(count)})
    trace = translator.trace(SENTENCE)
    order = removal_order.removal_order(translator.model, trace)
    value = sent(app)
    assert value is not None
    assert [tuple(place["head"].values()) for place in value["places"]] == [*order[:count]]
    assert value["total"] == 8
    for number, place in enumerate(value["places"], start=1):
        needed, *draws = next(d for d in drawn if d[0] == [*order[:number]] and len(d) == 6)
        changed = effect(translator, trace, removals(needed))
        assert place["log_p"] == pytest.approx(float(changed.after.log_probs.sum()), abs=1e-3)
        log_p = as_ever(translator.model, trace, draws)
        control = place["control"]
        shown = [control[name] for name in ("low", "middle", "high")]
        assert shown == pytest.approx([min(log_p), statistics.median(log_p), max(log_p)])
        assert control["draws"] == break_it.DRAWS == len(draws)
        text = effect(translator, trace, removals(draws[0])).translation.text
        assert control["same"] == (text == trace.target)
        for heads in draws:
            assert not {*heads} & {*needed}
            assert [head.kind for head in heads] == [head.kind for head in needed]
        assert len({*map(tuple, draws)}) > 1
        # the row is the new translation, with what it lost
        tokens = display_tokens([*trace.decoder_tokens[:1], *trace.target_tokens])
        row = [part.get("text") or tokens[part["piece"]]
               for part in place["row"] if not part.get("lost")]  # fmt: skip
        joined = " ".join(row[1:-1]).replace(" ·", "")
        words = [word for word in joined.split() if word != "␣"]
        assert "".join(words) == "".join(changed.translation.text.split())


def test_without_a_number_heads_are_removed_until_a_word_changes(serve, translator) -> None:
    value = sent(serve("translate", text=SENTENCE, **{"break": "0"}))
    assert value is not None
    changes = [any(part.get("lost") or "text" in part for part in place["row"])
               for place in value["places"]]  # fmt: skip
    assert changes == [False] * (len(changes) - 1) + [True]


@pytest.mark.parametrize("asked", ["", "x", "-1", "1.5", "99999"])
def test_what_is_no_number_of_heads_removes_none(serve, asked: str) -> None:
    assert sent(serve("translate", text=SENTENCE, **{"break": asked})) is None


def test_the_first_heads_come_before_the_last(serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "PATIENCE", 0.0)
    as_ever, calls = removal_order.random_order, []

    def fails_later(*arguments):
        calls.append(arguments)
        if len(calls) > 2 * break_it.DRAWS:
            raise RuntimeError
        return as_ever(*arguments)

    monkeypatch.setattr(removal_order, "random_order", fails_later)
    app = serve("translate", text=SENTENCE, **{"break": "5"})
    job = app.session_state["job break"]
    job.wait(20)
    while job.is_active:
        job.wait(20)
    value = sent(app.run())
    assert value is not None
    assert len(value["places"]) == 2
    assert value["note"] == jobs.BROKEN
