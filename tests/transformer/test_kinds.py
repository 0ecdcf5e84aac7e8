"""The names of attention, and that what needs no torch loads without it."""

import subprocess
import sys

import pytest

import transformer
from transformer import Transformer
from transformer.attention import MultiHeadAttention
from transformer.kinds import KINDS, attention_name, kind_of


def test_every_kind_names_an_attention_module_in_each_layer(model: Transformer) -> None:
    named = {attention_name(kind, layer): kind for kind in KINDS for layer in range(model.config.N)}
    modules = {name for name, part in model.named_modules() if isinstance(part, MultiHeadAttention)}
    assert named.keys() == modules
    for point in model.hook_points():
        assert kind_of(point) == named.get(point.rpartition(".")[0])


def test_what_needs_no_torch_loads_without_it() -> None:
    statement = "import transformer.text.tokenizer, training.schedule, training.run.journal"
    statement += "; from transformer import KINDS, Kind, TransformerConfig, HeadlightError"
    # a module that is None cannot be imported: ImportError where somebody tries
    block = "import sys; sys.modules['torch'] = sys.modules['pandas'] = None"
    process = subprocess.run(
        [sys.executable, "-c", f"{block}; {statement}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert process.returncode == 0, process.stderr


def test_every_public_name_is_there_and_another_is_an_attribute_error() -> None:
    assert set(transformer.__all__) <= set(dir(transformer))
    for name in transformer.__all__:
        assert getattr(transformer, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        transformer.Nonsense  # type: ignore[attr-defined]  # noqa: B018
