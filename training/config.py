"""A run as one TOML file: model, vocabulary and recipe (§5)."""

import dataclasses
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from transformer.config import TransformerConfig
from transformer.errors import ConfigError, quoted, reading
from transformer.files.documents import DocumentError, field_types, from_json
from transformer.files.reading import MIB, read_bytes

CONFIGS = Path(__file__).parent / "configs"  # what comes along, in a wheel as in a checkout

_Count: TypeAlias = Annotated[int, 0, 10**9]
_Positive: TypeAlias = Annotated[int, 1, 10**9]
MIN, MAX = sys.float_info.min, sys.float_info.max


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Training settings; the defaults are the paper's values (§5)."""

    steps: _Positive = 100_000  # updates of the weights
    batch_tokens: _Positive = 25_000  # padded, on each side, in one update of all processes
    # What one process computes at one time, at most, as the memory of its device allows. It changes
    # neither the order of the text nor, beyond rounding and the draws of dropout, what is learnt.
    micro_batch_tokens: _Positive = 25_000
    warmup: _Positive = 4_000  # steps on which the learning rate rises (§5.3)
    lr_factor: Annotated[float, MIN, MAX] = 1.0  # multiplies the paper's learning rate
    cooldown: _Count = 0  # last steps, on which the rate falls linearly to 0; not in the paper
    max_pieces: _Positive = 128  # longer training sentences are left out, and counted
    bf16: bool = True  # matrix products in bfloat16 by autocast
    gpus: _Count = 0  # GPUs that these sizes are for; 0 where a CPU trains in hours, too
    seed: _Count = 1  # of the weights, the order of the text and dropout
    log_every: _Positive = 50  # steps between lines of the run log
    save_every: _Positive = 1_000  # steps between checkpoints
    validate_every: _Positive = 1_000  # steps between measurements on the validation text
    validate_sentences: _Positive = 500  # validation sentences that are translated for BLEU
    average: _Positive = 5  # of so many last checkpoints in the end (§6.1)
    compile: bool = False  # fuse each layer by torch.compile; worth the compile time on a GPU
    r_drop: Annotated[float, 0, MAX] = 0.0  # α of R-Drop, which is not in the paper; 0 for none
    depth_scaled: bool = False  # divide the first weights of layer l by √l; not in the paper

    def __post_init__(self) -> None:
        """Refuse values without a meaning, such as a number too large to compute with."""
        try:
            for name, form in field_types(Recipe).items():
                from_json(form, getattr(self, name), name)
        except DocumentError as error:
            raise ConfigError(f"[training] {error}.") from error


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Everything that determines a run, except the text."""

    model: TransformerConfig
    recipe: Recipe

    def __post_init__(self) -> None:
        """Refuse a `max_pieces` above the model's `max_length`."""
        if self.recipe.max_pieces > self.model.max_length:
            raise ConfigError(
                f"[training] max_pieces = {self.recipe.max_pieces} must not be above [model] "
                f"max_length = {self.model.max_length}: lower it, or raise max_length."
            )

    @classmethod
    def load(cls, path: Path) -> "RunConfig":
        """Read a run's TOML file; its fields replace those of the file that it `extends`."""
        document = _read_toml(path)
        if (name := document.pop("extends", None)) is not None:
            if not isinstance(name, str):
                raise ConfigError(f"{path} says extends = {quoted(name)}: name a TOML file.")
            base = _read_toml(path.parent / name)
            if "extends" in base:
                raise ConfigError(f"{path} extends {name}, which extends another file: name that.")
            for table in base.keys() & document.keys():
                if isinstance(base[table], dict) and isinstance(document[table], dict):
                    document[table] = base[table] | document[table]
            document = base | document
        return cls.from_dict(document)

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> "RunConfig":
        """Build from the two tables `[model]` and `[training]`."""
        if unknown := sorted(set(document) - {"model", "training"}):
            raise ConfigError(
                f"The run configuration has no table [{unknown[0]}]; it has [model] and [training]."
            )
        for table, content in document.items():
            if not isinstance(content, dict):
                raise ConfigError(
                    f"{table} = {quoted(content)} must be a table: write [{table}] above it."
                )
        model = dict(document.get("model", {}))
        name = model.pop("preset", "base")
        presets = {name: getattr(TransformerConfig, name) for name in ("base", "big", "demo")}
        if not isinstance(name, str) or name not in presets:
            raise ConfigError(
                f"[model] preset = {quoted(name)} must be one of {', '.join(presets)}."
            )
        recipe = document.get("training", {})
        for table, fields, kind in (
            ("model", model, TransformerConfig),
            ("training", recipe, Recipe),
        ):
            known = sorted(field.name for field in dataclasses.fields(kind))
            if unknown := sorted(set(fields) - set(known)):
                raise ConfigError(
                    f"[{table}] has no field {quoted(unknown[0])}; it has {', '.join(known)}."
                )
        return cls(model=presets[name](**model), recipe=Recipe(**recipe))

    def to_dict(self) -> dict[str, Any]:
        """Return both tables as plain values."""
        return {"model": self.model.to_dict(), "training": dataclasses.asdict(self.recipe)}


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        with reading(path, ConfigError):
            return tomllib.loads(read_bytes(path, MIB).decode("utf-8"))
    except RecursionError as error:
        raise ConfigError(f"{path} nests its lists too deeply: write it anew.") from error
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise ConfigError(f"{path} is not valid TOML: {error}.") from error


def config_file(name: str) -> Path:
    """Find the configuration of a command: a path, or a name in `CONFIGS`."""
    path, bundled = Path(name), CONFIGS / name
    return bundled if bundled.is_file() and not path.exists() else path
