"""`AttentionTrace.from_huggingface` on the library's own attentions, for common families.

A trace of one pass must hold the library's numbers to the bit, under its tokens. That of a
generation is put together of steps: each row must be within 1e-5 of what one pass over the finished
sequence gives.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks import huggingface_models
from benchmarks.huggingface_models import END, FRAMES, LENGTHS, Family
from benchmarks.models import require_transformers
from transformer import AttentionTrace, HeadlightError, InputError
from transformer.kinds import KINDS, Kind
from transformer.traces.fields import Weights


class Seen(NamedTuple):
    """Expected contents of a trace."""

    weights: dict[Kind, Weights]  # by kind, `[layer, head, query, key]`
    source: list[str]
    reads: list[str]  # of the decoder, by position

    def axes(self, kind: Kind) -> tuple[list[str], list[str]]:
        """The tokens of queries and keys, a decoder position by what it reads."""
        queries = self.source if kind == "encoder_self" else self.reads
        return queries, self.reads if kind == "decoder_self" else self.source


def differences(trace: AttentionTrace, seen: Seen, tolerance: float) -> list[str]:
    """Kinds, weights and tokens that differ, in words; at a tolerance of 0 every bit counts."""
    expected = tuple(kind for kind in KINDS if kind in seen.weights)
    if trace.kinds != expected:
        return [f"the kinds are {trace.kinds}, not {expected}"]
    lines = []
    for kind, weights in seen.weights.items():
        mine = trace.weights(kind)
        if mine.shape != weights.shape:
            lines.append(f"{kind} is {mine.shape}, not {weights.shape}")
            continue
        apart = float(np.abs(mine - weights).max())
        if apart > tolerance:
            lines.append(f"{kind} is {apart:.2g} from the library's")
        labels = trace.labels(kind, None if kind == "encoder_self" else "reads")
        if tuple(map(list, labels)) != seen.axes(kind):
            lines.append(f"{kind} stands under {labels}, not {seen.axes(kind)}")
    return lines


FIELDS: dict[Kind, str] = {
    "encoder_self": "encoder_attentions",
    "decoder_self": "decoder_attentions",
    "cross": "cross_attentions",
}


WRITTEN = 8
BEAMS, RETURNED = 3, 2
TOLERANCE = 1e-5


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks huggingface`."""
    parser = commands.add_parser(
        "huggingface", help="traces of what transformers returns, for common families"
    )
    parser.add_argument("--only", metavar="NAME", help="this family alone, such as T5")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Check every family, or one, and print."""
    print(f"transformers {require_transformers()}, torch {torch.__version__}")
    wrong = 0
    for family in huggingface_models.FAMILIES:
        if options.only not in (None, family.name):
            continue
        with torch.no_grad():
            for name, faults in _Checked(family).all():
                wrong += len(faults)
                print(f"{family.name}, {name}: {'; '.join(faults) or 'agrees'}", flush=True)
    if wrong:
        raise HeadlightError(f"{wrong} of the above do not agree.")


class _Checked:
    """One family with two sentences, its own attention, and each way to a trace of it."""

    def __init__(self, family: Family) -> None:
        self.family, self.model = family, family.make()
        self.tokenizer = huggingface_models.tokenizer()
        self.inputs = huggingface_models.inputs_of(family.shape)
        self.alone = family.shape in ("encoder", "decoder")
        self.causal = family.shape == "decoder"
        # taken by `generate`
        self.given = {k: v for k, v in self.inputs.items() if not k.startswith("decoder")}

    def _seen(self, outputs: Any, index: int) -> Seen:
        """Return the attentions of one sentence from a pass, cut here by its mask."""
        weights: dict[Kind, Weights] = {}
        for kind, layers in self._fields(outputs):
            rows, keys = self._real_tokens(kind, index)
            weights[kind] = _array([layer[index] for layer in layers])[:, :, rows][..., keys]
        texts = []
        for name in ("", "decoder_"):
            ids, mask = self.inputs.get(f"{name}input_ids"), self._mask(name, index)
            texts.append([] if ids is None else self._texts(ids[index][mask]))
        return self._sides(weights, *texts)

    def _fields(self, outputs: Any) -> list[tuple[Kind, Any]]:
        """The attentions of each kind that is shown."""
        if self.family.shape == "encoder":
            return [("encoder_self", outputs["attentions"])]
        if self.causal:
            return [("decoder_self", outputs["attentions"])]
        return [(kind, outputs[field]) for kind, field in FIELDS.items()]

    def _sides(self, weights: dict[Kind, Weights], read: list[str], decoder: list[str]) -> Seen:
        if self.causal:
            return Seen(weights, [], read)
        if self.family.shape == "speech":
            read = [str(n) for n in range(1, FRAMES + 1)]
        return Seen(weights, read, decoder)

    def _mask(self, name: str, index: int) -> Any:
        mask = self.inputs.get(f"{name}attention_mask")
        return slice(None) if mask is None else mask[index].bool()

    def _real_tokens(self, kind: Kind, index: int) -> tuple[Any, Any]:
        """Return masks of the queries and keys of the batch that are no padding."""
        source = self._mask("", index)
        target = source if self.alone else self._mask("decoder_", index)
        return source if kind == "encoder_self" else target, (
            target if kind == "decoder_self" else source
        )

    def _prompt(self, row: int) -> int:
        """Tokens that the decoder was given, without padding."""
        return LENGTHS[row] if self.causal else 1

    def _sequence(self, ids: Any, row: int) -> Any:
        """Return the ids read and written for a sentence, without padding on either side."""
        first = 0
        if self.causal:
            first = int(self.inputs["attention_mask"][row].argmax())
        ids = ids[first:]
        ends = (ids[self._prompt(row) :] == END).nonzero()
        return ids[: self._prompt(row) + int(ends[0]) + 1] if len(ends) else ids

    def _in_one_pass(self, sequence: Any, row: int) -> Seen:
        """The finished sequence alone, without padding, read once."""
        reads = sequence[None, :-1]
        texts: list[str] = []
        if self.causal:
            inputs = {"input_ids": reads}
        elif self.family.shape == "speech":
            sound = self.inputs["input_features"][row][None]
            inputs = {"input_features": sound, "decoder_input_ids": reads}
        else:
            source = self.inputs["input_ids"][row][self._mask("", row)]
            texts = self._texts(source)
            inputs = {"input_ids": source[None], "decoder_input_ids": reads}
        outputs = self.model(**inputs, output_attentions=True)
        weights = {
            kind: _array([layer[0] for layer in layers]) for kind, layers in self._fields(outputs)
        }
        read = self._texts(reads[0])
        return self._sides(weights, read if self.causal else texts, read)

    def _texts(self, ids: Any) -> list[str]:
        return [str(token) for token in self.tokenizer.convert_ids_to_tokens(ids.tolist())]

    def all(self) -> Iterator[tuple[str, list[str]]]:
        """Each way, with what does not agree."""
        yield "one pass", _caught(self.one_pass)
        if self.family.shape == "encoder":
            return
        ways: dict[str, dict[str, Any]] = {
            "greedy": {},
            "greedy without a cache": {"use_cache": False},
            "greedy with a static cache": {"cache_implementation": "static"},
            f"beam of {BEAMS}, {RETURNED} returned": {
                "num_beams": BEAMS,
                "num_return_sequences": RETURNED,
            },
        }
        if self.family.shape == "speech":
            name, options = ways.popitem()
            yield f"{name}, whose rows it does not", self._refused(**options)
        for name, options in ways.items():
            yield name, _caught(partial(self.generated, **options))

    def one_pass(self) -> list[str]:
        """Both sentences of a batch, each without its padding."""
        outputs = self.model(**self.inputs, output_attentions=True)
        return [
            f"sentence {index}: {line}"
            for index in range(len(LENGTHS))
            for line in differences(
                self._trace(outputs, self.inputs, index), self._seen(outputs, index), 0.0
            )
        ]

    def generated(self, **options: Any) -> list[str]:
        """Every sequence that `generate` returns."""
        outputs = self._generate(**options)
        wrong = []
        count = len(outputs.sequences)
        for index in range(count):
            row = index * len(LENGTHS) // count
            trace = self._trace(outputs, self.given, index)
            sequence = self._sequence(outputs.sequences[index], row)
            lines = differences(trace, self._in_one_pass(sequence, row), TOLERANCE)
            if list(trace.target_tokens) != self._texts(sequence[1:]):
                lines.append(f"writes {trace.target_tokens}")
            wrong += [f"sequence {index}: {line}" for line in lines]
        return wrong

    def _refused(self, **options: Any) -> list[str]:
        """Whisper returns no more rows of a step than sequences: none may stand for another."""
        outputs = self._generate(**options)
        last = len(outputs.sequences) - 1
        if int(outputs.beam_indices[last].max()) < len(outputs.decoder_attentions[0][0]):
            return ["the beam kept to the rows that are there: nothing was tried"]
        try:
            self._trace(outputs, self.given, last)
        except InputError:
            return []
        return ["not refused"]

    def _trace(self, outputs: Any, inputs: Any, index: int) -> AttentionTrace:
        """As a person would ask for it."""
        return AttentionTrace.from_huggingface(
            outputs,
            inputs,
            tokenizer=self.tokenizer,
            index=index,
        )

    def _generate(self, **options: Any) -> Any:
        return self.model.generate(
            **self.given,
            max_new_tokens=WRITTEN,
            do_sample=False,
            no_repeat_ngram_size=1,  # so that every row has a name of its own
            output_attentions=True,
            return_dict_in_generate=True,
            **options,
        )


def _caught(check: Callable[[], list[str]]) -> list[str]:
    try:
        return check()
    except HeadlightError as error:
        return [f"refused: {error}"]


def _array(layers: list[Any]) -> Weights:
    return torch.stack(layers).float().numpy()
