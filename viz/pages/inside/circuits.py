"""Below the walk: why the row looks at a key, and what the head writes there."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.analysis.heads.head import Head
from transformer.analysis.stream import Writer
from transformer.circuits import merging, score, writing
from transformer.text.tokenizer import WORD_START
from viz.app.chrome import charts, explanations, fields
from viz.app.links import address
from viz.app.view import compute, figure, part
from viz.draw.formatting import SEEN, counted, format_difference, format_number, listing, per_cent
from viz.draw.labels import capitalised, display_tokens, quoted
from viz.figures.score_parts import score_map

KEY, SPLIT = "key", "score"  # names in the URL
LARGEST = "largest weight"
ABOVE_MEAN, TWO_KEYS, ONE_KEY = "key − mean of keys", "first key − second", "one key"
"""Choices of the score to split: minus the mean of its row, minus another score, or alone."""
SENTENCES, PIECES, NAMED = 3, 6, 3
"""Largest pairs in sentences, pieces of each column of the table, and pieces in its sentence."""
NOTABLE = 0.1
"""Change of a logit below which a head writes hardly anything: the odds change by a tenth."""
EXPLANATION = (
    "Why here: query and key are each a sum of what the layers before wrote into the residual "
    "stream, so the score is a sum over pairs of parts. A part that is the same for every key "
    "changes no weight, so each is less its mean over the keys that the row sees, or less that of "
    "the second key; “one key” has the parts as they are. Purple parts raise the score, olive "
    "parts lower it, and large ones can cancel. "
    "Biases include those of the layer norms. Each layer norm keeps the deviation that it has on "
    "this sentence, so a part is not what the score would lose without it. What it writes: the "
    "head’s output if all of its weight were on this key, through the same norms, and without the "
    "later layers that read it."
)
"""Definition of both views, with their limits, for the explanation of the page."""


@dataclass(frozen=True)
class Row:
    """One row of one head: what it looks with, and what it looks at."""

    place: Head
    query: int
    query_token: str  # that the stream of the query begins with
    name: str
    keys: tuple[str, ...]  # tokens
    seen: npt.NDArray[np.bool_]  # `[key]`
    weights: npt.NDArray[np.floating]  # `[key]`, of the model as trained

    @property
    def order(self) -> list[int]:
        """The keys that the row sees, the largest weight first."""
        order = np.argsort(-self.weights, kind="stable")
        return [int(key) for key in order if self.seen[key]]


def row_of(
    trace: AttentionTrace, place: Head, query: int, seen: npt.NDArray[np.bool_], name: str
) -> Row:
    """Collect what a row of a trace is made of; `seen` is its row of the mask."""
    reads = trace.source_tokens if place.kind == "encoder_self" else trace.decoder_tokens
    keys = tuple(display_tokens(trace.labels(place.kind).keys))
    weights = trace.weights(place.kind)[place.layer, place.head, query]
    return Row(place, query, display_tokens(reads)[query], name, keys, seen, weights)


def show(translator: Translator, trace: AttentionTrace, row: Row, changed: str) -> None:
    """Draw both views; `changed` names a scale that is not the model's."""
    with fields.controls_row("circuit-controls"):
        key = _pick_key(row)
        splits = ABOVE_MEAN, TWO_KEYS, ONE_KEY
        compared = fields.choose_one("Score", splits, SPLIT, labelled=True)
    if changed:
        st.text(
            f"These are the scores of the model as it was trained (÷ √dₖ), without "
            f"the change above ({changed})."
        )
    left, right = st.columns([3, 2], gap="large")
    with left, st.container(key="why-score"):
        _why_here(translator, trace, row, key, compared)
    with right:
        _what_it_writes(translator, trace, row, key)


def _pick_key(row: Row) -> int:
    names = [
        LARGEST,
        *(f"{n} {token}" for n, token in enumerate(display_tokens(row.keys), start=1)),
    ]
    if not fields.clamp_choice(KEY, len(names)):  # another sentence may have fewer keys
        address.choose_by_number(KEY, names)
    named = names.__getitem__
    chosen = fields.menu("Key", range(len(names)), KEY, width=220, format_func=named)
    return chosen - 1 if chosen else row.order[0]


def _why_here(
    translator: Translator, trace: AttentionTrace, row: Row, key: int, compared: str
) -> None:
    st.subheader("Why here: the score, split", anchor=False)
    keys = row.order[:2] if compared == TWO_KEYS else [key]
    tokens = [quoted(row.keys[key]) for key in keys]
    if compared != ONE_KEY and keys == row.order:
        st.text(f"{tokens[0]} is the only key that this row sees: any score gives it 100\u00a0%.")
        return
    model, mean_over = translator.model, sorted(row.order) if compared == ABOVE_MEAN else []
    split = compute(
        "split", score.split_scores, model, trace, row.place, row.query, keys, mean_over=mean_over
    )
    scores = [float(number) for number in split.scores]
    _say(_score_sentence(row, keys, scores))
    if compared == ONE_KEY:
        values, total = part("parts", split.values, 0), scores[0]
    else:
        values, total = compute("parts", split.difference), scores[0] - scores[1]
    looks, at = quoted(row.query_token), " rather than ".join(tokens)
    largest = [
        f"{format_number(value, sign=True)} of it comes from {_part_phrase(asks, looks)} meeting "
        f"{_part_phrase(asked, at)}."
        for asks, asked, value in split.largest(values, SENTENCES)
        if abs(value) >= SEEN
    ]
    if not largest:
        st.text("No pair of parts adds 0.01 to it: there is nothing to split.")
        return
    st.markdown("\n".join(f"- {explanations.as_markdown(line)}" for line in largest))
    merged = compute("merged", merging.merge_parts, split, values)
    charts.altair_chart(
        figure("chart", score_map, merged),
        alt=f"The score of {at} by parts of the query and parts of the key.",
        key="score-parts",
        title=row.place.title,
    )
    st.caption(
        f"{values.size:,} pairs of parts in {merged.size} cells, which sum to "
        f"{format_number(float(merged.to_numpy().sum()), 4)}. Computed directly, "
        f"{'the score' if compared == ONE_KEY else 'the difference'} is {format_number(total, 4)}."
    )


def _part_phrase(writer: Writer, token: str) -> str:
    """Describe what a writer gives to a query or key in a sentence; `token` is quoted already."""
    if writer.layer is None:
        preposition = {"token": "", "position": "of ", "biases": "at "}[writer.part]
        return f"the {writer.part} {preposition}{token}"
    name = writer.title if writer.head else f"the {writer.title} network"
    return f"what {name} wrote at {token}"


def _score_sentence(row: Row, keys: Sequence[int], scores: Sequence[float]) -> str:
    tokens = [quoted(row.keys[key]) for key in keys]
    weights = [per_cent(float(row.weights[key])) for key in keys]
    numbers = [format_number(number) for number in scores]
    if len(keys) == 2:
        return (
            f"In {row.name}, {tokens[0]} scores {numbers[0]} and gets {weights[0]}; {tokens[1]} "
            f"scores {numbers[1]} and gets {weights[1]}. The difference is "
            f"{format_difference(scores[0], scores[1])}."
        )
    score = numbers[0]
    if scores[1:]:
        side = "above" if scores[0] >= scores[1] else "below"
        beyond = format_difference(scores[0], scores[1]).lstrip("+−")
        score += (
            f", {beyond} {side} the mean of the {counted(len(row.order), 'key')} that the row sees"
        )
    if not row.seen[keys[0]]:
        return (
            f"The mask hides {tokens[0]} from {row.name}, which gives it 0 %. Before the "
            f"mask its score is {score}."
        )
    name = capitalised(row.name)
    return f"{name} gives {tokens[0]} {weights[0]}. The score q · k / √dₖ is {score}."


def _what_it_writes(translator: Translator, trace: AttentionTrace, row: Row, key: int) -> None:
    st.subheader("What it writes", anchor=False)
    place, model = row.place, translator.model
    each = compute("written", writing.written_logits, model, trace, place, row.query, [key])
    logits = each[0]
    table, most = written_table(translator, place, logits), float(np.abs(logits).max())
    _say(f"At {quoted(row.keys[key])}, it {_written_text(table, most)}.")
    if not table.empty:
        for column in ("raises", "lowers"):
            table[column] = [explanations.as_markdown(piece) for piece in table[column]]
        st.table(table, border="horizontal", hide_index=True)
        caption = "Logits less their mean over the vocabulary; 0.1 more multiplies the odds of a "
        caption += "subword by 1.1."
        if place.kind == "encoder_self":
            caption += " The encoder predicts no word, so its embedding reads what the head writes."
        st.caption(caption)
    if place.kind == "cross":
        return
    copying = compute("copying", writing.copying_score, model, place)
    if np.isnan(copying):
        st.text("The head copies nothing: each λ of its copying score is 0.")
        return
    _say(
        f"Copying score of the head: {format_number(copying)}. At 1 it raises every subword "
        f"that it looks at, at −1 it lowers it."
    )


def _written_text(table: pd.DataFrame, most: float) -> str:
    raised, lowered = (
        [f"{piece} ({sign}{by})" for piece, by in zip(table[name], table[how], strict=True) if by]
        for name, how, sign in (("raises", "up by", "+"), ("lowers", "down by", "−"))
    )
    if not raised and not lowered:
        return "writes nothing: no logit changes by 0.01"
    if not raised:
        return f"raises no subword by 0.01; it lowers {lowered[0]} most"
    if most < NOTABLE:
        return f"writes hardly anything; it raises {raised[0]} most"
    return f"writes {listing(raised[:NAMED])}"


def written_table(
    translator: Translator, place: Head, logits: npt.NDArray[np.floating]
) -> pd.DataFrame:
    """Return the pieces whose logits, `[vocab]`, a head raises and lowers most, as far as seen."""
    encoder = place.kind == "encoder_self"
    tokenizer = translator.tokenizer if encoder else translator.target_tokenizer
    columns: dict[str, list[str]] = {}
    for name, by, sign in (("raises", "up by", 1), ("lowers", "down by", -1)):
        amounts = sign * logits
        order = np.argsort(-amounts, kind="stable")[:PIECES]
        best = [int(n) for n in order if amounts[n] >= SEEN]
        # each as in a text with words, where a piece inside a word has its mark
        texts = [piece.text for piece in tokenizer.pieces_of(best)]
        columns[name] = [display_tokens([text, WORD_START])[0] for text in texts]
        columns[by] = [format_number(float(amounts[n])) for n in best]
    return pd.DataFrame([*zip_longest(*columns.values(), fillvalue="")], columns=[*columns])


def _say(text: str) -> None:
    st.markdown(explanations.as_markdown(text))
