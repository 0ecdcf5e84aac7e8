"""MarianMT folders, as the Hugging Face hub publishes them, in our own model.

A Marian Transformer (Junczys-Dowmunt et al. 2018) is the paper's, post-norm without a norm after
the stacks, with some differences, each undone or configured here, so that nothing else knows them:

- positions are sines in the first half of d_model and cosines in the second. Nothing but the
  positions depends on the order of d_model, so every d_model axis is permuted once;
- projections and the softmax have biases, and the activation is often swish: fields of our config;
- the decoder starts with `<pad>`, and special pieces have other ids: rows are put where ours stand;
- each language may have a vocabulary and an embedding of its own, and the projection a matrix;
- the decoder may have other sizes than the encoder, and embeddings no scale: fields of our config;
- rows of the embedding may have no name: they are pieces, too.
"""

import hashlib
from pathlib import Path

import torch

from transformer.checkpoints.checkpoint import MANIFEST, Checkpoint
from transformer.checkpoints.marian import weights
from transformer.checkpoints.marian.config import (
    CONFIG,
    MAX_JSON_BYTES,
    MarianConfig,
    read_languages,
)
from transformer.checkpoints.marian.tokenizer import SOURCE_SPM, VOCABULARY, read_tokenizers
from transformer.checkpoints.other_files import advice
from transformer.errors import CheckpointError
from transformer.files import reading
from transformer.files.documents import parse_json
from transformer.model import Transformer


def is_marian(folder: Path) -> bool:
    """Return whether a folder has the layout of the hub, which `load` then reads or refuses."""
    try:
        if (folder / MANIFEST).exists():
            return False
        if any((folder / name).exists() for name in (VOCABULARY, SOURCE_SPM, weights.PICKLED)):
            return True
        config = parse_json(reading.read_bytes(folder / CONFIG, MAX_JSON_BYTES))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and "model_type" in config


@torch.inference_mode(mode=False)  # tensors of that mode do not know when they are changed
def load(folder: Path) -> Checkpoint:
    """Read a MarianMT folder; the model is in evaluation mode and in float32."""
    has_weights = weights.weights_file(folder).exists()
    if not has_weights and (sentence := advice(folder, "")):
        raise CheckpointError(sentence)
    digest = hashlib.sha256()
    config = MarianConfig.read(folder, digest)
    source, target = read_tokenizers(folder, config, digest)
    languages = read_languages(folder, source.vocabulary.codes, digest)
    separate = source.vocabulary is not target.vocabulary
    ours = config.ours(target.vocab_size, source.vocab_size, separate=separate)
    with weights.stored_weights(folder, ours, config, digest) as stored:
        model = Transformer.unfilled(ours)
        model.fill(weights.parameters(ours, stored, config, source.vocabulary, target.vocabulary))
        for name, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
            if (table := weights.stored_positions(stored, config, name)) is not None:
                # the formula's, too, were rounded where they were stored in 16 bits
                stack.embedding.positions.data.copy_(table)
    return Checkpoint(model.eval(), source, folder, digest.hexdigest(), target, languages)
