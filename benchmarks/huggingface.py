"""`AttentionTrace.from_huggingface` on the library's own attentions, for common families.

A trace of one pass must hold the library's numbers to the bit, under its tokens. That of a
generation is put together of steps: each row must be within 1e-5 of what one pass over the finished
sequence gives.
"""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from transformer import AttentionTrace, HeadlightError, InputError
from transformer.arrays import Singles
from transformer.kinds import Kind

LAYERS, HEADS, D_MODEL = 3, 4, 32
MELS, FRAMES = 8, 11
VOCABULARY = 60
PAD, END, START, UNKNOWN = 0, 1, 2, 3
LENGTHS = (7, 5)  # tokens of the two sentences of a batch; the shorter is padded
ROOM = 64  # positions that a model has
SPREAD = 0.4  # standard deviation of the weights: rows far from uniform, beams that change places
Shape = Literal["encoder-decoder", "speech", "encoder", "decoder"]


class Family(NamedTuple):
    """An architecture."""

    name: str  # the beginning of its classes' names
    shape: Shape  # its stacks and inputs
    head: str  # the end of its model's name
    fields: dict[str, Any]  # of its configuration

    def make(self) -> Any:
        """Make a model of random weights."""
        import transformers

        torch.manual_seed(len(self.name))
        config = getattr(transformers, f"{self.name}Config")(**{**_IDS, **self.fields})
        return getattr(transformers, f"{self.name}{self.head}")(config).eval()


def tokenizer() -> Any:
    """A tokenizer of the library in which each id has a token of its own, `▁t17`."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    special = {"<pad>": PAD, "</s>": END, "<s>": START, "<unk>": UNKNOWN}
    words = {f"▁t{n}": n for n in range(len(special), VOCABULARY)}
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel({**special, **words}, unk_token="<unk>")),
        pad_token="<pad>",
        eos_token="</s>",
        bos_token="<s>",
        unk_token="<unk>",
    )


def inputs_of(shape: Shape) -> dict[str, Any]:
    """Two sentences of tokens of which none comes twice, with padding where it belongs."""
    random = torch.Generator().manual_seed(1)
    ids = torch.randperm(VOCABULARY - UNKNOWN - 1, generator=random) + UNKNOWN + 1
    inputs = _padded(ids, left=shape == "decoder")
    if shape in ("encoder", "decoder"):
        return inputs
    if shape == "speech":
        sound = torch.randn(len(LENGTHS), MELS, 2 * FRAMES, generator=random)
        inputs = {"input_features": sound}
    decoder = _padded(ids.flip(0), left=False)
    return {**inputs, **{f"decoder_{name}": value for name, value in decoder.items()}}


def _padded(ids: Any, *, left: bool) -> dict[str, Any]:
    """One after another from the ids, as `input_ids` and `attention_mask`."""
    padded = torch.full((len(LENGTHS), max(LENGTHS)), PAD)
    for row, length in enumerate(LENGTHS):
        start = max(LENGTHS) - length if left else 0
        padded[row, start : start + length] = ids[sum(LENGTHS[:row]) :][:length]
    return {"input_ids": padded, "attention_mask": (padded != PAD).long()}


_IDS = {
    "vocab_size": VOCABULARY,
    "pad_token_id": PAD,
    "eos_token_id": END,
    "bos_token_id": START,
    "attn_implementation": "eager",
}
_TWO_STACKS = {
    "d_model": D_MODEL,
    "encoder_layers": LAYERS,
    "decoder_layers": LAYERS,
    "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": ROOM,
    "decoder_start_token_id": START,
    "forced_eos_token_id": None,
    "init_std": SPREAD,
}
_SPEECH = {
    "num_mel_bins": MELS,
    "max_source_positions": FRAMES,
    "max_target_positions": ROOM,
    "suppress_tokens": None,
    "begin_suppress_tokens": None,
}
_T5 = {
    "d_model": D_MODEL,
    "d_kv": 8,
    "d_ff": 64,
    "num_layers": LAYERS,
    "num_heads": HEADS,
    "initializer_factor": 1.5,
    "decoder_start_token_id": PAD,
}
_ENCODER = {
    "hidden_size": D_MODEL,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": 64,
    "max_position_embeddings": ROOM,
    "initializer_range": SPREAD,
}
_GPT2 = {
    "n_embd": D_MODEL,
    "n_layer": LAYERS,
    "n_head": HEADS,
    "n_positions": ROOM,
    "initializer_range": SPREAD,
}
_GENERATION = "ForConditionalGeneration"
FAMILIES = (
    Family("T5", "encoder-decoder", _GENERATION, _T5),
    *(Family(name, "encoder-decoder", _GENERATION, _TWO_STACKS) for name in ("Bart", "MBart")),
    Family("Marian", "encoder-decoder", "MTModel", _TWO_STACKS),
    Family("M2M100", "encoder-decoder", _GENERATION, _TWO_STACKS),
    Family("Whisper", "speech", _GENERATION, {**_TWO_STACKS, **_SPEECH}),
    Family("Bert", "encoder", "Model", _ENCODER),
    Family("GPT2", "decoder", "LMHeadModel", _GPT2),
    Family("Llama", "decoder", "ForCausalLM", {**_ENCODER, "num_key_value_heads": 2}),
)

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
    for family in FAMILIES:
        if options.only not in (None, family.name):
            continue
        with torch.no_grad():
            for name, faults in _Checked(family).all():
                wrong += len(faults)
                print(f"{family.name}, {name}: {'; '.join(faults) or 'agrees'}", flush=True)
    if wrong:
        raise HeadlightError(f"{wrong} of the above do not agree.")


def require_transformers() -> str:
    """Return the version of transformers."""
    try:
        import transformers
    except ImportError as error:
        raise InputError(
            "transformers is not installed: install the extra bench, pip install '.[bench]'."
        ) from error
    transformers.logging.set_verbosity_error()
    return transformers.__version__


class _Checked:
    """One family with two sentences, its own attention, and each way to a trace of it."""

    def __init__(self, family: Family) -> None:
        self.family, self.model = family, family.make()
        self.tokenizer = tokenizer()
        self.inputs = inputs_of(family.shape)
        self.causal = family.shape == "decoder"
        # taken by `generate`
        self.given = {k: v for k, v in self.inputs.items() if not k.startswith("decoder")}

    def all(self) -> Iterator[tuple[str, list[str]]]:
        """Each way, with what does not agree."""
        yield "one pass", self.one_pass()
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
        for name, options in ways.items():
            try:
                yield name, self.generated(**options)
            except InputError as error:
                # Whisper returns no more rows of a step than sequences: none may stand for another
                refused = self.family.shape == "speech" and "num_beams" in options
                yield f"{name}, refused", [] if refused else [str(error)]

    def one_pass(self) -> list[str]:
        """Both sentences of a batch, each without its padding."""
        outputs = self.model(**self.inputs, output_attentions=True)
        kinds: dict[Kind, str] = {
            "encoder": {"encoder_self": "attentions"}, "decoder": {"decoder_self": "attentions"},
        }.get(self.family.shape, FIELDS)  # type: ignore[assignment]  # fmt: skip
        target = "" if kinds is not FIELDS else "decoder_"
        wrong = []
        for index in range(len(LENGTHS)):
            trace = self._trace(outputs, self.inputs, index)
            for kind, field in kinds.items():
                rows = "" if kind == "encoder_self" else target
                keys = target if kind == "decoder_self" else ""
                layers = torch.stack([layer[index] for layer in outputs[field]]).float().numpy()
                layers = layers[:, :, self._unpadded(rows, index)][..., self._unpadded(keys, index)]
                labels = self._tokens(rows, index), self._tokens(keys, index)
                wrong += _differences(trace, kind, layers, labels, 0.0)
        return wrong

    def _unpadded(self, side: str, index: int) -> Any:
        mask = self.inputs.get(f"{side}attention_mask")
        return slice(None) if mask is None else mask[index].bool()

    def _tokens(self, side: str, index: int) -> list[str]:
        if not side and self.family.shape == "speech":
            return [str(n) for n in range(1, FRAMES + 1)]
        return self._texts(self.inputs[f"{side}input_ids"][index][self._unpadded(side, index)])

    def generated(self, **options: Any) -> list[str]:
        """Every sequence that `generate` returns, beside a pass over it without padding."""
        outputs = self.model.generate(
            **self.given,
            max_new_tokens=WRITTEN,
            do_sample=False,
            no_repeat_ngram_size=1,  # so that every row has a name of its own
            output_attentions=True,
            return_dict_in_generate=True,
            **options,
        )
        wrong = []
        for index, ids in enumerate(outputs.sequences):
            row = index * len(LENGTHS) // len(outputs.sequences)
            trace = self._trace(outputs, self.given, index)
            prompt = LENGTHS[row] if self.causal else 1
            if self.causal:  # padding comes first
                ids = ids[int(self.inputs["attention_mask"][row].argmax()) :]
            ends = (ids[prompt:] == END).nonzero()
            sequence = ids[: prompt + int(ends[0]) + 1] if len(ends) else ids
            read = {"input_ids" if self.causal else "decoder_input_ids": sequence[None, :-1]}
            if self.family.shape == "speech":
                read["input_features"] = self.inputs["input_features"][row][None]
            elif not self.causal:
                read["input_ids"] = self.inputs["input_ids"][row][self._unpadded("", row)][None]
            whole = self._trace(self.model(**read, output_attentions=True), read, 0)
            if trace.kinds != whole.kinds:
                wrong.append(f"the kinds are {trace.kinds}, not {whole.kinds}")
            for kind in whole.kinds:
                labels = whole.labels(kind, "reads")
                wrong += _differences(trace, kind, whole.weights(kind), labels, TOLERANCE)
            if list(trace.target_tokens) != self._texts(sequence[1:]):
                wrong.append(f"writes {trace.target_tokens}")
        return wrong

    def _texts(self, ids: Any) -> list[str]:
        return [str(token) for token in self.tokenizer.convert_ids_to_tokens(ids.tolist())]

    def _trace(self, outputs: Any, inputs: Any, index: int) -> AttentionTrace:
        """As a person would ask for it."""
        return AttentionTrace.from_huggingface(
            outputs, inputs, tokenizer=self.tokenizer, index=index
        )


def _differences(
    trace: AttentionTrace,
    kind: Kind,
    weights: Singles,
    labels: Sequence[Sequence[str]],
    tolerance: float,
) -> list[str]:
    """Singles and tokens that differ, in words; at a tolerance of 0 every bit counts."""
    mine = trace.weights(kind)
    if mine.shape != weights.shape:
        return [f"{kind} is {mine.shape}, not {weights.shape}"]
    wrong = []
    apart = float(np.abs(mine - weights).max())
    if apart > tolerance:
        wrong.append(f"{kind} is {apart:.2g} from the library's")
    if [*map(list, trace.labels(kind, "reads"))] != [*map(list, labels)]:
        wrong.append(f"{kind} stands under {trace.labels(kind)}, not {labels}")
    return wrong
