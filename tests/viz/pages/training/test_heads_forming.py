"""How heads form: what is shown of the attention that a run saved, and what is said without."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import texts
from tests.viz.draw.message import decode
from tests.viz.planted_trace import HEADS, LAYERS, planted
from training.run import journal
from transformer import KINDS, AttentionTrace
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.measures import measure
from transformer.files.installed import BUNDLED
from viz.draw.head_grid import GridPart
from viz.pages.training import heads_forming as page
from viz.pages.training.forming_text import describe_forming
from viz.pages.training.measure_chart import measure_chart

STEPS = (1, 2, 64, 250)


def forming_page() -> None:
    import streamlit as st

    from viz.pages.training.heads_forming import heads_forming

    heads_forming(st.container(horizontal=True))


def _at(step: int, *, other: bool = False) -> AttentionTrace:
    """Weights that tell their step apart: the planted ones, mixed with even ones early on."""
    trace = planted()
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
    """What the two components were last given."""
    found: dict = {}

    def grid(key: str, data: bytes, parts: list[GridPart], **more: object) -> None:
        assert decode(data)[0]["key"] == key  # else nothing is outlined
        found.update(parts={part.kind: part for part in parts}, **more)

    def a_map(weights: np.ndarray, labels: object, kind: str, **more: object) -> bytes:
        found.update(weights=weights, labels=labels, kind=kind, writes=more["writes"])
        return b""

    monkeypatch.setattr(page, "known_runs", lambda: {"bundled": BUNDLED, "mine": run})
    monkeypatch.setattr(page, "mount_grid", grid)
    monkeypatch.setattr(page, "encode_map", a_map)
    return found


def opened(run: Path | str = "mine", **url: str) -> AppTest:
    app = AppTest.from_function(forming_page, default_timeout=60)
    for name, value in {"forming_run": str(run), **url}.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def test_the_bundled_run_is_shown_where_none_is_named() -> None:
    app = AppTest.from_function(forming_page, default_timeout=60).run()
    assert not app.exception
    assert app.selectbox(key="forming_run").value == "bundled"
    assert app.select_slider(key="trained").value == 1


def test_it_begins_at_the_first_step_and_every_head_is_its_own(shown: dict) -> None:
    app = opened()
    assert app.select_slider(key="trained").value == STEPS[0]
    assert page.WHOSE in texts(app)
    for kind in KINDS:
        assert np.array_equal(shown["parts"][kind].weights, _at(1).weights(kind))
    assert np.array_equal(shown["weights"], _at(1).cross[-1, 0])
    assert shown["labels"] == _at(1).labels("cross")
    said = describe_forming({step: _at(step) for step in STEPS})
    assert app.markdown[-1].value.endswith(said)


def test_two_buttons_walk_from_step_to_step(shown: dict) -> None:
    app = opened()
    back, forth = "forming-Step before", "forming-Next step"
    assert app.button(key=back).disabled
    for step in STEPS[1:]:
        app.button(key=forth).click().run()
        assert app.select_slider(key="trained").value == step
        assert np.array_equal(shown["weights"], _at(step).cross[-1, 0])
    assert app.button(key=forth).disabled
    app.button(key=back).click().run()
    assert app.select_slider(key="trained").value == STEPS[-2]


def test_the_slider_walks_through_the_steps(shown: dict) -> None:
    app = opened(kind="encoder", forming_layer="1", forming_head="3")
    for step in STEPS:
        app.select_slider(key="trained").set_value(step).run()
        assert np.array_equal(shown["weights"], _at(step).encoder_self[0, 2])
        assert np.array_equal(shown["parts"]["cross"].weights, _at(step).cross)
    assert shown["selected"] == ("encoder_self", 0, 2)


def test_a_link_opens_a_step_and_one_that_was_not_kept_the_nearest(shown: dict) -> None:
    app = opened(trained="64")
    assert np.array_equal(shown["weights"], _at(64).cross[-1, 0])
    app = opened(trained="200")
    assert app.select_slider(key="trained").value == 250
    for asked in ("-5", "1e3", "9" * 5000, "Infinity", "٣"):
        assert opened(trained=asked).select_slider(key="trained").value == 1
    app = opened(trained="64")
    # the second sentence has no step 1
    app.select_slider(key="trained").set_value(1).run()
    app.selectbox(key="sentence").set_value("2").run()
    assert not app.exception
    assert app.select_slider(key="trained").value == 2
    assert np.array_equal(shown["weights"], _at(2).cross[-1, 0])


def test_the_log_says_the_loss_of_the_steps_around(shown: dict) -> None:
    app = opened(trained="1")
    assert "After 1 step · training loss 6.00, mean of steps 1 to 50:" in texts(app)[0]
    app.select_slider(key="trained").set_value(64).run()
    assert "After 64 steps · training loss 3.00, mean of steps 51 to 100:" in texts(app)[0]
    app.select_slider(key="trained").set_value(250).run()
    assert "After 250 steps · training loss 1.20, mean of steps 101 to 250:" in texts(app)[0]


def test_without_a_log_the_step_stands_alone(run: Path, shown: dict) -> None:
    (run / "run.jsonl").write_text("[]\n")
    assert texts(opened(trained="250"))[0].startswith("After 250 steps: ")


def test_one_step_needs_no_slider(run: Path, shown: dict) -> None:
    for path in (run / "probes").glob("step-*"):
        if "00000250" not in path.name:
            path.unlink()
    app = opened()
    assert not app.select_slider
    assert np.array_equal(shown["weights"], _at(250).cross[-1, 0])


@pytest.mark.parametrize("name", ["confidence", "entropy"])
def test_the_chart_draws_the_measure_of_every_head_at_every_step(
    shown: dict, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: dict = {}

    def spy(steps: list[int], values: np.ndarray, **more: Any) -> alt.LayerChart:
        drawn.update(steps=steps, values=values, **more)
        return measure_chart(steps, values, **more)

    monkeypatch.setattr(page, "measure_chart", spy)
    opened(kind="decoder", measure=name, trained="2")
    assert shown["writes"] == _at(2).target_tokens  # beside what each row reads
    assert drawn["steps"] == list(STEPS)
    assert drawn["values"].shape == (len(STEPS), LAYERS, HEADS)
    for n, step in enumerate(STEPS):
        expected = measure(by_pieces(_at(step), "decoder_self"), "decoder_self", name)
        assert np.array_equal(drawn["values"][n], expected)
    assert (drawn["kind"], drawn["at"], drawn["unit"]) == ("decoder_self", 2, name)


def test_who_looks_at_the_last_step_is_taken_along_and_nobody_else(run: Path, shown: dict) -> None:
    def keep(step: int) -> None:
        _at(250 - step).save(run / "probes" / f"step-{step:08d}-sentence-1.npz")

    app = opened(trained="250")
    keep(251)
    app.run()
    assert app.select_slider(key="trained").value == 251
    app.select_slider(key="trained").set_value(64).run()
    keep(252)
    app.run()
    assert app.select_slider(key="trained").options[-1] == "252"
    assert app.select_slider(key="trained").value == 64
    assert np.array_equal(shown["weights"], _at(64).cross[-1, 0])


@pytest.mark.parametrize("live", [True, False])
def test_the_page_is_drawn_again_when_a_run_that_goes_on_has_kept_more(
    run: Path, shown: dict, monkeypatch: pytest.MonkeyPatch, live: bool
) -> None:
    fragments: list[tuple[Any, str | None]] = []

    def fragment(of: Any, *, run_every: str | None) -> Any:
        return lambda *given: fragments.append((lambda: of(*given), run_every))

    reruns: list[bool] = []
    monkeypatch.setattr(st, "fragment", fragment)
    monkeypatch.setattr(st, "rerun", lambda: reruns.append(True))
    monkeypatch.setattr(page, "is_live", lambda folder: live and folder == run)
    opened()
    look, every = fragments[-1]
    assert every == ("3s" if live else None)
    look()
    assert not reruns
    monkeypatch.setattr(page, "is_live", lambda _: False)
    look()
    assert len(reruns) == live  # which ends the following
    reruns.clear()
    _at(100).save(run / "probes" / "step-00000300-sentence-2.npz")
    look()
    assert reruns


def test_a_run_that_saved_nothing_says_where_it_would(
    tmp_path: Path, shown: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "known_runs", lambda: {"runs/new": tmp_path})
    said = texts(opened("runs/new"))[-1]
    assert said == (
        "runs/new has saved no attention yet: a run saves it at its steps 1, 2, 4, 8 and so on and "
        "at each validation, in its folder probes."
    )


def test_an_old_link_to_the_folder_of_a_run_opens_it(run: Path, shown: dict) -> None:
    app = opened(run, trained="250")
    assert app.selectbox(key="forming_run").value == str(run)
    assert app.select_slider(key="trained").options == ["1", "2", "64", "250"]
    assert np.array_equal(shown["parts"]["cross"].weights, _at(250).cross)


def test_a_link_to_any_other_folder_is_one_sentence(tmp_path: Path, shown: dict) -> None:
    said = texts(opened(tmp_path))[0]
    assert said == f"“\u2068{tmp_path}\u2069” is no run of this server: choose one from the menu."


def test_a_damaged_file_is_one_sentence_and_the_other_steps_are_drawn(
    run: Path, shown: dict
) -> None:
    bad = run / "probes" / "step-00000064-sentence-1.npz"
    bad.write_bytes(b"half")
    app = opened()
    assert f"{bad} is not a trace that was saved here." in texts(app)
    assert app.select_slider(key="trained").options == ["1", "2", "250"]


def test_where_no_file_can_be_drawn_each_is_named_or_counted(run: Path, shown: dict) -> None:
    for path in (run / "probes").iterdir():
        path.write_bytes(b"half")
    said = texts(opened())
    assert len([text for text in said if "is not a trace" in text]) == 3
    assert said[-1] == "1 more files of this sentence cannot be drawn."
    assert not shown


def test_a_step_of_another_model_is_named_and_left_out(run: Path, shown: dict) -> None:
    weights: dict[str, Any] = {kind: _at(64).weights(kind)[:1] for kind in KINDS}
    other = replace(_at(64), **weights)
    other.save(run / "probes" / "step-00000064-sentence-1.npz")
    app = opened()
    (said,) = [text for text in texts(app) if "another model" in text]
    assert said.startswith("step-00000064-sentence-1.npz is of another sentence or another model")
    assert app.select_slider(key="trained").options == ["1", "2", "250"]
