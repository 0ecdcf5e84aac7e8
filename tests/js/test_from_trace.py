"""Pictures that the browser makes of a trace: every text and number is as Python has it.

Player and links are stored as Python once encoded them: HEADLIGHT_RENEW=1 renews `pictures.json`.
"""

import base64
import gzip
import json
import os
import subprocess
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.viz.draw.message import words_of
from transformer import Translator
from transformer.analysis.alignment import aligned_shares, strongest
from transformer.analysis.alignment_settings import AlignmentSettings, read_alignment
from transformer.files.installed import BUNDLED_BY_NAME
from transformer.text.languages import Languages
from viz.draw import explorer, watched, wire
from viz.draw.attention_map import MapAxes
from viz.draw.caption import Origin
from viz.draw.heads_view import ExplorerOptions, HeadsView
from viz.draw.trace_message import about, kept_beginnings, trace_fields

HERE = Path(__file__).parent
STORED = HERE / "pictures.json"
WHOLE_LAYER = AlignmentSettings(2, None, "writes", "weights", "mutual")


def golden(translator: Translator, text: str, settings: AlignmentSettings) -> bytes:
    translation = translator.translate(text, tree=True)
    trace = translator.trace_of(translation)
    origin = Origin.from_translator(translator, trace.source, trace.target)
    mutual = strongest(aligned_shares(translator, trace, settings), "mutual")
    pieces = [piece.text for piece in trace.target_pieces]
    steps = watched.search_steps(translator.score(text, pieces, alternatives=watched.OPTIONS))
    opened = watched.watched_heads(trace, mutual)["cross"]
    options = ExplorerOptions(*opened)
    page = explorer.encode_page(trace, options, origin)
    roles = {part.kind: part.roles for part in HeadsView(trace, options).parts}
    assert translation.tree is not None
    every = [MapAxes.of(trace, kind) for kind in trace.kinds]
    every += [replace(axes, reads=None, writes=None) for axes in every]
    every += [replace(axes, alone=True) for axes in every]
    every += [replace(axes, by_read=True, languages=Languages("", "")) for axes in every]
    message = {
        "axes": [(axes.message, words_of(axes.message)) for axes in every],
        "trace": trace_fields(
            trace, steps, beginnings=kept_beginnings(translation.tree, translator.target_tokenizer)
        ),
        "about": {**about(trace.languages, origin.made_by, settings), "roles": roles},
        "opened": opened,
        "explorer": gzip.decompress(base64.b64decode(page.message)),
    }
    return wire.encode(message)


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return dict(chain(*(leaves(part, f"{path}.{name}").items() for name, part in items)))
    return {path: value}


@pytest.mark.slow
def test_pictures_of_a_trace_are_those_that_python_encodes(node: list[str], tmp_path: Path) -> None:
    stored = json.loads(STORED.read_text("utf-8"))
    loaded = {name: Translator.load(folder) for name, folder in BUNDLED_BY_NAME.items()}
    files: list[Path] = []
    for case in stored:
        translator = loaded[case["model"]]
        settings = WHOLE_LAYER if case.get("layer") else read_alignment(translator)
        files.append(tmp_path / f"{len(files)}")
        files[-1].write_bytes(golden(translator, case["text"], settings))
    script = HERE / "from_trace.mjs"
    run = subprocess.run([*node, str(script), *map(str, files)], capture_output=True, check=True)
    made = json.loads(run.stdout)
    if os.environ.get("HEADLIGHT_RENEW") == "1":
        lines = [json.dumps({**case, "player": new["player"], "links": new["links"]},
                 ensure_ascii=False) for case, new in zip(stored, made, strict=True)]  # fmt: skip
        STORED.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
        return
    for case, new in zip(stored, made, strict=True):
        assert new["differences"] == {}
        assert new["numbers"] > 10**4
        for name in ("player", "links"):
            there, here = leaves(case[name]), leaves(new[name])
            assert there.keys() - here.keys() == set()
            for path, value in there.items():
                if isinstance(value, float):
                    assert np.isclose(here[path], value, atol=2e-4), path
                else:
                    assert here[path] == value, path
