"""One translator for everybody, and what it found for a sentence."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import streamlit as st
import torch

from transformer import AttentionTrace, InputError, Translation, Translator
from transformer.translator import BUNDLED
from viz.numbers import alignedness

CHECKPOINT_VARIABLE = "HEADLIGHT_CHECKPOINT"
"""Environment variable that names another checkpoint folder than the bundled one."""

EXAMPLES = (
    "Two black dogs are running through the snow.",
    "A woman in a red coat is reading a newspaper on a bench.",
    "The children are playing football because the sun is shining.",
    "The man who lost his keys is waiting in front of the house.",
    "I did not know that she had bought the old book yesterday.",
    "A young man with a blue helmet is riding his bicycle down the street "
    "while two girls are watching him.",
)
MOST_PIECES = 256
"""Longest side of a map that is drawn: beyond it a cell is smaller than a pixel of the screen."""


def load() -> Translator:
    """The translator of this server.

    Raises:
        CheckpointError: naming the file and what is wrong with it.
    """
    named = os.environ.get(CHECKPOINT_VARIABLE, "").strip()
    return _load(str(Path(named).expanduser() if named else BUNDLED))


# an exception is not kept: a folder that is mended loads at the next look
@st.cache_resource(max_entries=2, show_spinner=False)
def _load(folder: str) -> Translator:
    # two threads on one sentence wait for each other; the cores are better used by two people
    torch.set_num_threads(1)
    return Translator.load(folder)


def translate(translator: Translator, text: str, beam_size: int) -> Translation:
    """Translate, or remember: everybody's last few hundred sentences are kept.

    Raises:
        InputError: if the text cannot be translated as it is.
    """
    return _translate(translator, translator.checksum, text, beam_size)


@st.cache_data(max_entries=256, show_spinner=False)
def _translate(
    _translator: Translator,
    checksum: str,  # noqa: ARG001  # names the model in the cache's key
    text: str,
    beam_size: int,
) -> Translation:
    return _translator.translate(text, beam_size=beam_size)


def trace(translator: Translator, translation: Translation) -> AttentionTrace:
    """What every head looked at; one forward pass, so it is computed afresh each time.

    Raises:
        InputError: if a side is too long for a map.
    """
    source, target = (
        len(translator.tokenizer.encode(translation.source)) + 1,
        len(translation.best.pieces),
    )
    if max(source, target) > MOST_PIECES:
        raise InputError(
            f"The maps are drawn for up to {MOST_PIECES} pieces a side, and this sentence has "
            f"{source:,} in English and {target:,} in German: shorten it to see them."
        )
    return translator.trace_of(translation)


def aligning_layer(translator: Translator) -> int:
    """The layer whose cross-attention, mean over heads, comes closest to an alignment of words."""
    return _aligning_layer(translator, translator.checksum)


@st.cache_data(max_entries=4, show_spinner=False)
def _aligning_layer(_translator: Translator, checksum: str) -> int:  # noqa: ARG001
    found = [alignedness(_translator.trace(text, beam_size=1).cross) for text in EXAMPLES]
    return int(np.mean(found, axis=0).argmax())
