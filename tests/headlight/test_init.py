"""The public names: each is the object of its module, and none is loaded before it is used."""

import subprocess
import sys
from pathlib import Path

import pytest

import headlight
from transformer import AttentionTrace
from transformer.analysis import lenses

ROOT = Path(__file__).parents[2]


def test_import_alone_loads_nothing():
    script = (
        "import sys; import headlight; dir(headlight); "
        "print(sorted({'numpy', 'torch', 'streamlit', 'transformer', 'viz'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[]\n"


def test_each_public_name_is_there_and_no_other():
    assert len(set(headlight.__all__)) == len(headlight.__all__) == 16
    for name in headlight.__all__:
        value = getattr(headlight, name)
        assert getattr(value, "__name__", name).rpartition(".")[2] == name
        assert vars(headlight)[name] is value  # found without `__getattr__` from now on
    assert [name for name in dir(headlight) if not name.startswith("__")] == sorted(
        headlight.__all__
    )
    assert headlight.lenses is lenses
    assert headlight.from_arrays == AttentionTrace.from_arrays
    with pytest.raises(AttributeError, match="'nothing'"):
        getattr(headlight, "nothing")  # noqa: B009 mypy knows that it is not there
