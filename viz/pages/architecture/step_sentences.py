"""Sentences of the player, one for each box of Figure 1, with the numbers of this sentence."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from transformer import AttentionTrace, Transformer
from transformer.analysis.paper.flow import LOGITS, PROBABILITIES, Floats, Flow
from transformer.analysis.sinks import are_sinks
from viz.draw.formatting import counted, format_number, format_probability, per_cent
from viz.draw.labels import capitalised, display_tokens, quoted
from viz.draw.player import WINDOW, SearchStep
from viz.pages.architecture.boxes import Box

OVER_VOCABULARY = (LOGITS, PROBABILITIES)
"""Values with a column for each piece of the translation."""


class Scene(NamedTuple):
    """Tensors of a sentence and its translation, at one layer of each stack."""

    model: Transformer
    trace: AttentionTrace
    tensors: Flow
    layers: Mapping[str, int]

    def layer(self, box: Box) -> int:
        """Return the layer at which a box is drawn, from 0."""
        return self.layers[box.stack]

    def values(self, box: Box) -> Floats | None:
        """Return the output of a box; None for tokens."""
        return self.tensors.values.get(box.value.format(self.layer(box)))

    def rows(self, box: Box) -> tuple[str, ...]:
        """Return the tokens of a box's rows: those read, in the last two boxes those written."""
        if box.stack == "encoder":
            return self.trace.source_tokens
        written = box.value in OVER_VOCABULARY
        return self.trace.target_tokens if written else self.trace.decoder_tokens

    def shape(self, box: Box) -> str:
        """Format the shape of a box's output, as `12 × 256`."""
        if (values := self.values(box)) is None:
            return f"{len(self.rows(box))} tokens"
        if box.value in OVER_VOCABULARY:
            return f"{len(values)} × {self.tensors.vocab_size:,}"
        return times(values.shape)

    def named(self, name: str, box: Box) -> str:
        """Return a name of a box with its layer."""
        return f"{name}, layer {self.layer(box) + 1}" if box.layered else name


def times(shape: tuple[int, ...]) -> str:
    """Format a shape, as `12 × 256`."""
    return " × ".join(f"{size:,}" for size in shape)


def step_sentences(scene: Scene, box: Box, steps: Sequence[SearchStep]) -> tuple[str, ...]:
    """Return what a box does: once in the encoder; in the decoder for each subword in `WINDOW`."""
    if box.stack == "encoder":
        return (_sentence(scene, box, None),)
    if box.name == "decoder.softmax":
        return tuple(map(_softmax, steps[:WINDOW]))
    return tuple(_sentence(scene, box, row) for row in range(min(len(steps), WINDOW)))


def last_sentence(steps: Sequence[SearchStep]) -> str:
    """Return what is said when all subwords are written."""
    written = counted(len(steps), "subword")
    if len(steps) > WINDOW:
        return f"The player stops here, after {WINDOW} of {written}."
    return f"{written}: the encoder ran once, the decoder once for each of them."


def _sentence(scene: Scene, box: Box, row: int | None) -> str:
    """Return what a box does at one row of the decoder, or None for all rows of the encoder."""
    trace, tensors = scene.trace, scene.tensors
    d_model = f"{scene.model.config.d_model:,} numbers"
    read, written = (
        quoted(display_tokens(tokens)[row or 0])
        for tokens in (trace.decoder_tokens, trace.target_tokens)
    )

    def norm(name: str) -> str:
        norms = np.linalg.norm(tensors.values[name.format(scene.layer(box))], axis=-1)
        return f"mean norm {norms.mean():.1f}" if row is None else f"norm {norms[row]:.1f}"

    match box.name.partition(".")[2]:
        case "tokens" if row is None:
            tokens = counted(len(trace.source_tokens), "subword")
            text = f"The sentence enters as {tokens}; the last one marks its end."
        case "tokens" if row == 0:
            text = f"The decoder starts with {read}, before anything is written."
        case "tokens":
            tokens = counted((row or 0) + 1, "token")
            text = f"{read} comes back to the bottom: the decoder now reads {tokens}."
        case "embedding":
            token = "Each subword" if row is None else read
            text = f"{token} takes its row of the table: {d_model}, {norm(box.value)}."
        case "positions":
            place = "Each position" if row is None else f"Position {row + 1}"
            text = f"{place} has a pattern: {d_model}, {norm(box.value)}."
        case "sum":
            text = f"Subword and position are added: {norm(box.value)}."
        case "feed_forward":
            hidden = tensors.values[box.inside[0][1].format(scene.layer(box))]
            zeros = float(np.mean((hidden if row is None else hidden[row]) == 0))
            relu = f" (the ReLU sets {per_cent(zeros)} of them to 0)"
            hidden_size = f"{hidden.shape[-1]:,}{relu * (scene.model.config.activation == 'relu')}"
            text = f"{d_model} become {hidden_size}, then {d_model} again: {norm(box.value)}."
        case "linear":
            column = tensors.columns.index(trace.target_pieces[row or 0].text)
            logit = format_number(float(tensors.values[LOGITS][row or 0, column]), 1)
            text = f"{d_model} become {tensors.vocab_size:,}, one for each subword: "
            text += f"{written} gets {logit}."
        case _ if box.kind:
            text = _attention(scene, box, row)
        case _:
            added, total, normalised = (
                norm(f"{box.module}.hook_{part}") for part in ("sublayer", "sum", "normalised")
            )
            text = f"The sub-layer's input and output ({added}) are added ({total}), then "
            text += f"normalised ({normalised})."
    return text


def _attention(scene: Scene, box: Box, row: int | None) -> str:
    """Return where the head looks that gives most weight to a word other than the one it reads."""
    weights, trace = scene.values(box), scene.trace
    assert weights is not None  # [head, query, key]
    assert box.kind
    labels = trace.labels(box.kind)
    queries, keys = display_tokens(labels.queries), display_tokens(labels.keys)
    if box.kind == "decoder_self" and row == 0:
        heads = counted(len(weights), "head")
        return f"Only {quoted(keys[0])} is visible: each of {heads} gives it {per_cent(1)}."
    rows = range(len(queries)) if row is None else [row]
    allowed = np.zeros_like(weights, dtype=bool)
    allowed[:, rows] = ~are_sinks(labels.keys, trace.special)
    if box.kind != "cross":
        allowed[:, range(len(keys)), range(len(keys))] = False
    on = " on another word" if box.kind != "cross" else ""
    if not (weights * allowed).any():  # no such word is in sight
        on, allowed[:, rows] = "", True
    looked = np.where(allowed, weights, -1)
    head, query, key = np.unravel_index(int(looked.argmax()), looked.shape)
    share, name = per_cent(float(looked.max())), f"head {head + 1} of {len(weights)}"
    if box.kind == "cross":
        return (
            f"{capitalised(name)} looks at {quoted(keys[key])} in the encoder's output ({share})."
        )
    gives = f"{quoted(queries[query])} gives {quoted(keys[key])} {share} ({name})"
    return f"The largest weight{on}: {gives}."


def _softmax(step: SearchStep) -> str:
    names = map(quoted, display_tokens([piece for piece, _ in step.options]))
    options = [
        (name, format_probability(min(p, 1.0)))
        for name, (_, p) in zip(names, step.options, strict=True)
    ]
    (best, largest), (written, p) = options[0], options[step.taken]
    if step.taken == 0:
        return f"{written} is the most probable next subword: {p}."
    return f"{best} is more probable ({largest}), but the translation goes on with {written} ({p})."
