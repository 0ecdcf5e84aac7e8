"""Measures that a lesson can ask for: numbers and words of the student's sentence.

Each is computed from the model when a card is answered, so it holds for any sentence and model.
Heads are written as on the screen, `L4 H5 cross`; a row or column is a subword, or its number
from 1. A row of the cross-attention is named by what it writes, one of the others by what it reads.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from training.run import journal
from transformer import AttentionTrace, InputError, Kind, Translator
from transformer.analysis.heads import measures, removal_text
from transformer.analysis.heads.head import Head, require_heads
from transformer.analysis.heads.removal import Removal, removed
from transformer.analysis.lenses import lens
from transformer.analysis.teacher_forcing import log_probs
from transformer.circuits.merging import merge_parts
from transformer.circuits.score import split_scores
from transformer.circuits.writing import written_logits
from transformer.errors import quoted
from transformer.files.installed import BUNDLED
from transformer.paper import arithmetic, costs
from transformer.paper.positions import NO_EDIT, Edit, exact_encoding
from transformer.text.languages import Side
from viz.draw.formatting import format_number
from viz.draw.labels import display_tokens
from viz.figures.schedule import paper_rate

Value = float | str
Arguments = Mapping[str, Any]

MARGIN = 0.2
"""Share of the largest value by which the second must be smaller, for students to see it."""

YES, NO = "yes", "no"
SIZES = ("N", "h", "d_model", "d_k", "d_ff", "vocab_size", "parameters")
"""Sizes of a model, as the paper writes them."""


class Sentence:
    """A sentence with its translation and its trace, and the model that wrote it."""

    def __init__(self, translator: Translator, trace: AttentionTrace) -> None:
        self.translator = translator
        self.trace = trace

    def log_p_of(self, edit: Edit = NO_EDIT) -> float:
        """Return the log probability of the translation, with edited positions."""
        return float(log_probs(self.translator.model, self.trace, edit.hooks()).sum())

    def map(self, head: Head) -> npt.NDArray[np.float32]:
        """Return the weights of a head, `[query, key]`."""
        _require_named_heads(self.translator, [head])
        return self.trace.weights(head.kind)[head.layer, head.head]

    def values(self, head: Head) -> arithmetic.SublayerValues:
        """Compute the values of the sub-layer of a head."""
        _require_named_heads(self.translator, [head])
        return arithmetic.sublayer_values(self.translator.model, self.trace, head.kind, head.layer)

    def row(self, kind: Kind, wanted: int | str) -> int:
        """Return the number of a row, from 0."""
        return _place(self.trace.labels(kind).queries, wanted)

    def column(self, kind: Kind, wanted: int | str) -> int:
        """Return the number of a column, from 0."""
        return _place(self.trace.labels(kind).keys, wanted)


def _require_named_heads(translator: Translator, heads: Sequence[Head]) -> None:
    """Make sure that the model has these heads, which a lesson names as on the screen."""
    for head in heads:
        stack = translator.model.config.stack(head.kind)
        if not (head.layer < stack.N and head.head < stack.h):
            raise InputError(
                f"There is no {head.title}: {stack.N} layers have {stack.h} heads each."
            )
    require_heads(translator.model, heads)


def _place(tokens: tuple[str, ...], wanted: int | str) -> int:
    if isinstance(wanted, int):
        if 1 <= wanted <= len(tokens):
            return wanted - 1
        raise InputError(f"There is no subword {wanted} in this sentence: it has {len(tokens)}.")
    shown = [token.lstrip("·") for token in display_tokens(tokens)]
    if (name := display_tokens([wanted])[0]) in shown:  # `</s>` of a file is the end
        return shown.index(name)
    problem = f"There is no subword {quoted(wanted)} in this sentence"
    raise InputError(f"{problem}: choose among {' '.join(shown)}.")


ValuesOfTokens = tuple[npt.NDArray[Any], tuple[str, ...]]
Values = Callable[[Sentence, Arguments], ValuesOfTokens]
"""Type of a function that gives tokens, each with its value."""


@dataclass(frozen=True)
class Measure:
    """A number or a word that is computed from a sentence."""

    compute: Callable[[Sentence, Arguments], Value]  # of a sentence and the arguments
    # by name, the function that parses its value and raises ValueError
    arguments: Mapping[str, Callable[[object], object]]
    tolerance: float = 0.01  # largest difference of a right answer, unless a card says another
    digits: int | None = 2  # decimals that are shown; None for a learning rate
    values: Values | None = None  # of which the largest is looked for, where that is so

    @property
    def is_number(self) -> bool:
        """Truth of its value being a number, not a word."""
        return self.values is None and self.compute is not _changed

    def text(self, value: Value) -> str:
        """Format a value."""
        if isinstance(value, str):
            return value
        if self.digits is None:  # as a student writes it
            return np.format_float_positional(value, precision=3, fractional=False)
        return format_number(value, self.digits)


def _heads(value: object) -> list[Removal]:
    removals, problem = removal_text.parse_removals(str(value), None)
    if problem or not removals:
        raise ValueError(
            f"{quoted(value)} is not a head: write L4 H5 cross, or encoder or decoder at the end."
        )
    return removals


def _head(value: object) -> Head:
    first, *others = _heads(value)
    if others:
        raise ValueError(f"{quoted(value)} is more than one head.")
    return first.place


def _token(value: object) -> int | str:
    if isinstance(value, int | str) and not isinstance(value, bool):
        return value
    raise ValueError(f"{quoted(value)} is neither a subword nor its number.")


def _count(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1_000_000:
        return value
    raise ValueError(f"{quoted(value)} is not a whole number from 0 to 1,000,000.")


def _one_of(*names: str) -> Callable[[object], object]:
    def parse(value: object) -> object:
        if value in names:
            return value
        raise ValueError(f"{quoted(value)} is not one of {', '.join(names)}.")

    return parse


def _largest(values: Values, sentence: Sentence, arguments: Arguments) -> str:
    shares, tokens = values(sentence, arguments)
    return display_tokens(tokens)[int(shares.argmax())]


def too_close(sentence: Sentence, name: str, arguments: Arguments) -> str:
    """Return the word that comes too close to the answer to be told from it; "" if none does."""
    if (values := MEASURES[name].values) is None:
        return ""
    shares, tokens = values(sentence, arguments)
    shown, best = np.array(display_tokens(tokens)), int(shares.argmax())
    others = np.where(shown == shown[best], -np.inf, shares)
    second = int(others.argmax())
    return str(shown[second]) if others[second] > (1 - MARGIN) * shares[best] else ""


def _weights(sentence: Sentence, arguments: Arguments) -> ValuesOfTokens:
    head: Head = arguments["head"]
    row = sentence.map(head)[sentence.row(head.kind, arguments["row"])]
    return row, sentence.trace.labels(head.kind).keys


def _norms(sentence: Sentence, arguments: Arguments) -> ValuesOfTokens:
    head: Head = arguments["head"]
    _require_named_heads(sentence.translator, [head])
    row = sentence.row(head.kind, arguments["row"])
    norms = lens("norm", sentence.translator, sentence.trace, head.kind)[head.layer, head.head, row]
    return norms, sentence.trace.labels(head.kind).keys


def _cell(sentence: Sentence, arguments: Arguments) -> tuple[int, int]:
    kind: Kind = arguments["head"].kind
    return sentence.row(kind, arguments["row"]), sentence.column(kind, arguments["column"])


def _key_parts(sentence: Sentence, arguments: Arguments) -> ValuesOfTokens:
    """Return the parts of a key, each with the most that it adds to the score of a cell."""
    query, key = _cell(sentence, arguments)
    model, head = sentence.translator.model, arguments["head"]
    split = split_scores(model, sentence.trace, head, query, [key])
    merged = merge_parts(split, split.values[0])
    return merged.max().to_numpy(), tuple(merged.columns)


def _logits_of_pieces(sentence: Sentence, arguments: Arguments) -> ValuesOfTokens:
    """Return every piece, with the logit that a head alone writes for it at a key."""
    (query, key), head = _cell(sentence, arguments), arguments["head"]
    translator = sentence.translator
    logits = written_logits(translator.model, sentence.trace, head, query, [key])[0]
    encoder = head.kind == "encoder_self"
    tokenizer = translator.tokenizer if encoder else translator.target_tokenizer
    return logits, tuple(piece.text for piece in tokenizer.pieces_of(range(len(logits))))


def _entropy(sentence: Sentence, arguments: Arguments) -> float:
    head = arguments["head"]
    causal = head.kind == "decoder_self" and sentence.trace.causal
    return measures.summarise(sentence.map(head), causal=causal).entropy


def _visible(sentence: Sentence, arguments: Arguments) -> float:
    row = sentence.row("decoder_self", arguments["row"])
    return float(row + 1 if sentence.trace.causal else len(sentence.trace.decoder_tokens))


def _subwords(sentence: Sentence, arguments: Arguments) -> float:
    trace = sentence.trace
    pieces = trace.source_pieces if arguments["side"] == "source" else trace.target_pieces
    return float(len(pieces))


def _size(sentence: Sentence, arguments: Arguments) -> float:
    model, name = sentence.translator.model, arguments["name"]
    if name == "parameters":
        return float(sum(costs.parameters_of_model(model).values()))
    return float(getattr(model.config, name))


def _inverse_probabilities(sentence: Sentence, _arguments: Arguments) -> ValuesOfTokens:
    """Return 1 / p of each subword of the translation."""
    return np.exp(-sentence.trace.log_probs.astype(np.float64)), sentence.trace.target_tokens


def _log_p_without(sentence: Sentence, arguments: Arguments) -> float:
    heads = arguments["heads"]
    _require_named_heads(sentence.translator, [removal.place for removal in heads])
    with removed(sentence.translator, heads):
        return sentence.log_p_of()


def _changed(sentence: Sentence, arguments: Arguments) -> str:
    translator, trace = sentence.translator, sentence.trace
    _require_named_heads(translator, [removal.place for removal in arguments["heads"]])
    with removed(translator, arguments["heads"]):
        return YES if translator.translate(trace.source).text != trace.target else NO


def _encoding(sentence: Sentence, arguments: Arguments) -> float:
    d_model, dimension = sentence.translator.model.config.d_model, arguments["dimension"]
    if dimension >= d_model:
        raise InputError(f"There is no dimension {dimension}: the model has {d_model}, from 0.")
    return float(exact_encoding(np.array([arguments["position"]]), d_model)[0, dimension])


def _learning_rate(_sentence: Sentence, arguments: Arguments) -> float:
    step, d_model, warmup = (arguments[name] for name in ("step", "d_model", "warmup"))
    return float(paper_rate(np.array([max(step, 1)]), max(d_model, 1), max(warmup, 1))[0])


def _loss(_sentence: Sentence, arguments: Arguments) -> float:
    step = arguments["step"]
    for record in journal.read(BUNDLED / journal.LOG):
        if record["step"] == step and "loss" in record:
            return float(record["loss"])
    raise InputError(f"The bundled run logged no loss at step {step:,}.")


_ROW = {"head": _head, "row": _token}
_CELL = {**_ROW, "column": _token}

MEASURES: Mapping[str, Measure] = {
    "strongest": Measure(partial(_largest, _weights), _ROW, values=_weights),
    "strongest by norm": Measure(partial(_largest, _norms), _ROW, values=_norms),
    "weight": Measure(lambda s, a: float(s.map(a["head"])[_cell(s, a)]), _CELL),
    "score": Measure(
        lambda s, a: float(s.values(a["head"]).scores[a["head"].head][_cell(s, a)]), _CELL, 0.05
    ),
    "largest part": Measure(partial(_largest, _key_parts), _CELL, values=_key_parts),
    "written": Measure(partial(_largest, _logits_of_pieces), _CELL, values=_logits_of_pieces),
    "entropy": Measure(_entropy, {"head": _head}, 0.1),
    "visible": Measure(_visible, {"row": _token}, 0, 0),
    "subwords": Measure(_subwords, {"side": _one_of(*get_args(Side))}, 0, 0),
    "size": Measure(_size, {"name": _one_of(*SIZES)}, 0, 0),
    "probability": Measure(
        lambda s, a: float(np.exp(s.trace.log_probs[_place(s.trace.target_tokens, a["row"])])),
        {"row": _token},
        0.02,
    ),
    "least certain": Measure(
        partial(_largest, _inverse_probabilities), {}, values=_inverse_probabilities
    ),
    "log probability": Measure(lambda s, _arguments: s.log_p_of(), {}, 0.05),
    "log probability without heads": Measure(_log_p_without, {"heads": _heads}, 0.05),
    "log probability without positions": Measure(
        lambda s, a: s.log_p_of(Edit("removed", (a["stack"],))),
        {"stack": _one_of("encoder", "decoder")},
        0.05,
    ),
    "changed without heads": Measure(_changed, {"heads": _heads}),
    "encoding": Measure(_encoding, {"position": _count, "dimension": _count}),
    "learning rate": Measure(
        _learning_rate, {"step": _count, "d_model": _count, "warmup": _count}, 1e-6, None
    ),
    "loss": Measure(_loss, {"step": _count}, 0.05),
}
"""By the name that a lesson file has after `measure:`."""
