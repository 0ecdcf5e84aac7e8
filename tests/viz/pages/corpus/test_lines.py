"""Lines of a user: through the job, who sees them, and what an unreadable file changes."""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import texts
from tests.viz.pages.corpus.conftest import press
from transformer import Translator
from transformer.checkpoints import domain
from transformer.checkpoints.domain import Domain
from transformer.corpus import measuring, result_file
from transformer.corpus.measured import LOG_P, MeasuredLines
from viz.app.cache import memory
from viz.pages.corpus import lines as module
from viz.pages.corpus import measurements
from viz.pages.corpus.lines import COSTS, FEW, FILE, JOB, PASTED, RESULT
from viz.pages.corpus.measurements import remembered

pytestmark = pytest.mark.slow

URL = {"text": "Dog.", "corpus_lines": "your lines"}
GOOD = ["The dog sleeps in the garden.", "My brother eats.", "Her horse waits."]
STRANGE = "\x07"  # a control character, which is not a subword of the model
BAD = ["", "dog " * 3_000]
"""One that is empty, and one that is too long."""


def measure(app: AppTest, lines: list[str], *, costs: bool = False) -> AppTest:
    """Paste lines and measure them."""
    app.text_area(key=PASTED).set_value("\n".join(lines)).run()
    app.toggle(key=COSTS).set_value(costs)
    return press(app, JOB, "corpus-measure")


def own(app: AppTest) -> MeasuredLines | None:
    """Return what a session shows."""
    assert not app.exception
    if module._OWN not in app.session_state:
        return None
    return remembered(app.session_state[module._OWN].key)


def test_bad_lines_are_counted_and_the_others_measured(
    opened: Callable[..., AppTest], translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(domain, "read", lambda _: Domain("short sentences", 0.0))
    lines = [BAD[0], GOOD[0], BAD[1], GOOD[1], f"{STRANGE} {GOOD[2]}", "."]
    app = measure(opened(), lines)
    shown = own(app)
    assert shown is not None
    expected = measuring.measure_lines(translator, lines, costs=False)
    assert shown.pairs == expected.pairs
    assert np.array_equal(shown.log_probs, expected.log_probs)
    assert [pair.number for pair in shown.pairs] == [2, 4, 5, 6]
    assert re.findall(r"\d+", app.expander[0].label) == ["4", "2", "1", "1", "4"]
    (listed,) = [text.splitlines() for text in texts(app) if text.startswith("Line 1: ")]
    numbers = [int(line.split(":")[0].removeprefix("Line ")) for line in listed]
    assert numbers == [1, 2, 3, 4, 5, 5, 6, 6]
    unsure = [float(n) for n in re.findall(r"log P is −([\d.]+) per subword", "\n".join(listed))]
    without_end = -expected.log_probs / np.maximum(1, expected.subwords - 1)
    assert unsure == pytest.approx(without_end, abs=0.00501)
    whole = {f"Line {line.number}: {line.reason}" for line in expected.left_out}
    assert {listed[0], listed[2]} == whole


def test_lines_are_measured_once_for_who_has_them_and_anew_where_they_are_forgotten(
    opened: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    app, other = opened(), opened()
    first = own(measure(app, GOOD))
    assert first is not None
    assert own(other.run()) is None
    assert GOOD[0] not in "".join(str(node) for node in other.main)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("measured twice")

    with monkeypatch.context() as patch:
        patch.setattr(module, "measure_lines", refuse)
        assert own(measure(other, GOOD)) is first
    before = app.session_state[module._OWN].key
    memory.forget_server_wide()
    assert own(app.run()) is None
    assert not app.get("vega_lite_chart")
    assert own(press(app, JOB, "corpus-again")) is not None
    assert app.session_state[module._OWN].key == before
    monkeypatch.setattr(module, "identity", lambda _: "another model")
    assert not app.run().get("vega_lite_chart")
    shown = own(press(app, JOB, "corpus-again"))
    assert app.session_state[module._OWN].key != before
    assert shown is not None
    assert [pair.source for pair in shown.pairs] == GOOD
    assert app.get("vega_lite_chart")


def test_a_file_that_is_none_changes_nothing_and_a_right_one_all(
    opened: Callable[..., AppTest], translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = measure(opened(), GOOD)
    before = own(app)
    assert before is not None
    other = measuring.measure_lines(translator, GOOD[:2], references=["Der Hund.", "Er isst."])
    right = result_file.to_bytes(other)
    forged = replace(other, sentence_values={**other.sentence_values, LOG_P: -other.log_probs})
    foreign = replace(other, checksum="0" * 64)
    sentences = set()
    for content in (right[:99], *map(result_file.to_bytes, (forged, foreign))):
        app.file_uploader(key=RESULT).set_value(("lines.safetensors", content, "")).run()
        assert own(app) is before
        sentences.add(app.session_state[module._PROBLEM])
        assert app.session_state[module._PROBLEM] in texts(app)
    assert len(sentences) == 3
    app.file_uploader(key=RESULT).set_value(("lines.safetensors", right, "")).run()
    shown = own(app)
    assert shown is not None
    assert shown.pairs == other.pairs
    assert module._PROBLEM not in app.session_state
    assert app.session_state[module._OWN].references == ("Der Hund.", "Er isst.")
    (_,) = [b for b in app.get("download_button") if b.proto.id.endswith("corpus-result")]

    # what does not fit, or is not text, is refused before it is measured
    before, job = shown, app.session_state[f"job {JOB}"]
    for name, content in (
        ("lines.txt", b"\xff\xfa no text"),
        ("lines.txt", b"a\n" * (module.MAX_LINES + 1)),
        ("", b""),
    ):
        if name:
            app.file_uploader(key=FILE).set_value((name, content, "text/plain"))
        else:
            app.file_uploader(key=FILE).set_value(None)
            app.text_area(key=PASTED).set_value("")
        assert own(app.button(key="corpus-measure").click().run()) is before
        assert app.session_state[f"job {JOB}"] is job
    for count, switch in ((FEW + 1, False), (FEW, True)):
        app.text_area(key=PASTED).set_value("a\n" * count).run()
        assert app.toggle(key=COSTS).value is switch
    small = memory.ByteCache(10_000)
    monkeypatch.setattr("viz.app.cache.memory.shared_cache", lambda: small)
    app.text_area(key=PASTED).set_value("a\n" * 99)
    app.button(key="corpus-measure").click().run()
    assert measurements.TOO_LARGE in texts(app)
    assert app.session_state[f"job {JOB}"] is job
