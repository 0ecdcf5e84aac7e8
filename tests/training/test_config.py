"""A run's TOML: what it says is taken, what it cannot mean is refused by name."""

import math
import os
from dataclasses import replace
from pathlib import Path

import pytest

from training.config import CONFIGS, RunConfig, config_file
from transformer.errors import ConfigError
from transformer.shapes import number_of_parameters

# Table 3: parameters in millions, and what the row changes
TABLE_3: dict[str, tuple[float, dict[str, object]]] = {
    "base": (65, {}),
    "big": (213, {"d_model": 1024, "d_ff": 4096, "h": 16, "d_k": 64, "d_v": 64, "P_drop": 0.3}),
    "table3/base": (65, {}),
    "table3/a-h1": (65, {"h": 1, "d_k": 512, "d_v": 512}),
    "table3/a-h4": (65, {"h": 4, "d_k": 128, "d_v": 128}),
    "table3/a-h16": (65, {"h": 16, "d_k": 32, "d_v": 32}),
    "table3/a-h32": (65, {"h": 32, "d_k": 16, "d_v": 16}),
    "table3/b-d_k16": (58, {"d_k": 16}),
    "table3/b-d_k32": (60, {"d_k": 32}),
    "table3/c-N2": (36, {"N": 2}),
    "table3/c-N4": (50, {"N": 4}),
    "table3/c-N8": (80, {"N": 8}),
    "table3/c-d_model256": (28, {"d_model": 256, "d_k": 32, "d_v": 32}),
    "table3/c-d_model1024": (168, {"d_model": 1024, "d_k": 128, "d_v": 128}),
    "table3/c-d_ff1024": (53, {"d_ff": 1024}),
    "table3/c-d_ff4096": (90, {"d_ff": 4096}),
    "table3/d-P_drop0": (65, {"P_drop": 0.0}),
    "table3/d-P_drop0.2": (65, {"P_drop": 0.2}),
    "table3/d-epsilon_ls0": (65, {"epsilon_ls": 0.0}),
    "table3/d-epsilon_ls0.2": (65, {"epsilon_ls": 0.2}),
    "table3/e-learned": (math.nan, {"positions": "learned"}),
}


def _name(path: Path) -> str:
    return path.relative_to(CONFIGS).with_suffix("").as_posix()


def _millions(name: str, vocab_size: int) -> float:
    config = RunConfig.load(CONFIGS / f"{name}.toml").model
    return number_of_parameters(replace(config, vocab_size=vocab_size)) / 1e6


def test_every_row_of_table_3_is_there_and_changes_what_the_paper_changes() -> None:
    for path in CONFIGS.rglob("*.toml"):
        assert RunConfig.load(path).recipe.steps > 0
    rows = {_name(path) for path in CONFIGS.glob("table3/*.toml")}
    assert rows == {*TABLE_3, "table3/base"} - {"base", "big"}
    base = RunConfig.load(CONFIGS / "base.toml")
    for name, (_, changes) in TABLE_3.items():
        config = RunConfig.load(CONFIGS / f"{name}.toml")
        assert config.model.to_dict() == base.model.to_dict() | changes, name
        assert RunConfig.from_dict(config.to_dict()).model == config.model, name
        if name in rows:
            assert config.recipe.average == 1, name  # §6.2: no checkpoint averaging
            for field in ("steps", "batch_tokens", "warmup", "lr_factor"):
                assert getattr(config.recipe, field) == getattr(base.recipe, field), name


def test_what_a_configuration_extends_holds_where_it_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "first.toml").write_text("[model]\nN = 2\nh = 4\n[training]\nsteps = 7\n")
    (tmp_path / "deeper").mkdir()
    second = tmp_path / "deeper" / "second.toml"
    second.write_text('extends = "../first.toml"\n[model]\nh = 2\n')
    config = RunConfig.load(second)
    assert (config.model.N, config.model.h, config.model.d_k) == (2, 2, 256)
    assert config.recipe.steps == 7


def test_english_french_is_trained_as_the_paper_says() -> None:
    for name, dropout in (("base", 0.1), ("big", 0.1)):  # big: instead of the 0.3 of German
        german, french = (RunConfig.load(CONFIGS / f"{name}{end}.toml") for end in ("", "-fr"))
        assert french.recipe == german.recipe
        shape = german.model.to_dict() | {"vocab_size": 32_000, "P_drop": dropout}
        assert french.model.to_dict() == shape


def test_base_and_big_are_trained_as_the_paper_says() -> None:
    base, big = (RunConfig.load(CONFIGS / f"{name}.toml") for name in ("base", "big"))
    for config, steps, average, minutes in ((base, 100_000, 5, 12 * 60), (big, 300_000, 20, 5040)):
        recipe = config.recipe
        assert (recipe.steps, recipe.average) == (steps, average)
        assert (recipe.batch_tokens, recipe.warmup, recipe.lr_factor) == (25_000, 4_000, 1.0)
        assert recipe.save_every == pytest.approx(steps * 10 / minutes, rel=0.01)
        assert config.model.vocab_size == 37_000


COUNTED = [name for name, (published, _) in TABLE_3.items() if published > 0 and name != "big"]


def test_parameters_equal_the_column_of_table_3() -> None:
    # The paper says "about 37000" pieces and gives no exact number. One size makes this model match
    # all these rows: 41,003 to 41,208. Only the big model asks for another.
    for name in COUNTED:
        assert round(_millions(name, 41_100)) == TABLE_3[name][0], name
    # 214.2 M at 37,000 pieces; the paper's 213 M would be 35,367 to 36,344 pieces
    assert _millions("big", 37_000) == pytest.approx(214.17, abs=0.01)
    assert round(_millions("big", 36_000)) == 213
    config = RunConfig.load(CONFIGS / "table3/e-learned.toml").model
    added = _millions("table3/e-learned", 37_000) - _millions("base", 37_000)
    assert added == pytest.approx(2 * config.max_length * config.d_model / 1e6)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[model\n", "is not valid TOML"),
        ("[modell]", r"has no table \[modell\]"),
        ("[model]\nlayers = 3", r"\[model\] has no field 'layers'"),
        ('[model]\npreset = "demo"\nh = 7', "d_model = 256 cannot be divided among h = 7"),
        ("model = 3", r"model = 3 must be a table: write \[model\] above it"),
        ("[training]\nlr_factor = nan", r"\[training\] says lr_factor = nan, which must be from"),
        (
            '[training]\nwarmup = "long"',
            r"\[training\] says warmup = 'long', which must",
        ),
        ("extends = 3", r"run\.toml says extends = 3: name a TOML file"),
        ('extends = "run.toml"', r"run\.toml extends run\.toml, which extends another file"),
        ('extends = "none.toml"', r"none\.toml cannot be read: No such file"),
        ('extends = "other.toml"\nmodel = 3', r"model = 3 must be a table"),
        (
            "[model]\nmax_length = 100\n[training]\nmax_pieces = 101",
            r"\[training\] max_pieces = 101 must not be above \[model\] max_length = 100",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "run.toml"
    path.write_text(text)
    (tmp_path / "other.toml").write_text("[model]\nN = 1")
    with pytest.raises(ConfigError, match=sentence):
        RunConfig.load(path)


@pytest.mark.timeout(20)
def test_a_missing_file_is_named_and_a_pipe_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.toml")
    for name, why in (("run", "it is not a regular file"), ("none", "No such file")):
        with pytest.raises(ConfigError, match=rf"{name}\.toml cannot be read: {why}"):
            RunConfig.load(tmp_path / f"{name}.toml")


def test_a_configuration_that_comes_along_is_found_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert config_file("table3/c-N2.toml") == CONFIGS / "table3/c-N2.toml"
    Path("demo.toml").touch()
    assert config_file("demo.toml") == Path("demo.toml")  # a file that is there comes first
    assert config_file("none.toml") == Path("none.toml")
    assert config_file("table3") == Path("table3")
