"""Labels of kinds, heads, axes and pieces on the screen."""

from collections.abc import Sequence
from typing import NamedTuple, get_args

from transformer.kinds import KIND_NAMES, Kind, Row
from transformer.text import special_tokens, tokenizer, words
from transformer.text.languages import Languages, Side

SECTIONS: dict[str, dict[str, str]] = {
    "": {"translate": "Translate", "training": "Training"},
    "Heads": {
        "heads": "All heads",
        "inside": "Inside a head",
        "roles": "What heads do",
        "corpus": "Corpus",
    },
    "The paper": {
        "architecture": "Figure 1",
        "figure2": "Figure 2",
        "self_attention": "Why self-attention",
        "additive": "Additive or dot-product",
        "tables": "Tables 2 and 3",
        "masks": "Masks",
        "positions": "Positions",
        "schedule": "Schedule",
        "hooks": "Hooks",
    },
}
"""Titles of the pages by their paths in the URL, by the menu that lists them; "" without a menu."""

PAGE_TITLES = {path: title for pages in SECTIONS.values() for path, title in pages.items()}

SCREEN_NAMES = KIND_NAMES
"""The kinds of attention as the screen and the URL name them: encoder, decoder, cross-attention."""

KINDS_BY_NAME: dict[str, Kind] = {name: kind for kind, name in SCREEN_NAMES.items()}

ROW_VERBS: dict[Row, str] = {"reads": "reads", "writes": "predicts"}
"""Verbs for the two tokens of a decoder step on the screen, by the choice of a row's name."""

ROW_NAMES: dict[Row, str] = {"reads": "word read", "writes": "word predicted"}
"""Names of the two words of a decoder step, on the screen and in the URL."""

_SPECIAL_TOKENS = frozenset({*tokenizer.SPECIAL.values(), "<unk>"})


class AxisTitles(NamedTuple):
    """Titles of the rows and of the columns of a map."""

    rows: str
    columns: str


def axis_titles(
    kind: Kind, languages: Languages, *, row: Row | None = None, alone: bool = False
) -> AxisTitles:
    """Return the titles of the axes of a map.

    A row of the decoder is named by `row`: by default, a row of `cross` by what it writes, and one
    of `decoder_self` by what it reads. With `alone`, there is one sentence, as in an encoder or a
    decoder by itself.
    """
    source, target = (capitalised(languages.name(side)) for side in get_args(Side))
    where = f"{source}: where it looks"
    if alone and kind != "cross":
        return AxisTitles("The position that looks", "Where it looks")
    if kind == "encoder_self":
        return AxisTitles(f"{source}: the position that looks", where)
    if kind == "decoder_self":
        named, where = row or "reads", f"{target} read so far: where it looks"
    else:
        named = row or "writes"
    which = "last" if named == "reads" else "next"
    return AxisTitles(f"{target}: {which} {ROW_NAMES[named]}", where)


def head_name(layer: int | None, head: int | None) -> str:
    """Format a head as `L3 H5`, counted from 1; a dash is a mean over layers or heads."""
    return f"L{'–' if layer is None else layer + 1} H{'–' if head is None else head + 1}"


def shown_scale(scale: str) -> str:
    """Format a scale of q · k with a subscript k."""
    return scale.replace("d_k", "dₖ")


def head_title(kind: Kind, layer: int | None, head: int | None) -> str:
    """Format a head as `L3 H5 · cross-attention`; see `head_name`."""
    return f"{head_name(layer, head)} · {SCREEN_NAMES[kind]}"


def named_head(kind: Kind, layer: int, head: int) -> str:
    """Format a head in a sentence, as `cross-attention L3 H5`."""
    return f"{SCREEN_NAMES[kind]} {head_name(layer, head)}"


def role_name(role: str, kind: Kind) -> str:
    """Return the name of a role on the screen, the same everywhere."""
    first = "start" if kind == "decoder_self" else "first word"
    return first if role == "first" else measure_name(role)


def measure_name(text: str) -> str:
    """Return a text that names measures of heads, as the screen and the URL name them."""
    text = text.replace("loss without", "loss increase").replace("BLEU without", "BLEU change")
    return text.replace("end token", "end")


_NAMES = {"<s>": "start", "</s>": "end"}


def quoted(token: str) -> str:
    """Quote a token, isolated from the direction of the text around it, as pictures name it."""
    return f"“\u2068{_NAMES.get(token, token)}\u2069”"


def decoder_rows(reads: Sequence[str], writes: Sequence[str]) -> list[str]:
    """Describe each row of the decoder: `reads “Hunde” and predicts “rennen”`."""
    # both at once, so that a piece is marked alike on each side
    texts = [quoted(token) for token in display_tokens([*reads, *writes])]
    pairs = zip(texts[: len(reads)], texts[len(reads) :], strict=True)
    return [f"reads {read} and predicts {written}" for read, written in pairs]


def row_names(
    queries: Sequence[str],
    *,
    reads: Sequence[str] | None = None,
    writes: Sequence[str] | None = None,
) -> list[str]:
    """Return the name of each row of a map in a sentence, the same on every page.

    The queries name the rows; the decoder `reads` something else at each, or `writes` it. Without
    both, they are rows of the encoder.
    """
    if reads is None and writes is None:
        return [f"the row of {quoted(token)}" for token in display_tokens(queries)]
    names = decoder_rows(reads or queries, writes or queries)
    return [f"the step that {name}" for name in names]


def capitalised(text: str) -> str:
    """Capitalise the first letter of a text."""
    return text[:1].upper() + text[1:]


def display_tokens(tokens: Sequence[str]) -> list[str]:
    """Return the tokens of one axis as people read them: with *start* and *end*."""
    return [_NAMES.get(token, token) for token in browser_tokens(tokens)]


def browser_tokens(tokens: Sequence[str]) -> list[str]:
    """Return the tokens of one axis for a picture in the browser, which names `<s>` and `</s>`.

    Most pieces begin a word, so these stay plain and lose SentencePiece's `▁`; a piece that
    continues a word gets a mark, `·es`. Full stops and commas have none: it is plain that they
    continue, and a dot before a dot would be misread. An axis without any `▁` holds whole words,
    and nothing is marked.
    """
    pieces = any(token.startswith(tokenizer.WORD_START) for token in tokens)
    return [_display_token(token, pieces) for token in tokens]


def _display_token(token: str, pieces: bool) -> str:
    if token in _SPECIAL_TOKENS or special_tokens.looks_special(token):
        return token
    text = token.removeprefix(tokenizer.WORD_START).replace(tokenizer.WORD_START, " ")
    if not text.strip():
        return "␣"  # a piece that is a space and nothing else still needs a label
    goes_on = pieces and not token.startswith(tokenizer.WORD_START) and words.has_letter(text)
    return f"·{text}" if goes_on else text
