"""The same lines in BertViz and here, on models with random weights: nothing is downloaded.

The weights are wide enough that heads are sharp: uniform rows would be too easy to write short.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from benchmarks.notebook import bertviz
from transformer import AttentionTrace, HeadlightError
from viz.notebook import HtmlFrame, explore
from viz.report import report

PAIR = ("The cat sat on the mat", "The cat lay on the rug")
SENTENCE = "The cat sat on the mat"
SOURCE, TARGET = "She sees the small elephant.", "Sie sieht den kleinen Elefanten."
LAYERS = HEADS = 12
SPREAD = 0.15  # standard deviation of the weights
WORDS = tuple(f"w{a}{b}" for a in "bdfgjklpqruvxz" for b in "bdfgjklpqruvxz")
"""Of every vocabulary, for texts of any length."""


class Made(NamedTuple):
    """Variables of a person's notebook after running a model on a batch of one."""

    tokenizer: Any
    inputs: Any
    model: Any
    outputs: Any


def filler(n: int) -> str:
    """A text of n words, each a token of its own."""
    return " ".join(WORDS[i % len(WORDS)] for i in range(n))


def bert(texts: Sequence[str]) -> Made:
    """An encoder that reads one text or a pair."""
    from transformers import BertTokenizer

    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    pieces = ("the", "cat", "sat", "on", "mat", "lay", "ru", "##g")
    tokenizer = BertTokenizer(vocab=_numbered([*special, *pieces, *WORDS]))
    return _run(
        "Bert", "Model", tokenizer, tokenizer(*texts, return_tensors="pt"),
        hidden_size=16 * HEADS, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=64, initializer_range=SPREAD,
    )  # fmt: skip


def gpt2(text: str) -> Made:
    """A decoder alone."""
    from transformers import GPT2Tokenizer

    tokenizer = GPT2Tokenizer(**_byte_pairs([*SENTENCE.split(), *WORDS]))
    return _run(
        "GPT2", "LMHeadModel", tokenizer, tokenizer(text, return_tensors="pt"),
        n_embd=16 * HEADS, n_layer=LAYERS, n_head=HEADS, bos_token_id=0, eos_token_id=0,
        initializer_range=SPREAD,
    )  # fmt: skip


def t5(source: str, target: str) -> Made:
    """An encoder and a decoder; `decoder_input_ids` of the inputs is the target, shifted right."""
    from transformers import T5Tokenizer

    pieces = (*SOURCE[:-1].split(), *TARGET[:-1].split(), *WORDS)
    written = [f"▁{piece}" for piece in dict.fromkeys(pieces)]
    special = ("<pad>", "</s>", "<unk>")
    vocabulary = [(piece, 0.0) for piece in special] + [(piece, -1.0) for piece in (*written, ".")]
    tokenizer = T5Tokenizer(vocab=vocabulary)
    inputs = tokenizer(source, return_tensors="pt")
    inputs["decoder_input_ids"] = torch.tensor([[0, *tokenizer(target).input_ids[:-1]]])
    return _run(
        "T5", "ForConditionalGeneration", tokenizer, inputs,
        d_model=16 * HEADS, d_kv=16, d_ff=64, num_layers=LAYERS, num_heads=HEADS,
        initializer_factor=1.5, decoder_start_token_id=0,
    )  # fmt: skip


@torch.no_grad()
def _run(name: str, head: str, tokenizer: Any, inputs: Any, **fields: Any) -> Made:
    import transformers

    # attention that is not fused, so that its weights are there
    config = getattr(transformers, f"{name}Config")(
        attn_implementation="eager", vocab_size=len(tokenizer), **fields
    )
    torch.manual_seed(0)
    model = getattr(transformers, f"{name}{head}")(config).eval()
    return Made(tokenizer, inputs, model, model(**inputs, output_attentions=True))


def _numbered(pieces: Sequence[str]) -> dict[str, int]:
    return {piece: n for n, piece in enumerate(dict.fromkeys(pieces))}


def _byte_pairs(words: Sequence[str]) -> dict[str, Any]:
    """A vocabulary of byte pairs, and the merges that make each of the words one piece."""
    merges = []
    for word in words:
        merges += [(word[:end], word[end]) for end in range(1, len(word))]
        merges.append(("Ġ", word))  # the space before it
    letters = sorted({letter for pair in merges for letter in "".join(pair)})
    pieces = ["<|endoftext|>", *letters, *("".join(pair) for pair in merges)]
    return {"vocab": _numbered(pieces), "merges": list(dict.fromkeys(merges))}


ENCODER_DECODER = (
    "encoder_attention=outputs.encoder_attentions, decoder_attention=outputs.decoder_attentions, "
    "cross_attention=outputs.cross_attentions, encoder_tokens=encoder_tokens, "
    "decoder_tokens=decoder_tokens"
)
EXPLORE = "explore(AttentionTrace.from_huggingface(outputs, tokens))"
EXPLORE_BOTH = "explore(AttentionTrace.from_huggingface(outputs, encoder_tokens, decoder_tokens))"


class Line(NamedTuple):
    """A wish, a name of `MODELS`, and the lines for it: none where BertViz has no such thing."""

    wish: str
    model: str
    theirs: str | None
    ours: str


LINES = [
    Line(wish, model, None if theirs == "not there" else theirs.strip("`"), ours.strip("`"))
    for wish, model, theirs, ours in (
        row.strip("| ").split(" | ")
        for row in Path(__file__).with_suffix(".md").read_text("utf-8").splitlines()
        if row.endswith("` |")
    )
]
MODELS: dict[str, Callable[[], Made]] = {
    "bert": lambda: bert([SENTENCE]),
    "pair": lambda: bert(PAIR),
    "gpt2": lambda: gpt2(SENTENCE),
    "t5": lambda: t5(SOURCE, TARGET),
}


def variables(made: Made) -> dict[str, Any]:
    """Return what a person has in the notebook before either line."""
    names = {"inputs": made.inputs, "outputs": made.outputs, "tokenizer": made.tokenizer}
    ids = made.inputs["input_ids"][0].tolist()
    tokens = made.tokenizer.convert_ids_to_tokens(ids)
    names.update(tokens=tokens, encoder_tokens=tokens)
    if "decoder_input_ids" in made.inputs:
        read = made.inputs["decoder_input_ids"][0].tolist()
        names["decoder_tokens"] = made.tokenizer.convert_ids_to_tokens(read)
        names["generated"] = made.model.generate(
            input_ids=made.inputs["input_ids"],
            max_new_tokens=12,
            output_attentions=True,
            return_dict_in_generate=True,
        )
        return names
    names["trace"] = AttentionTrace.from_huggingface(made.outputs, tokens)
    if names["trace"].encoder_self.size:
        names["arrays"] = names["trace"].encoder_self
    if "[SEP]" in tokens:
        names["sentence_b_start"] = tokens.index("[SEP]") + 1
    return names


def ours(line: str, names: dict[str, Any]) -> Any:
    """The value of a line that is written here."""
    own = {"explore": explore, "AttentionTrace": AttentionTrace, "report": report, "Path": Path}
    return eval(line, {**own, **names})


def theirs(line: str, names: dict[str, Any]) -> str:
    """Return what a line for BertViz hands to the notebook, as HTML."""
    with bertviz.displayed() as shown:
        eval(line, {**bertviz.views(), "torch": torch, "Path": Path, **names})
    return "".join(shown)


def check(line: Line, names: dict[str, Any]) -> None:
    """Run both in the current folder."""
    value = ours(line.ours, names)
    shown = value._repr_html_() if isinstance(value, HtmlFrame) else ""
    if not (shown if line.ours.startswith("explore") else _written(value)):
        raise HeadlightError(f"{line.ours} shows nothing.")
    if line.theirs is None:
        return
    saved = line.theirs.startswith("Path")
    if not (theirs(line.theirs, names) or (saved and _written(1))):
        raise HeadlightError(f"{line.theirs} shows nothing.")


def _written(value: Any) -> bool:
    """Return whether a file was written, or these are numbers; the file is taken away."""
    path = Path("heads.html")
    if not path.exists():
        return hasattr(value, "sum") and bool(value.sum() > 0)
    written = path.stat().st_size > 1000
    path.unlink()
    return written
