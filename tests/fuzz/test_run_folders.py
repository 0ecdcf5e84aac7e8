"""A run folder that nobody should have is read, or refused, by the Training page."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st
from hypothesis.strategies import sampled_from
from streamlit.testing.v1 import AppTest

from tests.fuzz import bounds
from training.run.journal import LOG
from transformer.files.installed import BUNDLED
from viz.pages.training import runs
from viz.pages.training.runs import RUNS_VARIABLE, is_live, load_log, log_problem

pytestmark = pytest.mark.slow

RECORDS: list[dict[str, Any]] = [
    {"step": 0, "parameters": 9, "d_model": 8, "warmup": 4, "lr_factor": 1.0, "steps": 100}
    | {"cooldown": 10},
    {"step": 50, "epoch": 0, "loss": 3.5, "lr": 1e-3, "tokens_per_second": 900.0, "seconds": 9.0},
    {"step": 100, "validation_loss": 2.0, "validation_perplexity": 7.4, "validation_bleu": 9.0},
]
FIELDS = sorted({field for record in RECORDS for field in record} | {"unknown"})
VALUES = [
    *'null true "text" "" [] {} [1] NaN Infinity -Infinity 1e999 -1e999 1e308 -1e308'.split(),
    *'5e-324 0 -0.0 -1 -5 0.5 "\\ud800" "<b>" "[a](javascript:1)" 1_000 0x1'.split(),
    *("1" + "0" * 30, "1" + "0" * 400, "1" + "0" * 5_000),
]
LINES = [
    *("[" * 9_000, "[" * 200_000, '{"a":' * 3_000, "{}", "[]", "7", "null", "\x00" * 50, "\ufffd"),
    *(
        '{"step": 1' * 3,
        '{"step": 1} {"step": 2}',
        "\ufeff{}",
        "x" * 100_000,
        '{"step": [], "a": 1}',
    ),
    *('{"": 1, "step": 1}', '{"step": 1, "' + "k" * 9_000 + '": null}', "\u2028", '"step"'),
    *('{"step": 1, "loss": 1}\r', '{"step": 1, "\\ud800": null}', "--1", '{"step": 1,}'),
]
LOGS = [
    *(b"", b'{"step": 1, "loss": 1', b"[" * 10**7 + b"\n", json.dumps(RECORDS).encode("utf-16")),
    *(b'{"step": 1, "loss": 2.5}\n' * 10**6, b"\n" * 10**6, b'{"step": null}\n' * 50_000),
    b"".join(b'{"step": %d, "loss": 2.5, "lr": 0.1}\n' % n for n in range(1, 50_001)),
]
Change = Callable[[Path], object]


def _with_line(folder: Path, line: str) -> None:
    """Write sound probes, and a sound log in which one further line stands twice."""
    shutil.copytree(BUNDLED / "probes", folder / "probes")
    lines = [*map(json.dumps, RECORDS[:2]), line, json.dumps(RECORDS[2]), line, ""]
    (folder / LOG).write_text("\n".join(lines), "utf-8")


def with_value(folder: Path, record: int, field: str, value: str) -> None:
    line = json.dumps({**RECORDS[record], field: "HERE"}).replace('"HERE"', value)
    _with_line(folder, line)


def without_field(folder: Path, record: int, field: str) -> None:
    _with_line(folder, json.dumps({k: v for k, v in RECORDS[record].items() if k != field}))


def with_log(folder: Path, content: bytes) -> None:
    (folder / LOG).write_bytes(content)


def with_special_log(folder: Path, kind: str) -> None:
    bounds.put_special(folder / LOG, kind)


def with_special_probe(folder: Path, kind: str) -> None:
    _with_line(folder, "")
    bounds.put_special(folder / "probes" / "step-00000003-sentence-1.npz", kind)


def with_many_probes(folder: Path) -> None:
    _with_line(folder, "")
    for number in range(4_000):
        (folder / "probes" / f"step-{number:08d}-sentence-9.npz").touch()


def with_damage(folder: Path, file: int, **damage: Any) -> None:
    """Copy a sound folder, change bytes of one file and cut it."""
    shutil.copytree(BUNDLED / "probes", folder / "probes")
    shutil.copyfile(BUNDLED / LOG, folder / LOG)
    files = [folder / LOG, *sorted((folder / "probes").iterdir())]
    bounds.change_bytes(files[file % len(files)], **damage)


RECORD, FIELD = st.integers(0, 2), sampled_from(FIELDS)
FOLDERS = st.one_of(
    bounds.calls(with_value, record=RECORD, field=FIELD, value=sampled_from(VALUES)),
    bounds.calls(without_field, record=RECORD, field=FIELD),
    bounds.calls(_with_line, line=sampled_from(LINES)),
    bounds.calls(with_log, content=sampled_from(LOGS) | st.binary()),
    bounds.calls(with_special_log, kind=sampled_from(bounds.SPECIAL)),
    bounds.calls(with_special_probe, kind=sampled_from(bounds.SPECIAL)),
    bounds.calls(
        with_damage, file=st.integers(0, 99), places=bounds.BYTES, end=st.just(1.0) | bounds.PLACE
    ),
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(RUNS_VARIABLE, str(tmp_path))
    return tmp_path / "run"


def _read(run: Path) -> None:
    is_live(run)
    problems = [log_problem("run", load_log(run / LOG))]
    for sentence in runs.find(run):
        problems += runs.load_all(sentence)[2]
    for problem in filter(None, problems):
        event("a problem is named")
        bounds.assert_plain(problem)


def _training_page() -> None:
    from viz.app.sentence.sentence_bar import Bar
    from viz.pages import training

    training.PAGE.show(Bar())


@bounds.examples(5, 1_000)
@example(with_many_probes)
@given(FOLDERS)
def test_a_folder_is_read_or_refused(run: Path, make: Change) -> None:
    run.mkdir()
    try:
        make(run)
        with bounds.no_errors_logged(), bounds.accepted_or_refused():
            _read(run)
    finally:
        shutil.rmtree(run)


@bounds.examples(1, 300)
@given(FOLDERS)
def test_the_page_draws_the_folder_or_says_what_is_wrong(run: Path, make: Change) -> None:
    run.mkdir()
    try:
        make(run)
        for view, menu in (("Curves", "runs"), ("Heads forming", "forming_run")):
            app = AppTest.from_function(_training_page, default_timeout=30)
            app.query_params["training_view"] = view
            app.query_params[menu] = "runs/run"
            with bounds.no_errors_logged():
                app.run()
            assert [box.message for box in app.exception] == []
            texts = {text.value for text in app.text if text.value.endswith(".")}
            event("refused" if texts else "accepted")
    finally:
        shutil.rmtree(run)
