"""Below “Heads”: the attention of each layer by the class of the token that receives it."""

import pandas as pd
import streamlit as st

from transformer import KINDS, Translator
from transformer.corpus.measured import MeasuredLines
from transformer.corpus.token_classes import EVEN, RULE, class_weights
from viz.app.chrome import charts
from viz.app.chrome.explanations import as_markdown
from viz.app.view import Offer, compute_on_request, figure
from viz.draw.formatting import counted, per_cent
from viz.draw.labels import SCREEN_NAMES, capitalised, display_tokens
from viz.figures.changes import classes_chart

MAX_NAMED = 20  # function words that are named


def show(translator: Translator, lines: MeasuredLines) -> None:
    """Draw each kind's layers, computed when the user asks."""
    st.subheader("Special tokens, punctuation or words?", anchor=False)
    title, label = "Summing attention by class of token", "Sum attention by class of token over "
    offer = Offer("corpus-classes", title, label + counted(len(lines), "line"))
    weights = compute_on_request("weights", offer, class_weights, translator, lines)
    if weights is None:
        return
    for kind, column in zip(KINDS, st.columns(len(KINDS), gap="medium"), strict=True):
        table = weights.table[weights.table["kind"] == kind]
        name = capitalised(SCREEN_NAMES[kind])
        alt = f"{name}: share of attention of each class of token, by layer."
        with column:
            chart = figure(f"{kind}_classes", classes_chart, weights.table, kind)
            charts.altair_chart(chart, key=f"corpus-classes-{kind}", alt=alt)
            st.caption(f"{name}: {classes_text(table)}")
    words = display_tokens(weights.function_words)
    more = f"; {len(words) - MAX_NAMED} more" if len(words) > MAX_NAMED else ""
    text = (
        f"{RULE} Here: {', '.join(words[:MAX_NAMED]) or 'none'}{more}. Shares are means over heads "
        f"and rows. The bar “{EVEN}” is what each class gets if every row gives all its tokens the "
        f"same weight."
    )
    st.caption(as_markdown(text))
    charts.table_downloads(weights.table, "token-classes")


def classes_text(table: pd.DataFrame) -> str:
    """Say which layer gives special tokens most, with its interval, beside even attention."""
    special = table[table["class"] == "special"].set_index("layer")[["share", "low", "high"]]
    most = str(special["share"].drop(EVEN).idxmax())
    share, low, high = map(per_cent, special.loc[most].to_numpy(float))
    even = per_cent(float(special["share"].to_numpy()[0]))
    return (
        f"L{most} gives special tokens the most: {share} ({low} to {high}); even attention: {even}."
    )
