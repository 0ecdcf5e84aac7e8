"""The JavaScript's own tests, and that the two ends of the wire agree."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from viz.draw.wire import DTYPES, encode

HERE = Path(__file__).parent


@pytest.mark.slow
def test_under_node(node):
    run = subprocess.run([*node, str(HERE / "all.mjs")], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "# pass" in run.stdout


def decoded(node, folder, message):
    path = folder / "message"
    path.write_bytes(encode(message))
    command = [*node, str(HERE / "decode.mjs"), str(path)]
    run = subprocess.run(command, capture_output=True, check=True)
    return json.loads(run.stdout)


TYPED = {name: f"{name.capitalize()}Array" for name in DTYPES}


def test_javascript_reads_what_python_writes(node, tmp_path):
    arrays = {name: np.array([[0, 1, 100]], dtype=name) for name in DTYPES}
    arrays |= {
        "empty": np.zeros((0, 5), dtype=np.float32),
        "one": np.array(0.1),
        "transposed": np.arange(6, dtype=np.int16).reshape(2, 3).T,
        "other end first": np.array([1, 256], dtype=">u2"),
        "exact": np.array([1 / 3, 1e-38, -0.0], dtype=np.float32),
    }
    texts = ["é", "👩‍🚀", "\ud83d", "\ude80 \ud83d", '"\\\n\u2028', "שלום"]
    inner = {"texts": texts, "none": None}
    results = decoded(node, tmp_path, {"arrays": arrays, "inner": encode(inner), **inner})
    assert results["plain"] == {"inner": inner, **inner}
    for name, array in arrays.items():
        assert results["arrays"][name]["type"] == TYPED[array.dtype.name]
        there = np.array([float(value) for value in results["arrays"][name]["values"]])
        assert (there == array.astype(np.float64).ravel()).all(), name
