"""A MarianMT folder as a checkpoint."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import torch

from transformer.checkpoints.checkpoint import MANIFEST, Checkpoint
from transformer.checkpoints.marian.config import (
    CONFIG,
    MOST_BYTES_OF_JSON,
    MarianConfig,
    read_languages,
)
from transformer.checkpoints.marian.tokenizer import SOURCE_SPM, VOCABULARY, read_tokenizers
from transformer.checkpoints.marian.weights import (
    INDICES,
    PICKLED,
    has_learned_positions,
    parameters,
    stored_positions,
    stored_weights,
)
from transformer.files.reading import read_bytes
from transformer.model import Transformer


def is_marian(folder: Path) -> bool:
    """Return whether a folder has the layout of the hub, which `load` then reads or refuses."""
    try:
        if (folder / MANIFEST).exists():
            return False
        if any((folder / name).exists() for name in (VOCABULARY, SOURCE_SPM, PICKLED, *INDICES)):
            return True
        config = json.loads(read_bytes(folder / CONFIG, MOST_BYTES_OF_JSON))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(config, dict) and "model_type" in config


@torch.inference_mode(mode=False)  # tensors of that mode do not know when they are changed
def load(folder: Path) -> Checkpoint:
    """Read a MarianMT folder; the model is in evaluation mode and in float32."""
    digest = hashlib.sha256()
    config = MarianConfig.read(folder, digest)
    source, target = read_tokenizers(folder, config, digest)
    languages = read_languages(folder, source.vocabulary.codes, digest)
    separate = source.vocabulary is not target.vocabulary
    ours = config.ours(target.vocab_size, source.vocab_size, separate=separate)
    with stored_weights(folder, ours, config, digest) as stored:
        if has_learned_positions(stored, config):
            ours = replace(ours, positions="learned")
        model = Transformer.unfilled(ours)
        model.fill(parameters(ours, stored, config, source.vocabulary, target.vocabulary))
        for name, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
            if (table := stored_positions(stored, config, name)) is not None:
                # the formula's, too, were rounded where they were stored in 16 bits
                stack.embedding.positions.data.copy_(table)
    return Checkpoint(model.eval(), source, folder, digest.hexdigest(), target, languages)
