"""Positions (§3.5): frequencies and rotation, and what a model does when they are edited.

PE(pos, 2i) = sin(ω_i pos) and PE(pos, 2i + 1) = cos(ω_i pos) with ω_i = 10000^(-2i / d_model).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from transformer import choices, embedding
from transformer.analysis.heads import means
from transformer.analysis.teacher_forcing import forced_pair
from transformer.arrays import Floats, Ints, Singles
from transformer.errors import CheckpointError
from transformer.files import reading
from transformer.hooks import Hook
from transformer.model import Transformer
from transformer.trace import AttentionTrace
from transformer.translator import Translator

Stack = Literal["encoder", "decoder"]
Change = Literal["removed", "shuffled", "random"]
Formula = Literal["paper", "misprint"]


@choices.check_choices
def frequencies(d_model: int, formula: Formula = "paper") -> Floats:
    """Compute ω_i of each pair of dimensions, `[d_model / 2]`, in radians a position, 1 to 1e-4.

    A common misprint is pos / 10000^{2i} / d_model: from left to right, 10000^(-2i) / d_model.
    """
    two_i = np.arange(0, d_model, 2)
    if formula == "paper":
        return 10_000.0 ** (-two_i / d_model)
    return 10_000.0**-two_i / d_model


@choices.check_choices
def wavelengths(d_model: int, formula: Formula = "paper") -> Floats:
    """Compute 2π · 10000^(2i / d_model), `[d_model / 2]`, in positions: from 2π to 10000 · 2π."""
    with np.errstate(divide="ignore", over="ignore"):  # the misprint has ω = 0: an endless wave
        return 2 * np.pi / frequencies(d_model, formula)


@choices.check_choices
def exact_encoding(
    positions: npt.ArrayLike | Sequence[int], d_model: int, formula: Formula = "paper"
) -> Floats:
    """Compute the encoding, `[position, d_model]`, in float64; the model's own table is float32."""
    at = np.asarray(positions)
    angle = at[:, None] * frequencies(d_model, formula)  # [position, d_model / 2]
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(len(at), d_model)


def similarity(distances: npt.ArrayLike | Sequence[int], d_model: int) -> Floats:
    """Compute PE(p) · PE(p + k) = Σ_i cos(ω_i k) at distances k, `[distance]`; d_model / 2 at 0."""
    return np.cos(np.asarray(distances)[:, None] * frequencies(d_model)).sum(-1)


def dot_products(length: int, d_model: int) -> Floats:
    """Multiply each two rows of the model's table, `[position, position]`."""
    table = embedding.sinusoidal_positions(length, d_model).numpy().astype(np.float64)
    return table @ table.T


def similarity_error(products: Floats, d_model: int) -> float:
    """Measure the largest difference of products, `[position, position]`, from `similarity`."""
    length = len(products)
    at = np.arange(length)
    formula = similarity(np.arange(1 - length, length), d_model)
    return float(np.abs(products - formula[at - at[:, None] + length - 1]).max())


def cosines(table: Singles | Tensor) -> Floats:
    """Compute the cosine of the angle between each two rows of a table, `[row, row]`."""
    rows = np.asarray(table).astype(np.float64)
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows @ rows.T


def rotation(k: int, d_model: int) -> Floats:
    """Compute M_k with PE(pos + k) = M_k PE(pos) for each pos: a rotation by ω_i k of each pair.

    sin(a + b) = cos b sin a + sin b cos a and cos(a + b) = -sin b sin a + cos b cos a, so the block
    of pair i is [[cos ω_i k, sin ω_i k], [-sin ω_i k, cos ω_i k]]. `[d_model, d_model]`.
    """
    angle = k * frequencies(d_model)
    sine = np.arange(0, d_model, 2)  # index of the sine of each pair
    matrix = np.zeros((d_model, d_model))
    matrix[sine, sine] = matrix[sine + 1, sine + 1] = np.cos(angle)
    matrix[sine, sine + 1] = np.sin(angle)
    matrix[sine + 1, sine] = -np.sin(angle)
    return matrix


class RotationError(NamedTuple):
    """Largest |PE(pos + k) - M_k PE(pos)| over all dimensions and positions."""

    exact: float  # the error of the encoding in float64
    model: float  # the error of the float32 table that a model adds


def rotation_error(k: int, length: int, d_model: int) -> RotationError:
    """Measure the error of the rotation of positions 0 to length - 1 by k positions."""
    blocks = rotation(k, d_model).reshape(d_model // 2, 2, d_model // 2, 2)
    pair = np.arange(d_model // 2)
    turns = blocks[pair, :, pair]  # [pair, 2, 2], all of M_k that is not 0
    exact = exact_encoding(np.arange(length + k), d_model)
    model = embedding.sinusoidal_positions(length + k, d_model).numpy().astype(np.float64)
    errors = []
    for table in (exact, model):
        pairs = table[:length].reshape(length, d_model // 2, 2)
        turned = np.einsum("pij,npj->npi", turns, pairs).reshape(length, d_model)
        errors.append(float(np.abs(table[k:] - turned).max()))
    return RotationError(*errors)


@choices.check_choices
@dataclass(frozen=True)
class Edit:
    """A change of the positions that one or both stacks add to their tokens."""

    change: Change
    # A search writes the decoder's positions one by one: "shuffled" changes nothing there.
    stacks: tuple[Stack, ...]
    # the seed of `shuffled_order`, or the first of the "random" rows, as in a table never trained
    # so far
    number: int = 0

    def hooks(self) -> dict[str, Hook]:
        """Return the hooks of the edit, for `model.hooks(...)`."""

        def hook(positions: Tensor, _name: str) -> Tensor:
            if self.change == "removed":
                return torch.zeros_like(positions)
            if self.change == "shuffled":
                order = shuffled_order(positions.size(1), self.number)
                return positions[:, torch.from_numpy(order).to(positions.device)]
            # in a pass over the whole sequence
            drawn = torch.Generator().manual_seed(0)
            rows = torch.randn(positions.shape, generator=drawn) * 0.5**0.5
            rows[:, : self.number] = positions[:, : self.number]
            return rows.to(positions)

        return {f"{stack}.embedding.hook_positions": hook for stack in self.stacks}


def join_sentences(sentences: Sequence[str]) -> str:
    """Join sentences with commas into a long one."""
    first, *others = (sentence.rstrip(".!? ") for sentence in sentences)
    return ", ".join([first, *(other[:1].lower() + other[1:] for other in others)]) + "."


NO_EDIT = Edit("removed", ())  # edit that changes the positions of no stack


def shuffled_order(length: int, seed: int) -> Ints:
    """Shuffle the positions with a seed, `[length]`: the position that each token gets."""
    return np.random.default_rng(seed).permutation(length)


def edit_hooks(edit: Edit) -> dict[str, Hook]:
    """Return the hooks of an edit; see `Edit.hooks`."""
    return edit.hooks()


class EmbeddingParts(NamedTuple):
    """Input of the first layer of a stack, and its two summands; `[position, d_model]`."""

    tokens: Singles
    positions: Singles
    sum: Singles


@choices.check_choices
@torch.inference_mode()
def embedding_parts(model: Transformer, trace: AttentionTrace, stack: Stack) -> EmbeddingParts:
    """Compute embedding · √d_model, position, and their sum, of one side (§3.4, §3.5)."""
    pair = forced_pair(model, trace)
    _, cache = model.run_with_cache(
        pair.source, pair.target, names=lambda name: name.startswith(f"{stack}.embedding.")
    )
    parts = (cache[f"{stack}.embedding.hook_{part}"][0] for part in EmbeddingParts._fields)
    return EmbeddingParts(*(part.float().cpu().numpy() for part in parts))


def root_mean_squares(parts: EmbeddingParts) -> list[float]:
    """Compute the root of the mean square of each part, over all tokens and dimensions."""
    return [float(np.sqrt(np.mean(part.astype(np.float64) ** 2))) for part in parts]


class LongPair(NamedTuple):
    """A long sentence and its translation, joined from several."""

    sentences: int  # number of joined ones
    trace: AttentionTrace


def long_pair(translator: Translator, source: Path, target: Path, most: int) -> LongPair:
    """Join the first lines of a text and its translation, as many as the model reads."""
    lines = [file.read_text("utf-8").splitlines()[:most] for file in (source, target)]
    tokenizers = translator.tokenizer, translator.target_tokenizer
    longest = translator.model.config.max_length - 1  # without </s>, or <s>
    for count in range(len(lines[0]), 0, -1):
        texts = [join_sentences(side[:count]) for side in lines]
        pairs = zip(tokenizers, texts, strict=True)
        if all(len(tokenizer.pieces(text)) <= longest for tokenizer, text in pairs):
            break
    return LongPair(count, translator.trace(texts[0], target=texts[1]))


def mean_losses(log_p: Singles, window: int) -> Floats:
    """Compute the mean loss of each whole window of positions, `[window]`, in nats."""
    whole = log_p[: len(log_p) // window * window].astype(np.float64)
    return -whole.reshape(-1, window).mean(-1)


TABLE = "positions.safetensors"  # the file in the folder of a run
MAX_BYTES = 256 * reading.MIB


class LearnedPositions(NamedTuple):
    """The tables of a model with learned positions (Table 3, row E); `[max_length, d_model]`."""

    encoder: Singles
    decoder: Singles


def learned_positions(folder: Path) -> LearnedPositions:
    """Read the table of each stack from `positions.safetensors`."""
    path, advice = folder / TABLE, "copy the folder again."
    if not path.exists():
        raise CheckpointError(f"There are no learned positions: {path} is missing; {advice}")
    encoder, decoder = means.read_tables(path, ("encoder", "decoder"), MAX_BYTES, advice).values()
    shapes = [list(table.shape) for table in (encoder, decoder)]
    if shapes[0] != shapes[1] or len(shapes[0]) != 2 or 0 in shapes[0] or shapes[0][1] % 2:
        raise CheckpointError(
            f"{path} has tables of shape {shapes[0]} and {shapes[1]}, but those of positions are "
            f"[max_length, d_model] with an even d_model: {advice}"
        )
    return LearnedPositions(encoder.numpy(), decoder.numpy())
