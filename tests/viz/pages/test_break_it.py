"""Break it: what the player gets of the heads that a sentence needs most, and of random others."""

import re
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.viz.draw.message import decode
from tests.viz.pages.reading import SENTENCE
from transformer import Translator
from transformer.analysis.heads import removal_order
from transformer.analysis.heads.effect import effect
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal, removed
from transformer.text.tokenizer import Piece
from viz.app import jobs
from viz.app.chrome import mounts
from viz.draw import player, trace_message
from viz.pages.translate import break_it


def sent(app: AppTest) -> dict[str, Any] | None:
    """Return the last value that the player got of removed heads."""
    assert not app.exception
    values = [decode(element.proto.bytes)[0] for element in app.get("bidi_component")]
    broken = [value["value"] for value in values if value.get("key") == player.BROKEN]
    return broken[-1] if broken else None


def removals(heads: list[Head]) -> list[Removal]:
    return [Removal(*head) for head in heads]


def test_needed_heads_are_removed_beside_five_draws_of_others(
    serve, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 5
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
        assert control["log_p"] == pytest.approx(log_p)
        assert len(draws) == break_it.DRAWS
        text = effect(translator, trace, removals(draws[0])).translation.text
        assert control["same"] == (text == trace.target)
        for heads in draws:
            assert not {*heads} & {*needed}
            assert [head.kind for head in heads] == [head.kind for head in needed]
        assert len({*map(tuple, draws)}) > 1
        assert place["target"]["text"] == changed.translation.text
        pieces = [piece.text for piece in changed.translation.best.pieces]
        assert place["target"]["pieces"] == pieces


def test_the_maps_are_those_of_the_model_that_writes_the_sentence(serve, translator) -> None:
    value = sent(serve("translate", text=SENTENCE, **{"break": "3"}))
    assert value is not None
    *others, place = value["places"]
    assert [other["maps"] for other in others] == [None, None]  # only what is drawn is sent
    heads = removal_order.removal_order(translator.model, translator.trace(SENTENCE))[:3]
    with removed(translator, removals(heads)):
        trace = translator.trace(SENTENCE)
    assert place["target"]["pieces"] == [piece.text for piece in trace.target_pieces]
    for maps in place["maps"]:
        weights = trace.weights(maps["kind"])[..., : trace_message.WINDOW, : trace_message.WINDOW]
        shown = (
            np.reshape(maps["weights"], (*weights.shape[:2], *maps["size"])) / trace_message.LARGEST
        )
        assert shown == pytest.approx(weights, abs=1e-4)


@pytest.mark.parametrize("share", [player.PLAIN, 9.0])
def test_without_a_number_heads_are_removed_until_the_text_plainly_changes(
    serve, translator: Translator, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    came: list[bytes] = []
    mount = mounts.mount
    monkeypatch.setattr(
        mounts,
        "mount",
        lambda key, data, *more: came.append(data) if key == player.BROKEN
        else mount(key, data, *more),
    )  # fmt: skip
    polled = lambda follow, run_every: lambda: [follow() for _ in range(30)]  # noqa: E731
    monkeypatch.setattr(st, "fragment", polled)
    monkeypatch.setattr(player, "PLAIN", share)
    monkeypatch.setattr(removal_order, "LENGTH", 5)
    assert not serve("translate", text=SENTENCE, **{"break": "0"}).exception
    values = [decode(data)[0]["value"]["places"] for data in came]
    pieces = translator.trace(SENTENCE).target_pieces
    plain = [
        player.changes_plainly(
            pieces, [*map(Piece, range(9, 999), side["pieces"][:-1], side["words"])]
        )
        for side in (place["target"] for place in values[-1])
    ]
    if share < 1:
        assert plain == [False] * (len(plain) - 1) + [True]
    else:  # it never changes as much
        assert plain == [False] * 5
    # each one plays, and its maps come once, never those of many in one message
    maps = [[n for n, place in enumerate(places) if place["maps"]] for places in values]
    assert maps == [[n] for n in range(len(plain))] + [[]] * (30 - len(plain))


@pytest.mark.parametrize(
    ("before", "after", "plain"),
    [
        ("a b c d e f.", "a b c d e g.", False),  # a single word is overlooked
        ("a b c d e.", "a b c d g.", True),
        ("a b c.", "a b c!", False),
        ("a.", ".", True),
        ("a b c.", "c a b.", False),  # it only moved
    ],
)
def test_a_plain_change_is_of_many_words(before: str, after: str, plain: bool) -> None:
    texts = [[Piece(n + 9, f"▁{word}", n) for n, word in enumerate(re.findall(r"\w|[.!]", text))]
             for text in (before, after)]  # fmt: skip
    assert player.changes_plainly(*texts) == plain


@pytest.mark.parametrize("asked", ["", "x", "-1", "1.5", "99999"])
def test_what_is_no_number_of_heads_removes_none(serve, asked: str) -> None:
    assert sent(serve("translate", text=SENTENCE, **{"break": asked})) is None


def test_the_first_heads_come_before_the_last(serve, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_of_another_number_of_heads_the_first_ones_are_known(serve, monkeypatch) -> None:
    monkeypatch.setattr(jobs, "PATIENCE", 60.0)
    serve("translate", text=SENTENCE, **{"break": "3"})
    as_ever, sizes = removal_order.log_p_without, list[int]()

    def noted(model, trace, sets, *more):
        if len(sets) == 1 + break_it.DRAWS:  # else an order is looked for
            sizes.append(len(sets[0]))
        return as_ever(model, trace, sets, *more)

    monkeypatch.setattr(removal_order, "log_p_without", noted)
    for count in ("2", "4"):
        value = sent(serve("translate", text=SENTENCE, **{"break": count}))
        assert value is not None
        assert len(value["places"]) == int(count)
    assert sizes == [4]
