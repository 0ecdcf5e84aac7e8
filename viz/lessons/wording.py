"""Words, rows and heads that a card names: whether its sentence and the model have them."""

import re
from collections.abc import Iterator

from transformer import HeadlightError
from transformer.analysis.heads.head import Head, require_heads
from transformer.analysis.heads.removal import removed
from viz.draw.labels import KINDS_BY_NAME, display_tokens
from viz.lessons.grading import parameters
from viz.lessons.lesson import Card
from viz.lessons.measures import Sentence

_QUOTE = re.compile("“([^“”„‘‚{]+)”|„([^“”„‘‚{]+)“|‘([^“”„‘’‚{]+)’|‚([^“”„‘’‚{]+)‘")
_ROW = re.compile(
    r"\b(rows?(\sof|\sthat\s\w+)?|Zeilen?(,\sdie|\svon)?)\s"
    r"([“„][^“”„]+[”“](\s\([^)]*\))?(,|\sand|\sund)\s)*$"  # rows “a” (A), “b” and “c”
)
_HEAD = re.compile(r"\b((?:en|de)coder|cross-attention)?\s?\bL(\d{1,3})\sH(\d{1,3})\b", re.I)


def missing_names(card: Card, sentence: Sentence) -> Iterator[tuple[int, str]]:
    """Yield the line and a sentence for each name that the card's sentence or model lacks."""
    trace, translator = sentence.trace, sentence.translator
    text = re.sub("(?m)^(link|answer|words):.*|[*`]", "", card.source)  # as many lines
    kind = KINDS_BY_NAME.get(parameters(card).get("kind", ""))
    known = [trace.source, trace.target, card.words]
    if card.answer and isinstance(heads := card.answer.arguments.get("heads"), list):
        with removed(translator, heads):
            known.append(translator.translate(trace.source).text)
    source, target = trace.source_tokens, (*trace.decoder_tokens, *trace.target_tokens)
    rows = [t.lstrip("·") for t in display_tokens(source if kind == "encoder_self" else target)]
    pieces = [*rows, *(token.lstrip("·") for token in display_tokens(source))]

    def line(match: re.Match[str]) -> int:
        return card.line + text.count("\n", 0, match.start())

    for match in _QUOTE.finditer(text):
        quote = " ".join(match[match.lastindex or 0].split())
        words = re.compile(rf"(?<!\w){re.escape(quote.rstrip('.,;:?!'))}(?!\w)")
        if quote not in pieces and not any(map(words.search, known)):
            lacks = f"“{quote}” is not in “{trace.source}” or “{trace.target}”"
            advice = "quote words of these, set labels in *italics*, name others under “words:”"
            yield line(match), f"{lacks}: {advice}."
        elif kind and quote not in rows and _ROW.search(text[: match.start()][-120:]):
            names = " ".join(dict.fromkeys(rows))
            yield line(match), f"“{quote}” is not a row of this head: choose among {names}."
    for match in _HEAD.finditer(text):
        named = KINDS_BY_NAME.get((match[1] or "").casefold(), kind or "cross")
        try:
            require_heads(translator.model, [Head(named, int(match[2]) - 1, int(match[3]) - 1)])
        except HeadlightError as error:
            yield line(match), str(error)
