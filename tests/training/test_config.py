"""A run's TOML: what it says is taken, what it cannot mean is refused by name."""

from pathlib import Path

import pytest

from training.config import RunConfig
from transformer.errors import ConfigError

CONFIGS = Path(__file__).parents[2] / "training" / "configs"


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_configuration_that_comes_along_is_valid(path: Path) -> None:
    config = RunConfig.load(path)
    assert config.recipe.steps > 0
    assert RunConfig.from_dict(config.to_dict()).model.d_model == config.model.d_model


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[model\n", "is not valid TOML"),
        ("[modell]\nN = 1", r"no table \[modell\]"),
        ("[model]\nlayers = 3", r"\[model\] has no field 'layers'"),
        ('[model]\npreset = "huge"', "must be one of base, big, demo"),
        ('[model]\npreset = "demo"\nh = 7', "d_model = 256 cannot be divided among h = 7"),
        ("[training]\nstep = 3", r"\[training\] has no field 'step'"),
        ("[training]\nsteps = 0", r"\[training\] steps = 0 must be above 0"),
        ('[training]\nwarmup = "long"', r"\[training\] warmup = 'long' must be a whole number"),
        ("[training]\npatience = -1", r"\[training\] patience = -1 must be 0 or more"),
        ("[training]\nbpe_dropout = 1.0", "bpe_dropout = 1.0 must be below 1"),
        ("[training]\ncompile = 1", r"\[training\] compile = 1 must be true or false"),
        ("[training]\nsteps = true", r"\[training\] steps = True must be a whole number"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=sentence):
        RunConfig.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml cannot be read"):
        RunConfig.load(tmp_path / "none.toml")
