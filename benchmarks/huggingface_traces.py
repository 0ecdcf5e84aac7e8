"""`AttentionTrace.from_huggingface` on what the library itself returns, for every family.

A trace of one pass must hold the library's numbers to the bit. That of a generation is put together
of steps: each row must be to the bit a row that the library returned in that step, and within 1e-5
what one pass over the finished sequence gives. A value planted in the outputs must come back under
the tokens of its place.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.huggingface_agreement import differences, not_read_back, unlike
from benchmarks.huggingface_models import (
    FRAMES,
    LAYERS,
    LENGTHS,
    Family,
    families,
)
from benchmarks.huggingface_own import FIELDS, OwnAttention
from transformer import AttentionTrace, HeadlightError, InputError

WRITTEN = 8
BEAMS, RETURNED = 3, 2
TOLERANCE = 1e-5
PLANTED = 7.0
"""No softmax gives it."""
LAYER, HEAD, QUERY, KEY, STEP = 1, 3, 4, 2, 3
"""Where it is planted."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks huggingface`."""
    parser = commands.add_parser(
        "huggingface", help="traces of what transformers returns, for every family"
    )
    parser.set_defaults(run=run)


def run(_options: argparse.Namespace) -> None:
    """Check every family and print.

    Raises:
        HeadlightError: if the library is not installed, or something does not agree.
    """
    try:
        import transformers
    except ImportError as error:
        raise HeadlightError(
            "transformers is not installed: pip install -e '.[bench]', then look again."
        ) from error
    transformers.logging.set_verbosity_error()
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    wrong = 0
    for family in families():
        with torch.no_grad():
            for name, found in _Checked(family).all():
                wrong += len(found)
                print(f"{family.name}, {name}: {'; '.join(found) or 'agrees'}", flush=True)
    if wrong:
        raise HeadlightError(f"{wrong} of the above do not agree.")


class _Checked(OwnAttention):
    """One family, and each way to a trace of its two sentences."""

    def __init__(self, family: Family) -> None:
        super().__init__(family)
        # what `generate` takes
        self.given = {k: of for k, of in self.inputs.items() if not k.startswith("decoder")}

    def all(self) -> Iterator[tuple[str, list[str]]]:
        """Each way, with what does not agree."""
        yield "one pass", _caught(lambda: self.one_pass(return_dict=True))
        yield "one pass as a tuple", _caught(lambda: self.one_pass(return_dict=False))
        yield "a value planted in one pass", _caught(self.planted)
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
        yield "a value planted in a step", _caught(self.planted_in_a_step)

    def one_pass(self, *, return_dict: bool) -> list[str]:
        """Both sentences of a batch, each without its padding."""
        named = self.model(**self.inputs, output_attentions=True)
        outputs = self.model(**self.inputs, output_attentions=True, return_dict=return_dict)
        return [
            f"sentence {index}: {one}"
            for index in range(len(LENGTHS))
            for one in differences(
                self._trace(outputs, self.inputs, index), self._seen(named, index), 0.0
            )
        ]

    def planted(self) -> list[str]:
        """One value in each kind, where layer, head, query and key all differ."""
        outputs = self.model(**self.inputs, output_attentions=True)
        wrong = []
        for index in range(len(LENGTHS)):
            seen = self._seen(outputs, index)
            for kind in seen.weights:
                rows, keys = (_positions(kept) for kept in self._kept(kind, index))
                layer = outputs["attentions" if self.alone else FIELDS[kind]][LAYER]
                before = layer.clone()
                layer[index, HEAD, rows[QUERY], keys[KEY]] = PLANTED
                trace = self._trace(outputs, self.inputs, index)
                layer.copy_(before)
                wrong += not_read_back(trace, kind, (LAYER, HEAD, QUERY, KEY), PLANTED, seen)
        return wrong

    def generated(self, **options: Any) -> list[str]:
        """Every sequence that `generate` returns."""
        outputs = self._generate(**options)
        wrong = []
        count = len(outputs.sequences)
        for index in range(count):
            row = index * len(LENGTHS) // count
            trace = self._trace(outputs, self.given, index)
            sequence = self._sequence(outputs.sequences[index], row)
            found = differences(trace, self._in_one_pass(sequence, row), TOLERANCE)
            if list(trace.target_tokens) != self._texts(sequence[1:]):
                found.append(f"writes {trace.target_tokens}")
            if not found:
                found = self._not_of_their_steps(trace, outputs, row)
            wrong += [f"sequence {index}: {one}" for one in found]
        return wrong

    def _refused(self, **options: Any) -> list[str]:
        """Whisper returns no more rows of a step than sequences: none may stand for another."""
        outputs = self._generate(**options)
        last = len(outputs.sequences) - 1
        if int(outputs.beam_indices[last].max()) < len(outputs.decoder_attentions[0][0]):
            return ["the beam kept to the rows that are there: nothing was tried"]
        try:
            self._trace(outputs, self.given, last)
        except InputError as error:
            return [] if "decoder_input_ids" in str(error) else [f"refused, but: {error}"]
        return ["not refused"]

    def planted_in_a_step(self) -> list[str]:
        """One value in a step of the first sentence, which is the longer one."""
        outputs = self._generate()
        sequence = self._sequence(outputs.sequences[0], 0)
        seen = self._in_one_pass(sequence, 0)
        query = self._prompt(0) - 1 + STEP
        wrong = []
        for kind in seen.weights:
            if kind == "encoder_self":
                continue
            layer = outputs["attentions" if self.alone else FIELDS[kind]][STEP][LAYER]
            before = layer.clone()
            layer[0, HEAD, -1, KEY] = PLANTED
            trace = self._trace(outputs, self.given, 0)
            layer.copy_(before)
            wrong += not_read_back(trace, kind, (LAYER, HEAD, query, KEY), PLANTED, seen)
        return wrong

    def _trace(self, outputs: Any, inputs: Any, index: int) -> AttentionTrace:
        """As a person would ask for it."""
        return AttentionTrace.from_huggingface(
            outputs, inputs, tokenizer=self.tokenizer, index=index
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

    def _not_of_their_steps(self, trace: AttentionTrace, outputs: Any, row: int) -> list[str]:
        wrong = []
        for kind, every in self._fields(outputs):
            if kind == "encoder_self":
                continue
            last = trace.weights(kind).shape[2] - self._prompt(row)
            for step, layer in np.ndindex(last + 1, LAYERS):
                query = self._prompt(row) - 1 + step
                rows = every[step][layer][:, :, -1].numpy()  # [row, head, key]
                if kind == "cross":
                    rows = rows[..., self._mask("", row)]
                else:
                    pad = 0 if self.family.shape != "decoder" else max(LENGTHS) - LENGTHS[row]
                    rows = rows[..., pad : pad + query + 1]
                wrong += unlike(trace, kind, query, layer, rows)
        return wrong


def _caught(check: Callable[[], list[str]]) -> list[str]:
    try:
        return check()
    except HeadlightError as error:
        return [f"refused: {error}"]


def _positions(kept: Any) -> list[int]:
    if isinstance(kept, slice):
        return list(range(max(FRAMES, *LENGTHS)))
    return [int(n) for n in kept.nonzero()[:, 0]]
