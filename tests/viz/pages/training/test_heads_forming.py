"""Heads forming: the saved attention of a run as it is drawn, and messages without any."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.viz import app_test, planted_trace
from tests.viz.draw.message import decode
from training.run import journal
from transformer import KINDS, AttentionTrace
from transformer.files import installed
from viz.pages.training import heads_forming as page
from viz.pages.training import runs
from viz.pages.training.heads_forming import first_one_to_one, forming_table, measure_chart

STEPS = (1, 2, 64, 250)


def _at(step: int, *, other: bool = False) -> AttentionTrace:
    """Weights that tell their step apart: the planted ones, mixed with even ones early on."""
    trace = planted_trace.planted()
    share = step / STEPS[-1]
    mixed = {}
    for kind in KINDS:
        weights = trace.weights(kind)
        even = np.ones_like(weights)
        if kind == "decoder_self":
            even = np.tril(even)
        mixed[kind] = (share * weights + (1 - share) * even / even.sum(-1, keepdims=True)).astype(
            np.float32
        )
    return replace(trace, source="*Another*" if other else trace.source, **mixed)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run that kept two sentences, the second from step 2 on."""
    folder = tmp_path / "mine"
    (folder / "probes").mkdir(parents=True)
    for step in STEPS:
        _at(step).save(folder / "probes" / f"step-{step:08d}-sentence-1.npz")
        if step > 1:
            _at(step, other=True).save(folder / "probes" / f"step-{step:08d}-sentence-2.npz")
    log = journal.RunLog(folder / "run.jsonl")
    for step in (50, 100, 250):
        log.write(step=step, loss=300 / step, lr=0.1, tokens_per_second=9.0, seconds=1.0)
    return folder


@pytest.fixture
def shown(run: Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    """Return the last message of the player, and what its choices call."""
    result: dict = {}

    def mounted(key: str, data: bytes, read: Any, choose: Any) -> None:
        result.update(key=key, meta=decode(data)[0], data=data)
        result["send"] = lambda sent: choose(read(sent)) if read(sent) else None

    def spy(steps: list[int], values: np.ndarray, **more: Any) -> alt.LayerChart:
        result["chart"] = {"steps": steps, "values": values, **more}
        return measure_chart(steps, values, **more)

    monkeypatch.setattr(
        "viz.pages.training.runs.known_runs", lambda: {"bundled": installed.BUNDLED, "mine": run}
    )
    monkeypatch.setattr("viz.app.chrome.mounts.mount_choice", mounted)
    monkeypatch.setattr(page, "measure_chart", spy)
    return result


def opened(run: Path | str = "mine", **url: str) -> AppTest:
    return app_test.open_alone("training", forming_run=str(run), **url)


def drawn_steps(shown: dict) -> list[int]:
    return [step["number"] for step in shown["meta"]["training"]]


def test_the_player_has_the_weights_of_every_head_at_every_step(shown: dict) -> None:
    opened()
    assert shown["key"] == "forming-player"
    assert drawn_steps(shown) == list(STEPS)
    for n, step in enumerate(STEPS):
        for kind in shown["meta"]["trace"]["kinds"]:
            drawn = kind["weights"][n] / 65_535
            assert np.allclose(drawn, _at(step).weights(kind["kind"]), rtol=0, atol=1 / 65_535)
    assert (shown["meta"]["kind"], shown["meta"]["moment"]) == ("cross", None)  # it plays


def test_what_the_model_wrote_is_that_of_its_own_file_and_nothing_else(run, shown) -> None:
    def keep(step: int, written: str, **changes: Any) -> Path:
        path = run / "probes" / f"step-{step:08d}-written-1.npz"
        replace(_at(step), target=written, **changes).save(path)
        return path

    keep(1, "")
    keep(64, "Zwei, Zwei")
    keep(250, "of another sentence", source="*Another*")
    keep(2, "").write_bytes(b"half")
    app = opened()
    assert drawn_steps(shown) == list(STEPS)
    texts_by_step = [step["written"] for step in shown["meta"]["training"]]
    assert texts_by_step == ["", None, "Zwei, Zwei", None]
    for step in (2, 250):
        assert any(f"step-{step:08d}-written-1.npz" in text for text in app_test.texts(app))
    opened(sentence="*Another*")  # of which nothing that it wrote is there
    assert [step["written"] for step in shown["meta"]["training"]] == [None] * 3


def test_what_the_reader_opens_is_in_the_address_and_the_message_stays(
    run: Path, shown: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viz.app.links.address.has_arrived", lambda: False)
    chosen: dict[str, str | None] = {}
    monkeypatch.setattr("viz.app.links.address.choose", chosen.__setitem__)
    app = opened(kind="encoder", forming_layer="1", forming_head="3", trained="1")
    assert (shown["meta"]["kind"], shown["meta"]["moment"]) == ("encoder_self", 0)
    assert shown["meta"]["selected"]["encoder_self"] == [0, 2]
    message = shown["data"]
    for sent in (None, {}, {"kind": "cross"}, {"kind": "x", "layer": 0, "head": 0, "moment": 0},
                 {"kind": "cross", "layer": 0, "head": planted_trace.HEADS, "moment": 0},
                 {"kind": "cross", "layer": 0, "head": 0, "moment": len(STEPS)}):  # fmt: skip
        shown["send"](sent)
    assert not chosen
    shown["send"]({"kind": "decoder_self", "layer": 1, "head": 0, "moment": 2})
    expected = {"kind": "decoder", "forming_layer": "2", "forming_head": "1", "trained": "64"}
    assert chosen == expected
    for name, value in expected.items():
        app.query_params[name] = value
    app.run()
    assert shown["data"] == message  # it is not sent again
    chart = shown["chart"]
    assert (chart["kind"], chart["selected"], chart["marked"]) == ("decoder_self", (1, 0), 64)
    shown["send"]({"kind": "cross", "layer": 0, "head": 0, "moment": len(STEPS) - 1})
    assert chosen["trained"] is None  # which of a run that goes on is its next one
    monkeypatch.setattr("viz.app.links.address.has_arrived", lambda: True)
    app.run()
    assert shown["meta"]["arrival"] == 2
    assert (shown["meta"]["kind"], shown["meta"]["moment"]) == ("decoder_self", 2)


def test_a_link_opens_a_step_and_one_that_was_not_kept_the_nearest(shown: dict) -> None:
    for asked, moment in (("64", 2), ("200", 3), ("1,000", 3)):
        opened(trained=asked)
        assert shown["meta"]["moment"] == moment
    for asked in ("-5", "1e3", "9" * 5000, "Infinity", "٣"):
        opened(trained=asked, forming_layer=asked)
        assert shown["meta"]["moment"] is None
    opened(trained="1", sentence="*Another*")  # which has no step 1
    assert shown["meta"]["moment"] == 0
    assert drawn_steps(shown) == [2, 64, 250]


def test_the_log_says_the_loss_of_the_steps_around(run: Path, shown: dict) -> None:
    opened()
    losses = [step["loss"] for step in shown["meta"]["training"]]
    expected = [("6.00", "1 to 50"), ("6.00", "1 to 50"), ("3.00", "51 to 100"),
                ("1.20", "101 to 250")]  # fmt: skip
    for loss, numbers in zip(losses, expected, strict=True):
        assert all(number in loss for number in numbers)
    (run / "run.jsonl").write_text("[]\n")
    opened()
    assert {step["loss"] for step in shown["meta"]["training"]} == {""}


@pytest.mark.parametrize("live", [True, False])
def test_the_page_is_drawn_again_when_a_run_that_goes_on_has_kept_more(
    run: Path, shown: dict, monkeypatch: pytest.MonkeyPatch, live: bool
) -> None:
    fragments: list[tuple[Any, str | None]] = []

    def fragment(values: Any, *, run_every: str | None) -> Any:
        return lambda *given: fragments.append((lambda: values(*given), run_every))

    reruns: list[bool] = []
    monkeypatch.setattr(st, "fragment", fragment)
    monkeypatch.setattr(st, "rerun", lambda: reruns.append(True))
    monkeypatch.setattr(runs, "is_live", lambda folder: live and folder == run)
    opened()
    look, every = fragments[-1]
    assert every == ("3s" if live else None)
    look()
    assert not reruns
    monkeypatch.setattr(runs, "is_live", lambda _: False)
    look()
    assert len(reruns) == live  # which ends the following
    reruns.clear()
    _at(100).save(run / "probes" / "step-00000300-sentence-2.npz")
    look()
    assert reruns


def test_what_cannot_be_drawn_is_named_and_the_other_steps_are_drawn(run, shown) -> None:
    bad = run / "probes" / "step-00000064-sentence-1.npz"
    bad.write_bytes(b"half")
    app = opened()
    assert f"{bad} is not a trace that was saved here." in app_test.texts(app)
    assert drawn_steps(shown) == [1, 2, 250]
    weights: dict[str, Any] = {kind: _at(64).weights(kind)[:1] for kind in KINDS}
    replace(_at(64), **weights).save(bad)
    (message,) = [text for text in app_test.texts(opened()) if "another model" in text]
    assert message.startswith(bad.name)
    assert drawn_steps(shown) == [1, 2, 250]


def test_a_run_of_which_nothing_can_be_drawn_says_so(tmp_path, run, shown, monkeypatch) -> None:
    for path in (run / "probes").iterdir():
        path.write_bytes(b"half")
    message = app_test.texts(opened())
    assert len([text for text in message if "is not a trace" in text]) == 3
    assert "1 more files" in message[-2]
    monkeypatch.setattr(runs, "known_runs", lambda: {"runs/new": tmp_path})
    assert "runs/new" in app_test.texts(opened("runs/new"))[-2]
    assert not shown


PIECES = 5  # with the end token


def trace(
    encoder: float = 0, decoder: float = 0, cross: float = 0, *, shape: tuple[int, int] = (2, 3),
    pieces: int = PIECES,
) -> AttentionTrace:  # fmt: skip
    """Every row has a share of its weight on its own token or the first, and the rest is even."""
    even = np.full((pieces, pieces), 1 / pieces)
    seen = np.tril(np.ones((pieces, pieces)))
    first = np.eye(pieces)[np.zeros(pieces, int)]

    def heads(share: float, most: np.ndarray, rest: np.ndarray) -> np.ndarray:
        weights = share * most + (1 - share) * rest
        return np.broadcast_to(weights, (*shape, pieces, pieces)).astype(np.float32)

    return AttentionTrace(
        source="a",
        target="a",
        source_pieces=planted_trace.words(*"abcd"[: pieces - 1]),
        target_pieces=planted_trace.words(*"klmn"[: pieces - 1]),
        encoder_self=heads(encoder, first, even),
        decoder_self=heads(decoder, first, seen / seen.sum(-1, keepdims=True)),
        cross=heads(cross, np.eye(pieces), even),
        log_probs=np.zeros(pieces, np.float32),
    )


def rows_of(shares: Mapping[int, Sequence[float]], **more: Any) -> list[list[str]]:
    """Build the rows of the table of traces with these shares, by step, encoder first."""
    table = forming_table({step: trace(*share, **more) for step, share in shares.items()})
    return table.to_numpy().tolist()


@pytest.mark.parametrize(
    ("shares", "halfway"),
    [
        ({1: 0.0, 8: 0.1, 12_000: 0.8}, "12,000"),  # a run that goes on moves its half
        ({5: 0.4, 8: 0.59, 9: 0.5, 16: 0.61, 32: 0.8}, "16"),
        ({1: 0.8, 2: 0.5}, "does not rise"),
    ],
)
def test_half_is_of_the_rise_between_the_first_and_the_last_step(shares, halfway) -> None:
    assert rows_of({step: (share,) for step, share in shares.items()})[0][-1] == halfway


def test_each_kind_has_its_ends_and_its_extremes() -> None:
    valley = rows_of({1: (0.4,), 8: (0.2,), 64: (0.9,), 512: (0.6,)})[0]
    assert valley == ["encoder", "0.52", "0.68", "0.36 (step 8)", "0.92 (step 64)", "64"]
    rows = rows_of({1: (0,), 2: (0.8, 0.8, 0.8)}, pieces=1)  # of one token
    assert [row[-1] for row in rows] == ["does not rise"] * 3


def test_the_first_step_with_a_head_that_is_one_to_one_is_named_or_that_there_is_none() -> None:
    shares = {1: 0.0, 512: 0.45, 1024: 0.55, 2048: 0.2, 4096: 0.9}
    traces = {step: trace(cross=share) for step, share in shares.items()}
    assert "1,024" in first_one_to_one(traces)
    none = first_one_to_one({step: traces[step] for step in (1, 512, 2048)})
    assert not any(map(str.isdigit, none))
    # one head is enough
    cross = traces[1].cross.copy()
    cross[1, 2] = traces[1024].cross[1, 2]
    assert "256" in first_one_to_one({1: traces[1], 256: replace(traces[1], cross=cross)})


def test_the_first_run_that_saved_attention_is_open(run, tmp_path, monkeypatch, shown) -> None:
    known = {"without": tmp_path, "mine": run, "bundled": installed.BUNDLED}
    monkeypatch.setattr(runs, "known_runs", lambda: known)
    app = app_test.open_alone("training")
    assert app.selectbox(key="forming_run").value == "mine"
    assert drawn_steps(shown) == list(STEPS)
