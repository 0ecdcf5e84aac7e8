"""COMET, a learned metric (Rei et al. 2020), by the package unbabel-comet where it is installed."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from transformer.errors import CheckpointError, ConfigError

REQUIREMENT = "unbabel-comet>=2.2,<3"
BATCH_SIZE = 16


class Comet:
    """A COMET model of a local folder; nothing is downloaded.

    Args:
        path: the `checkpoints/model.ckpt` of a folder that also holds its `hparams.yaml`.

    Raises:
        ConfigError: if the package is not installed; it says how it would be.
        CheckpointError: if there is no such file, or the package cannot load it.
    """

    def __init__(self, path: Path) -> None:
        comet = _package()
        if not path.is_file():
            raise CheckpointError(
                f"{path} is no file: give the checkpoint of a COMET model, such as "
                f"checkpoints/model.ckpt in its folder."
            )
        self.path = path
        try:
            self._model: Any = comet.load_from_checkpoint(str(path), local_files_only=True)
        except Exception as error:  # whatever is wrong with the file, the package raises anything
            raise CheckpointError(
                f"COMET cannot load {path}: {type(error).__name__}, {error}".rstrip(".") + "."
            ) from error

    def score(
        self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str]
    ) -> float:
        """Return the mean score of all sentences, near 1 for good translations."""
        lines = zip(sources, translations, references, strict=True)
        prediction = self._model.predict(
            [{"src": source, "mt": mt, "ref": ref} for source, mt, ref in lines],
            batch_size=BATCH_SIZE,
            gpus=int(torch.cuda.is_available()),
            progress_bar=False,
        )
        return float(prediction.system_score)


def _package() -> ModuleType:
    try:
        return importlib.import_module("comet")
    except ImportError as error:
        raise ConfigError(f"COMET is not installed: run pip install '{REQUIREMENT}'.") from error
