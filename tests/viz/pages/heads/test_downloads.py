"""What a file holds is what was on the screen, to the last digit."""

import io

import numpy as np
import pandas as pd

from benchmarks.made_trace import made_trace
from transformer import AttentionTrace
from viz.draw.open_head import heads, open_map
from viz.pages.heads.downloads import csv, npz


def test_a_csv_holds_each_weight_beside_its_two_tokens() -> None:
    shown = open_map(heads(made_trace(5, 2, 3, 0), "cross", words=False, special=True), 1, 2)
    frame = pd.read_csv(io.BytesIO(csv(shown)))
    assert len(frame) == 25
    query, key = frame["query"].to_numpy(), frame["key"].to_numpy()
    weight = frame["weight"].to_numpy(np.float32)
    np.testing.assert_array_equal(weight, shown.weights[query, key])
    assert list(frame["query_token"]) == [shown.labels.queries[n] for n in query]
    assert list(frame["key_token"]) == [shown.labels.keys[n] for n in key]
    assert list(zip(query, key, strict=True)) == list(np.ndindex(5, 5))


def test_tokens_of_any_kind_survive_the_csv(translator) -> None:
    trace = translator.trace('He said: "no, not 1,5", NA and\tnull.', "Nein.")
    shown = open_map(heads(trace, "encoder_self", words=True, special=True), 0, 0)
    frame = pd.read_csv(io.BytesIO(csv(shown)), keep_default_na=False)
    assert tuple(frame.key_token[: len(shown.labels.keys)]) == shown.labels.keys


def test_an_npz_is_a_trace_again(tmp_path) -> None:
    trace = made_trace(5, 2, 3, 0)
    path = tmp_path / "trace.npz"
    path.write_bytes(npz(trace))
    again = AttentionTrace.load(path)
    np.testing.assert_array_equal(again.decoder_self, trace.decoder_self)
    assert again.source_pieces == trace.source_pieces
