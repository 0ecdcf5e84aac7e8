"""A token on its way through layer normalisation, and the view “batch or layer” beside it."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import numpy.typing as npt
import streamlit as st

from transformer import Transformer
from transformer.arrays import Floats
from transformer.paper import norms
from viz.app.chrome import charts, explanations, fields, head_picker
from viz.app.sentence import source_box
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import Job, compute, compute_in_job, controls, part, view
from viz.draw.formatting import format_number
from viz.draw.labels import display_tokens, quoted
from viz.figures import forms
from viz.figures.axes import OCHRE, VIOLET, named_color
from viz.figures.figure2 import Panel, drawing

LAYER, TOKEN = "arch_layer", "arch_token"
"""Names in the URL. That of the layer differs from that of the pages of heads, to which links lead:
Streamlit drops a parameter from a link if a widget of the current page is bound to it."""
TOGETHER = 4  # sentences of a batch
FEATURES, HIGH = 24, 432  # that are drawn, and the height of the drawing in CSS pixels
NORMS = {"after self-attention": "self_attention_norm", "after feed forward": "feed_forward_norm"}
BATCH, LAYER_NORM = "batch normalisation", "layer normalisation"


def pick_token(tokens: Sequence[str]) -> int:
    """Draw the menu of a token; return its position."""
    return fields.numbered_menu("Token", display_tokens(tokens), TOKEN, first=1, width=210)


def show_token(
    model: Transformer, name: str, x: npt.NDArray[np.floating], tokens: Sequence[str]
) -> None:
    """Draw mean and variance of a token of `x`, `[position, d_model]`, before and after a norm."""
    row = part("row", x, pick_token(tokens))
    steps = compute("steps", norms.token_norm, model, row, name)
    lines = ["| | mean | variance | least | most |", "|---|---:|---:|---:|---:|"]
    titles = ("$r$, before", "normalised", "after", r"gain $\gamma$", r"bias $\beta$")
    for title, values in zip(titles, steps, strict=True):
        numbers = map(format_number, (values.mean(), values.var(), values.min(), values.max()))
        lines.append(" | ".join([f"| {title}", *numbers]) + " |")
    st.markdown("\n".join(lines))


@view("batch or layer", needs="trace")
def batch_or_layer(bar: BarTranslation) -> None:
    """Draw a batch before a norm, and one of its numbers normalised in two ways."""
    translator, trace = bar.translator, bar.trace
    model, config = translator.model, translator.model.config
    with controls():
        layer = head_picker.pick_layer(LAYER, config.N)
        norm = NORMS[fields.menu("Norm", list(NORMS), "arch_norm", width=240)]
        token = pick_token(trace.source_tokens)
        width = config.d_model
        fields.clamp_state("arch_feature", width)
        feature = fields.whole_number("Feature", "arch_feature", 1, width, 1, width=110) - 1
    name = f"encoder.layers.{layer}.{norm}"
    others = source_box.EXAMPLES.get(trace.languages.source, ())
    others = [text for text in others if text != trace.source]
    if not others:
        language = trace.languages.name("source")
        st.text(f"There are no {language} examples in the app, so no batch to compare with.")
        return
    texts = [trace.source, *others]
    job = Job("Reading a batch", at_once=256)
    block = compute_in_job("block", job, norms.norm_texts, translator, texts, name)
    together = min(TOGETHER, len(texts))
    batches = compute("batches", norms.batches_with_first, len(texts), together)
    row = part("row", block.x, (0, token))
    steps = compute("layer_norm", norms.token_norm, model, row, name)
    jitter = compute("batch_norm", norms.batch_jitter, block, batches, token, feature)
    fixed = steps.before.mean(), steps.before.var(), steps.normalised[feature]
    picture, statistics = st.columns([3, 2], gap="large")
    with picture:
        st.subheader(f"{together} sentences before the norm: what is averaged", anchor=False)
        read = [translator.reader.text(texts[n]) for n in batches[0]]
        names = [[piece.text for piece in pieces] for pieces in read]
        charts.altair_chart(
            block_chart(block.x, names, token, feature), alt="A batch of sentences before the norm."
        )
    with statistics:
        st.subheader(f"The same number in {len(batches)} batches", anchor=False)
        for title, values, value in zip(norms.Jitter._fields, jitter, fixed, strict=True):
            alt_text = f"The {title} in each batch, by batch and by layer normalisation."
            charts.altair_chart(jitter_chart(title, values, value), alt=alt_text)
    word, number = quoted(display_tokens(trace.source_tokens)[token]), feature + 1
    low, high, always = map(format_number, (*np.quantile(jitter.normalised, (0, 1)), fixed[2]))
    explanations.explain(
        f"One block of numbers, [sentence, position, feature]; grey rows are padding. **Batch "
        f"normalisation** averages down: one feature over all tokens of the batch, without "
        "padding. Mean and variance then jitter from batch to batch, the more the fewer and the "
        f"less equal in length its sentences are: feature {number} of {word} becomes {low} to "
        f"{high}, by the sentences that happen to be beside it. **Layer normalisation** averages "
        "across: all features of one token, the same in each batch and when one sentence is "
        f"translated alone, here always {always}. So the paper's model takes it: sentences "
        "differ in length, and a translation must not depend on others. Both lack γ and β."
        + explanations.sources("§3.1", norms.layer_norm, norms.batch_jitter)
    )


def block_chart(
    x: Floats, tokens: Sequence[Sequence[str]], token: int, feature: int
) -> alt.LayerChart:
    """Draw a batch, `[sentence, position, feature]`, with the row and the column of a number."""
    longest, first = max(map(len, tokens)), max(0, min(feature - 12, x.shape[2] - FEATURES))
    drawn = range(first, min(first + FEATURES, x.shape[2]))
    wide, high = 1 / len(drawn), 1 / longest
    column = (feature - first) * wide
    panels = []
    for n, sentence in enumerate(tokens):
        marks = [(OCHRE, (column, column + wide, 0.0, 1.0))]
        if n == 0:
            marks.append((VIOLET, (0.0, 1.0, token * high, (token + 1) * high)))
        values = np.full((longest, len(drawn)), np.nan)  # padding
        values[: len(sentence)] = x[n, : len(sentence), first : drawn.stop]
        rows = [*display_tokens(sentence), *["padding"] * (longest - len(sentence))]
        padding = f"{len(sentence)} tokens + {longest - len(sentence)} padding"
        top = n * HIGH / len(tokens)
        panels.append(
            Panel(
                place=(0, 1, top, top + HIGH / len(tokens) - 6), title=f"sentence {n + 1}",
                about=padding, values=values, rows=rows, marks=marks, above=True,
                columns=[f"feature {m + 1}" for m in drawn], most=(32, FEATURES),
            )
        )  # fmt: skip
    return drawing(panels, [], HIGH)


def jitter_chart(title: str, batch: Floats, layer: float) -> alt.Chart:
    """Draw a statistic of each batch, `[batch]`, beside that of the token, which stays."""
    first, last = title == norms.Jitter._fields[0], title == norms.Jitter._fields[-1]
    numbers = range(1, len(batch) + 1)
    table = forms.long_form(
        "by", title, {BATCH: batch, LAYER_NORM: np.full(len(batch), layer)}, batch=numbers
    )
    axis = alt.Axis(grid=False, tickMinStep=1, tickCount=10, title="batch" if last else None)
    x = alt.X("batch:Q", axis=axis)
    y = alt.Y(f"{title}:Q", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4))
    color = named_color("by", {BATCH: OCHRE, LAYER_NORM: VIOLET})
    color = color if first else color.legend(None)
    tooltip = forms.tips("by", **{title: ("", ".4f")})
    return forms.curves(
        table, x, y, color, width=1, dots=36, height=112 + 40 * first + 20 * last, tooltip=tooltip
    )
