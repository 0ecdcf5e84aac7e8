"""Hostile TOML is refused, or gives a model of countable size and a finite learning rate."""

import dataclasses
import math
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz import bounds
from training.config import Recipe, RunConfig
from training.schedule import cooldown_left, learning_rate
from transformer import TransformerConfig, shapes

FIELDS = [
    *(("model", field.name) for field in dataclasses.fields(TransformerConfig)),
    *(("model", name) for name in ("preset", "layers", "x" * 10_000)),
    *(("training", field.name) for field in dataclasses.fields(Recipe)),
    ("training", "step"),
]
VALUES = [
    *"0 -1 1 2 7 8 64 1000000000 1000000001 9223372036854775808 0.5 1e308 1e999 -1e308".split(),
    *'5e-324 nan inf -inf true false "" "base" [] [1] {} 1979-05-27 07:32:00'.split(),
    *("1" + "0" * 400, "9" * 5_000, "0x" + "f" * 5_000, "-" + "9" * 400, f'"{"x" * 10_000}"'),
    *("{a = 1}", "[" * 5_000 + "]" * 5_000, "'\\u0000'", '"\\u0007"'),
]
WHOLE = [
    *(b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf[model]\n", b"[model]\n[model]\n", b"model = 1\n"),
    *(b"[training]\n" * 2, b"[[model]]\n", b"[model.training]\nN = 1\n", b"[" * 100_000),
    *(b"a" * 2**21, b"[other]\nx = 1\n", b"[model\n", b"\x1b[31m = 1", b"{}", b"null"),
    *(b"[model]\nN = 1\nN = 2\n", b"[" + b"x." * 20_000 + b"x]\n"),
]


def _toml(lines: list[tuple[tuple[str, str], str]]) -> bytes:
    tables: dict[str, str] = {"model": "", "training": ""}
    for (table, name), value in lines:
        tables[table] += f"{name} = {value}\n"
    return "".join(f"[{table}]\n{text}" for table, text in tables.items()).encode()


LINE = st.tuples(st.sampled_from(FIELDS), st.sampled_from(VALUES))
MIXED = st.lists(LINE, min_size=1, max_size=8, unique_by=lambda line: line[0]).map(_toml)


@bounds.examples(40, 1_500)
@given(st.sampled_from(WHOLE) | st.binary() | MIXED)
def test_a_configuration_is_sound_or_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.toml"
    path.write_bytes(content)
    with bounds.accepted_or_refused():
        config = RunConfig.load(path)
        shapes.refuse_too_large(config.model)
        assert shapes.number_of_parameters(config.model) > 0
        recipe = config.recipe
        for step in (1, recipe.steps):
            left = cooldown_left(step, recipe.steps, recipe.cooldown)
            rate = learning_rate(step, config.model.d_model, recipe.warmup, recipe.lr_factor, left)
            assert 0 <= rate < math.inf
        assert RunConfig.from_dict(config.to_dict()) == config
