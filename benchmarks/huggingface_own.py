"""What a model of the library transformers returns itself, cut to one sentence of its batch.

Nothing of `AttentionTrace.from_huggingface` is used here: its traces are held against this.
"""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.huggingface_agreement import Seen
from benchmarks.huggingface_models import END, FRAMES, LENGTHS, Family, inputs_of, tokenizer
from transformer.kinds import Kind
from transformer.traces.fields import Weights

FIELDS: dict[Kind, str] = {
    "encoder_self": "encoder_attentions",
    "decoder_self": "decoder_attentions",
    "cross": "cross_attentions",
}


class OwnAttention:
    """One family: its model, two sentences, and what it returns of them."""

    def __init__(self, family: Family) -> None:
        self.family, self.model, self.tokenizer = family, family.make(), tokenizer()
        self.inputs = inputs_of(family.shape)
        self.alone = family.shape in ("encoder", "decoder")

    def _seen(self, outputs: Any, index: int) -> Seen:
        """What a pass returned of one sentence, cut here by its mask."""
        weights: dict[Kind, Weights] = {}
        for kind, layers in self._fields(outputs):
            rows, keys = self._kept(kind, index)
            weights[kind] = _array([one[index] for one in layers])[:, :, rows][..., keys]
        texts = []
        for name in ("", "decoder_"):
            ids, kept = self.inputs.get(f"{name}input_ids"), self._mask(name, index)
            texts.append([] if ids is None else self._texts(ids[index][kept]))
        return self._sides(weights, *texts)

    def _fields(self, outputs: Any) -> list[tuple[Kind, Any]]:
        """The attentions of each kind."""
        if self.family.shape == "encoder":
            return [("encoder_self", outputs["attentions"])]
        if self.family.shape == "decoder":
            return [("decoder_self", outputs["attentions"])]
        return [(kind, outputs[field]) for kind, field in FIELDS.items()]

    def _sides(self, weights: dict[Kind, Weights], read: list[str], decoder: list[str]) -> Seen:
        if self.family.shape == "decoder":
            return Seen(weights, [], read)
        if self.family.shape == "speech":
            read = [str(n) for n in range(1, FRAMES + 1)]
        return Seen(weights, read, decoder)

    def _mask(self, name: str, index: int) -> Any:
        mask = self.inputs.get(f"{name}attention_mask")
        return slice(None) if mask is None else mask[index].bool()

    def _kept(self, kind: Kind, index: int) -> tuple[Any, Any]:
        """Which queries and keys of the batch are no padding."""
        source = self._mask("", index)
        target = source if self.alone else self._mask("decoder_", index)
        return source if kind == "encoder_self" else target, (
            target if kind == "decoder_self" else source
        )

    def _prompt(self, row: int) -> int:
        """Tokens that the decoder was given, without padding."""
        return LENGTHS[row] if self.family.shape == "decoder" else 1

    def _sequence(self, ids: Any, row: int) -> Any:
        """What was read and written of a sentence, without padding on either side."""
        first = 0
        if self.family.shape == "decoder":
            first = int(self.inputs["attention_mask"][row].argmax())
        ids = ids[first:]
        ends = (ids[self._prompt(row) :] == END).nonzero()
        return ids[: self._prompt(row) + int(ends[0]) + 1] if len(ends) else ids

    def _in_one_pass(self, sequence: Any, row: int) -> Seen:
        """The finished sequence alone, without padding, read once."""
        reads = sequence[None, :-1]
        texts: list[str] = []
        if self.family.shape == "decoder":
            inputs = {"input_ids": reads}
        elif self.family.shape == "speech":
            features = self.inputs["input_features"][row][None]
            inputs = {"input_features": features, "decoder_input_ids": reads}
        else:
            source = self.inputs["input_ids"][row][self._mask("", row)]
            texts = self._texts(source)
            inputs = {"input_ids": source[None], "decoder_input_ids": reads}
        outputs = self.model(**inputs, output_attentions=True)
        weights = {kind: _array([one[0] for one in of]) for kind, of in self._fields(outputs)}
        read = self._texts(reads[0])
        return self._sides(weights, read if self.family.shape == "decoder" else texts, read)

    def _texts(self, ids: Any) -> list[str]:
        return [str(one) for one in self.tokenizer.convert_ids_to_tokens(ids.tolist())]


def _array(layers: list[Any]) -> Weights:
    return torch.stack(layers).float().numpy()
