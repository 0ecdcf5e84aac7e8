"""Every list of every file that is read, emptied, cut short and made longer.

Each file is refused when it is read, or all that is drawn of it can be drawn.
"""

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.viz.pages.roles import made_reports
from transformer import AttentionTrace, CheckpointError, Languages, Translator, kinds
from transformer.corpus import head_report, similar_heads
from viz import notebook, report
from viz.pages.roles import corpus_map, removal_controls

pytestmark = pytest.mark.slow

Draw = Callable[[], object]


def changed(values: Any) -> Iterator[tuple[str, Any]]:
    """Copies with one list, table or text changed, each with its place; of a list, the first."""
    for place, keys in _places(values, ()):
        for name in ("emptied", "shorter", "longer"):
            whole = copy.deepcopy(values)
            holder = whole
            for key in keys[:-1]:
                holder = holder[key]
            part = holder[keys[-1]]
            if isinstance(part, dict):
                part = dict([*part.items()][:-1]) if name == "shorter" else {}
            else:
                part = {"emptied": part[:0], "shorter": part[:-1], "longer": part + part[-1:]}[name]
            holder[keys[-1]] = part
            yield f"{place} {name}", whole


def _places(values: Any, keys: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    if isinstance(values, (dict, list, str)) and keys:
        yield ".".join(map(str, keys)), keys
    if isinstance(values, dict):
        for key, value in values.items():
            yield from _places(value, (*keys, key))
    elif isinstance(values, list):
        for number, value in enumerate(values[:1]):
            yield from _places(value, (*keys, number))


def require_refused_or_drawn(read: Callable[[], Draw | None]) -> bool:
    """Return whether our error refuses a file; what it is drawn with raises nothing otherwise."""
    try:
        draw = read()
    except CheckpointError:
        return True
    if draw is not None:
        draw()
    return False


def test_a_trace(tmp_path: Path) -> None:
    rows = np.full((2, 2, 3, 3), 1 / 3, np.float32)
    pair = AttentionTrace.from_arrays(
        encoder_self=[rows[0], rows[0, :1]],
        cross=rows[:, :, :2],
        source_tokens=["[CLS]", "fris", "##bee"],
        target_tokens=["一", "二"],
        languages=Languages("French", "", ("deu", "fra")),
        second_start=1,
    )
    path = tmp_path / "trace.npz"

    def read() -> Draw:
        trace = AttentionTrace.load(path)
        return lambda: (notebook.explore(trace), report.report(trace), trace.to_frame())

    refused = {place: require_refused_or_drawn(read) for place in files_of(pair, path)}
    assert refused["source_pieces emptied"]
    assert not refused["read_pieces emptied"]
    assert not refused["source emptied"]


def files_of(trace: AttentionTrace, path: Path) -> Iterator[str]:
    """Write the trace with each of its lists and arrays changed in turn."""
    trace.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    for place, other in changed(json.loads(str(arrays["words"]))):
        np.savez(path, **{**arrays, "words": np.array(json.dumps(other))})
        yield place
    for name, array in arrays.items():
        for axis in range(array.ndim):
            for change in (array.take([], axis), array.take(range(1, array.shape[axis]), axis)):
                np.savez(path, **{**arrays, name: change})
                yield f"{name} {change.shape}"


@pytest.fixture
def folder(checkpoint_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(checkpoint_folder, tmp_path / "model"))


def test_the_report_of_the_heads(folder: Path, translator: Translator) -> None:
    config = translator.model.config
    whole = json.loads(head_report.to_json(made_reports.head_report_of(translator)))

    def read() -> Draw:
        report = head_report.read(folder, config)
        assert report is not None

        def draw() -> None:
            for quantity in corpus_map.QUANTITIES:
                cells = corpus_map.report_cells(report, quantity)
                for kind in kinds.KINDS:
                    assert corpus_map.spoken_table(cells[kind], kind, quantity)
            for figures in (report.heads[0], report.heads[-1]):
                assert corpus_map.role_text(figures)
                assert corpus_map.interval_verdict(figures, report.sentences)
                assert corpus_map.importance_text(report, figures)
                assert all(starmap(corpus_map.with_interval, figures.measures.items()))
                assert similar_heads.nearest_by_measures(report, figures.place, 5)
            for curve in report.curves.values():
                assert all(
                    removal_controls._note(report, curve, at) for at in range(len(curve.order) + 1)
                )
                assert removal_controls.curve_chart(curve, 0).data is not None

        return draw

    refused = {}
    for place, other in changed(whole):
        (folder / head_report.FILE).write_text(json.dumps(other))
        refused[place] = require_refused_or_drawn(read)
    for place in ("heads", "heads.0.measures", "curves.gradient.order", "curves.gradient.points"):
        assert refused[f"{place} emptied"], place
        assert refused[f"{place} shorter"], place
    assert not refused["heads.0.examples emptied"]
