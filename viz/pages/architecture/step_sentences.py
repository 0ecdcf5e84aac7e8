"""What the player says at each box of Figure 1: one sentence, with the numbers of this sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from transformer.analysis.paper.flow import LOGITS, Floats
from transformer.analysis.sinks import are_sinks
from viz.draw.formatting import counted, format_number, format_probability, per_cent
from viz.draw.labels import display_tokens, quoted
from viz.draw.player import WINDOW, SearchStep
from viz.pages.architecture.boxes import Box
from viz.pages.architecture.scene import Scene


def step_sentences(scene: Scene, box: Box, steps: Sequence[SearchStep]) -> tuple[str, ...]:
    """Return what a box does: once in the encoder, for each written subword in the decoder.

    Of a long translation, the first `WINDOW` subwords are told.
    """
    rows = [None] if box.stack == "encoder" else range(min(len(steps), WINDOW))
    return tuple(_Place(scene, box, row, steps).sentence() for row in rows)


def last_sentence(steps: Sequence[SearchStep]) -> str:
    """Return what is said when all subwords are written."""
    if len(steps) > WINDOW:
        return f"The first {WINDOW} of {counted(len(steps), 'subword')}: the player stops here."
    written = counted(len(steps), "subword")
    return f"{written}: the encoder ran once, the decoder once for each of them."


class _Place(NamedTuple):
    """A box at one moment."""

    scene: Scene
    box: Box
    row: int | None  # of the decoder, from 0; None while the encoder reads the whole sentence
    steps: Sequence[SearchStep]

    def sentence(self) -> str:
        scene, box = self.scene, self.box
        config, trace = scene.model.config, scene.trace
        width = f"{config.d_model:,}"
        if box.name == "encoder.tokens":
            read = counted(len(trace.source_tokens), "subword")
            return f"The sentence enters as {read}; the last one marks its end."
        if box.name == "decoder.tokens":
            return self._read()
        if box.name.endswith(".embedding"):
            token = quoted(self._last) if self.row is not None else "Each subword"
            return f"{token} takes its row of the table: {width} numbers, {self._norm(box.value)}."
        if box.name.endswith(".positions"):
            place = "Each position" if self.row is None else f"Position {self.row + 1}"
            return f"{place} has a pattern: {width} numbers, {self._norm(box.value)}."
        if box.name.endswith(".sum"):
            return f"Subword and position are added: {self._norm(box.value)}."
        if box.name.endswith("_norm"):
            module = box.module.format(scene.layer(box))
            names = (f"{module}.hook_{part}" for part in ("sublayer", "sum", "normalised"))
            added, total, normalised = (self._norm(name) for name in names)
            return (
                f"The sub-layer's output ({added}) and its input make a sum ({total}), "
                f"which is normalised ({normalised})."
            )
        if box.kind:
            return self._attention()
        if box.name.endswith(".feed_forward"):
            return self._feed_forward()
        return self._linear() if box.value == LOGITS else self._softmax()

    @property
    def _last(self) -> str:
        """The token that the decoder has read last."""
        return display_tokens(self.scene.trace.decoder_tokens)[self.row or 0]

    @property
    def _written(self) -> str:
        return display_tokens(self.scene.trace.target_tokens)[self.row or 0]

    def _norm(self, name: str) -> str:
        norms = np.linalg.norm(self.scene.tensors.values[name], axis=-1)
        if self.row is None:
            return f"mean norm {format_number(float(norms.mean()), 1)}"
        return f"norm {format_number(float(norms[self.row]), 1)}"

    def _read(self) -> str:
        if not self.row:
            return f"The decoder starts with {quoted(self._last)}, before anything is written."
        read = counted(self.row + 1, "token")
        return f"{quoted(self._last)} comes back to the bottom: the decoder now reads {read}."

    def _attention(self) -> str:
        trace, row = self.scene.trace, self.row
        weights = self.scene.values(self.box)  # [head, query, key]
        assert weights is not None and self.box.kind  # noqa: PT018
        if self.box.kind == "decoder_self" and row == 0:
            first = f"Only {quoted(self._last)} can be seen"
            return f"{first}: each of {counted(len(weights), 'head')} gives it {per_cent(1)}."
        keys = trace.labels(self.box.kind).keys
        names = display_tokens(keys)
        head, query, key = strongest_look(
            weights if row is None else weights[:, row : row + 1],
            are_sinks(keys, trace.special),
            None if self.box.kind == "cross" else row or 0,
        )
        share = per_cent(float(weights[head, query if row is None else row, key]))
        looks = f"Head {head + 1} of {len(weights)}"
        if self.box.kind == "cross":
            return f"{looks} looks at {quoted(names[key])} in the encoder's output ({share})."
        if row is None:
            return f"{looks} looks from {quoted(names[query])} at {quoted(names[key])} ({share})."
        back = f"{looks} looks from {quoted(self._last)} at {quoted(names[key])} ({share})"
        return f"{back}; later positions are masked."

    def _feed_forward(self) -> str:
        config = self.scene.model.config
        hidden, out = (
            name.format(self.scene.layer(self.box))
            for name in (self.box.inside[0][1], self.box.value)
        )
        values = self.scene.tensors.values[hidden]
        zeros = ""
        if config.activation == "relu":
            share = float(np.mean((values if self.row is None else values[self.row]) == 0))
            zeros = f" ({per_cent(share)} of them 0 by the ReLU)"
        return (
            f"{config.d_model:,} numbers become {values.shape[-1]:,}{zeros}, then "
            f"{config.d_model:,} again: {self._norm(out)}."
        )

    def _linear(self) -> str:
        tensors, row = self.scene.tensors, self.row or 0
        column = tensors.columns.index(self.scene.trace.target_pieces[row].text)
        logit = format_number(float(tensors.values[LOGITS][row, column]), 1)
        return (
            f"{self.scene.model.config.d_model:,} numbers become {tensors.vocab_size:,}, one for "
            f"each subword: {quoted(self._written)} gets {logit}."
        )

    def _softmax(self) -> str:
        step = self.steps[self.row or 0]
        written = quoted(self._written)
        p = format_probability(min(step.options[step.taken][1], 1.0))
        if step.taken == 0:
            return f"{written} is the most probable next subword: {p}."
        best = display_tokens([piece for piece, _ in step.options])[0]
        first = f"{quoted(best)} is more probable ({format_probability(step.options[0][1])})"
        return f"{first}, but the translation goes on with {written} ({p})."


def strongest_look(weights: Floats, sinks: np.ndarray, own: int | None) -> tuple[int, int, int]:
    """Return head, query and key of the largest weight on a word other than the one that looks.

    Args:
        weights: `[head, query, key]`.
        sinks: the keys that are no words, `[key]`, which count only where there is no other.
        own: the key that is the first query's token; None if queries and keys are two sentences.
    """
    allowed = np.broadcast_to(~sinks, weights.shape).copy()
    if own is not None:
        queries = np.arange(weights.shape[1])
        allowed[:, queries, queries + own] = False
    looked = np.where(allowed, weights, -1)
    if not (looked > 0).any():
        looked = weights
    head, query, key = np.unravel_index(int(looked.argmax()), looked.shape)
    return int(head), int(query), int(key)
