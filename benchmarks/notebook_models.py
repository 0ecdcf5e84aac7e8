"""Models of `transformers` with random weights, tokenizers made by hand: nothing is downloaded.

The weights are wide enough that heads are sharp: uniform rows would be too easy to write short.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

PAIR = ("The cat sat on the mat", "The cat lay on the rug")
SENTENCE = "The cat sat on the mat"
SOURCE, TARGET = "She sees the small elephant.", "Sie sieht den kleinen Elefanten."
SPREAD = 0.15
"""Standard deviation of the weights."""
WORDS = tuple(f"w{a}{b}" for a in "bdfgjklpqruvxz" for b in "bdfgjklpqruvxz")
"""Of every vocabulary, for texts of any length."""


class Made(NamedTuple):
    """What a person has in a notebook after running a model.

    Args:
        tokenizer: of the library, with a vocabulary of its own.
        inputs: what it made of the text.
        model: with attention that is not fused.
        outputs: of the model, with all attentions; a batch of one.
    """

    tokenizer: Any
    inputs: Any
    model: Any
    outputs: Any


def filler(n: int) -> str:
    """A text of n words, each a token of its own."""
    return " ".join(WORDS[i % len(WORDS)] for i in range(n))


def bert(texts: Sequence[str], layers: int = 12, heads: int = 12) -> Made:
    """An encoder that reads one text or a pair."""
    from transformers import BertConfig, BertModel, BertTokenizer

    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    pieces = ("the", "cat", "sat", "on", "mat", "lay", "ru", "##g")
    tokenizer = BertTokenizer(vocab=_numbered([*special, *pieces, *WORDS]))
    config = _config(
        BertConfig,
        vocab_size=len(tokenizer),
        hidden_size=16 * heads,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=64,
        initializer_range=SPREAD,
    )
    inputs = tokenizer(*texts, return_tensors="pt")
    return _run(tokenizer, inputs, BertModel, config)


def gpt2(text: str, layers: int = 12, heads: int = 12) -> Made:
    """A decoder alone."""
    from transformers import GPT2Config, GPT2LMHeadModel, GPT2Tokenizer

    tokenizer = GPT2Tokenizer(**_byte_pairs([*SENTENCE.split(), *WORDS]))
    config = _config(
        GPT2Config,
        vocab_size=len(tokenizer),
        n_embd=16 * heads,
        n_layer=layers,
        n_head=heads,
        bos_token_id=0,
        eos_token_id=0,
        initializer_range=SPREAD,
    )
    inputs = tokenizer(text, return_tensors="pt")
    return _run(tokenizer, inputs, GPT2LMHeadModel, config)


def t5(source: str, target: str, layers: int = 12, heads: int = 12) -> Made:
    """An encoder and a decoder; `decoder_input_ids` of the inputs is the target, shifted right."""
    from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

    pieces = (*SOURCE[:-1].split(), *TARGET[:-1].split(), *WORDS)
    written = [f"▁{piece}" for piece in dict.fromkeys(pieces)]
    vocab = [*((one, 0.0) for one in ("<pad>", "</s>", "<unk>")), *((one, -1.0) for one in written)]
    tokenizer = T5Tokenizer(vocab=[*vocab, (".", -1.0)])
    config = _config(
        T5Config,
        vocab_size=len(tokenizer),
        d_model=16 * heads,
        d_kv=16,
        d_ff=64,
        num_layers=layers,
        num_heads=heads,
        initializer_factor=1.5,
        decoder_start_token_id=0,
    )
    inputs = tokenizer(source, return_tensors="pt")
    shifted = [0, *tokenizer(target).input_ids[:-1]]
    inputs["decoder_input_ids"] = torch.tensor([shifted])
    return _run(tokenizer, inputs, T5ForConditionalGeneration, config)


def _config(kind: Any, **fields: Any) -> Any:
    """With attention that is not fused, so that its weights are there."""
    return kind(attn_implementation="eager", **fields)


@torch.no_grad()
def _run(tokenizer: Any, inputs: Any, kind: Any, config: Any) -> Made:
    torch.manual_seed(0)
    model = kind(config).eval()
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
