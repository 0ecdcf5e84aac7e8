"""The page “Masks”: visible keys in a padded batch, and leaks without a mask (§3.1, §3.2.3)."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, Context
from functools import partial
from typing import Any, get_args

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, Kind, attention, kinds
from transformer.analysis.teacher_forcing import batch_traces
from transformer.arrays import Floats
from transformer.masks import causal_mask, padding_and_causal_mask, padding_mask
from transformer.paper import masking
from transformer.paper.masking import MODEL_MASKS, Leak, MaskName, leak
from transformer.text.languages import Languages
from viz.app.chrome import charts, fields, head_picker, mounts
from viz.app.chrome.explanations import explain, sources
from viz.app.sentence import further_sentences
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import Page, compute, controls, figure, view
from viz.draw.formatting import counted, format_difference, listing
from viz.draw.labels import SCREEN_NAMES, capitalised, display_tokens, head_name, row_names
from viz.draw.mask_grids import PADDING, MaskGrid, Row, describe_row, encode_masks, row_of
from viz.figures.axes import GREY, INK, bare_axis, vega_json
from viz.figures.forms import TEXT, dumbbells, tips
from viz.figures.head_cells import head_cells

IN_USE = "in use"  # choice of the mask that the model has
BOOLEANS, NUMBERS = "True/False", "0/−∞"
WITHOUT_MASK = "remove the mask"
VIEW, WHICH, STYLE, SENTENCE, ROW = "mask-view", "mask", "mask-as", "mask-sentence", "mask-row"
"""Names in the URL; sentences and rows count from 1 there."""

_NAMES: dict[MaskName, str] = {
    "padding": "padding mask",
    "causal": "causal mask",
    "both": "padding and causal mask",
}


def _pick_kind(*, disabled: bool = False) -> Kind:
    with controls():
        return head_picker.pick_kind(default="decoder", disabled=disabled)


def _places(
    bar: BarTranslation,
) -> tuple[DeltaGenerator, DeltaGenerator, list[AttentionTrace]]:
    """Return the places of the picture and its explanation, and the traces of the batch."""
    picture = st.container(key="mask-picture")
    explanation, sentences = st.columns([2, 1], gap="large")
    with sentences:
        return picture, explanation, further_sentences.traces(bar)


def _number(label: str, key: str, maximum: int, default: int = 1) -> int:
    """Draw a field that counts from 1; return an index from 0."""
    default = min(default, maximum)
    fields.clamp_state(key, maximum, default)
    return fields.whole_number(label, key, 1, maximum, default, width=120) - 1


@view("who sees whom", needs="trace")
def who_sees_whom(bar: BarTranslation) -> None:
    """Draw which keys the mask hides from each position, in each sentence of the batch."""
    kind = _pick_kind()
    picture, description, traces = _places(bar)
    batch = compute("batch", batch_traces, traces)
    labels = masking.labels(batch, kind)
    with controls():
        choice = fields.choose_one("Mask", (IN_USE, *get_args(MaskName)), WHICH, labelled=True)
        mask: MaskName = MODEL_MASKS[kind] if choice == IN_USE else choice
        with st.popover("Options", width="content"):
            style = fields.choose_one("Draw as", (BOOLEANS, NUMBERS), STYLE, labelled=True)
            sentence = _number("Sentence", SENTENCE, len(labels))
            # the first row sees nothing but itself
            query = _number("Row", ROW, len(labels[sentence].queries), default=3)

    def choose(row: Row) -> None:
        st.session_state[SENTENCE], st.session_state[ROW] = (index + 1 for index in row)

    reasons = compute("reasons", masking.mask_reasons, batch, kind, mask)
    real = masking.real_queries(batch, kind)
    columns = [masking.real_queries(batch, "encoder_self")] if kind == "cross" else []
    titles = _titles(real, *columns)
    names = list(map(row_names, batch.source_tokens))
    if kind != "encoder_self":
        pairs = zip(batch.decoder_tokens, batch.target_tokens, strict=True)
        names = [row_names(reads, reads=reads, writes=writes) for reads, writes in pairs]
    title = f"{capitalised(kinds.KIND_TITLES[kind])}, {_NAMES[mask]}"
    with picture:
        # cross-attention has no causal mask, so both masks together are that of padding
        in_use = mask == MODEL_MASKS[kind] or (kind == "cross" and mask == "both")
        use = "as the model uses it" if in_use else "not used by the model"
        st.subheader(f"{title}, {use}", anchor=False)
        shown = [bar.origin_of(trace).pair for trace in traces]
        grids = [MaskGrid(*parts) for parts in zip(titles, reasons, labels, names, strict=True)]
        data = encode_masks(
            grids,
            kind,
            title=title,
            as_numbers=style == NUMBERS,
            chosen=(sentence, query),
            caption=[*shown, f"{title}, {use}.", f"{bar.origin.made_by}."],
        )
        mounts.mount_choice("mask-grids", data, lambda sent: row_of(sent, grids), choose)
    with description:
        keys = display_tokens(labels[sentence].keys)
        with st.container(key="mask-words", gap="xsmall"):
            row_reasons = reasons[sentence, query].tolist()
            for text in describe_row(names[sentence][query], keys, row_reasons):
                st.text(text)
            if not real[sentence, query]:
                st.text("This row is padding: the model computes it, but nothing reads it.")
        _explain_grids(kind, traces[0].languages)


def _titles(*real: npt.NDArray[np.bool_]) -> list[str]:
    """Count the real tokens and the padding of each sentence, `[sentence, position]`."""

    def size(real: npt.NDArray[np.bool_], thing: str) -> str:
        padding = int((~real).sum())
        return counted(int(real.sum()), thing) + (f" + {padding} padding" if padding else "")

    things = ("token",) if len(real) == 1 else ("row", "column")
    sizes = (map(size, sides, things) for sides in zip(*real, strict=True))
    return [f"Sentence {n}: {', '.join(texts)}" for n, texts in enumerate(sizes, start=1)]


def _explain_grids(kind: Kind, languages: Languages) -> None:
    which_mask: dict[Kind, str] = {
        "encoder_self": f"Every {languages.name('source')} token may see the whole sentence: the "
        "mask hides only padding.",
        "decoder_self": "No position may see words that are not written yet: the mask prevents "
        "leftward information flow, so that the decoder stays auto-regressive. Padding is on the "
        "right, so the same mask hides it.",
        "cross": f"{capitalised(languages.with_article('target', 'token'))} is neither before nor "
        f"after {languages.with_article('source', 'one')}: the mask hides only padding, so “both” "
        "is the padding mask.",
    }
    functions = padding_mask, causal_mask, padding_and_causal_mask, attention.attention_scores
    explain(
        "Each row is a position, each column a token that it may or may not see. Padding makes all "
        f"sentences of a batch equally long. {which_mask[kind]} A mask adds −∞ to a score before "
        "the softmax, so the weight is exactly 0." + sources("§3.2.3, equation 1", *functions)
    )


@view("shift right", needs="trace")
def shift_right(bar: BarTranslation) -> None:
    """Draw what the decoder reads and predicts at each position."""
    _pick_kind(disabled=True)
    picture, explanation, traces = _places(bar)
    batch = compute("batch", batch_traces, traces)
    with picture:
        st.subheader("Follow a line: the decoder reads what it wrote one step before", anchor=False)
        titles = _titles(masking.real_queries(batch, "decoder_self"))
        with st.container(key="mask-shift"):
            read, written = batch.decoder_tokens, batch.target_tokens
            charts.altair_chart(
                figure("chart", shift_chart, read, written, titles),
                width="content",
                alt="What the decoder reads and predicts at each position of each sentence.",
            )
    with explanation:
        explain(
            "The decoder's input is its output, shifted right by one position, with *start* "
            "in front: the model is auto-regressive, what it wrote is what it reads next. With the "
            "causal mask, each prediction depends only on earlier tokens, so one pass trains all "
            "positions." + sources("§3, §3.1", batch_traces)
        )


@view(WITHOUT_MASK, needs="trace")
def remove_the_mask(bar: BarTranslation) -> None:
    """Draw where attention goes and how the loss changes without the mask."""
    kind = _pick_kind()
    leaks, losses = st.columns(2, gap="large")
    picture = losses.container(key="mask-losses")
    with losses:
        traces = further_sentences.traces(bar)
    with controls():
        sentence = _number("Sentence", SENTENCE, len(traces))
    model = bar.translator.model
    batch = compute("batch", batch_traces, traces)
    masked = compute("masked", leak, model, batch, kind, masked=True)
    unmasked = compute("unmasked", leak, model, batch, kind, masked=False)
    with leaks:
        st.subheader(f"Attention to {HIDDEN[kind]} without the mask", anchor=False)
        charts.altair_chart(
            share_chart(unmasked.to_hidden),
            alt=f"The share of each {SCREEN_NAMES[kind]} head's attention to {HIDDEN[kind]}.",
        )
        _explain_leak(masked, unmasked, kind)
    with picture:
        with_mask, without_mask = (leak.mean_losses[sentence] for leak in (masked, unmasked))
        st.subheader(
            f"Loss on each next token of sentence {sentence + 1}: {with_mask:.3f} nats with the "
            f"mask, {without_mask:.3f} without it",
            anchor=False,
        )
        tokens = batch.target_tokens[sentence]
        charts.altair_chart(
            loss_chart(tokens, masked.loss[sentence], unmasked.loss[sentence]),
            alt="The loss on each next word, with the mask and without it.",
        )
        share, hidden = f"{unmasked.mean_shares[sentence]:.1%}", "padding"
        if kind == "decoder_self":
            hidden = "later token"
        leaked = f"Attention to {HIDDEN[kind]} in this sentence: {share}."
        nothing = f"This sentence has no {hidden}, so nothing leaks into it."
        st.text(leaked if unmasked.hides[sentence] else nothing)


SAME, SMALL = 0.0005, 0.05
"""Changes in nats: one below `SAME` is not printed, one below `SMALL` changes the probability of a
piece by less than a twentieth."""

HIDDEN: dict[Kind, str] = {
    "encoder_self": "padding",
    "decoder_self": "later words",
    "cross": "padding",
}
_MEANING: dict[Kind, str] = {
    "encoder_self": "Padding has a vector like any token: without the mask, the model would read a "
    "sentence differently with other sentences beside it.",
    "decoder_self": "A model that sees the next word in training learns to copy it. In a real "
    "translation the next word is unknown. Padding stays hidden.",
    "cross": "Padding has a vector like any token: without the mask, a translation would change "
    "with the sentences beside it.",
}


def _explain_leak(masked: Leak, unmasked: Leak, kind: Kind) -> None:
    with st.container(horizontal=True, gap="medium"):
        for label, losses in (
            ("Loss with the mask, whole batch", masked),
            ("Loss without the mask, whole batch", unmasked),
        ):
            st.metric(label, f"{losses.mean_loss:.3f} nats", width="content")
        st.metric(
            f"Attention to {HIDDEN[kind]}",
            f"{unmasked.to_hidden.mean():.1%}",
            help="Averaged over all heads, without the mask. With the mask it is "
            f"{masked.to_hidden.max():.4f} in every head.",
            width="content",
        )
    explain(
        f"{describe_change(masked, unmasked, kind)} {_MEANING[kind]} The page removes this mask in "
        "all layers and keeps the others. The loss is −log probability of the next subword, in "
        "nats. Means are over the batch, without the rows of padding." + sources("§3.2.3", leak)
    )


_NOTHING = (
    "Add a sentence of another length: {reason}, so this mask hides nothing and the loss stays the "
    "same."
)
_STAYS = "Without the mask the loss stays at {before:.3f} nats."
_UNSURE = (
    "Without the mask the loss goes {where}from {before:.3f} to {after:.3f} nats: by {difference} "
    "± {error:.3f} (two standard errors over {pieces}), which may be no change at all."
)
_CHANGES = (
    "Without the mask the loss **{verb}**{slightly}, {where}from {before:.3f} to {after:.3f} nats: "
    "{meaning}."
)
_OTHERS = " {sentences} {has} {lacks}: the loss is the same {rounding}."


def describe_change(masked: Leak, unmasked: Leak, kind: Kind) -> str:
    """Describe the change of the loss without the mask, where the mask hid something.

    A change counts where the mean over the pieces is more than two standard errors from 0.
    """
    hides, causal = unmasked.hides, kind == "decoder_self"
    if not hides.any():
        every = "every sentence of this batch has one position"
        return _NOTHING.format(reason=every if causal else "no sentence of this batch is padded")
    before, after = (float(np.nanmean(leak.loss[hides])) for leak in (masked, unmasked))
    changes = (unmasked.loss - masked.loss)[hides]
    changes = changes[~np.isnan(changes)]
    change, pieces = float(changes.mean()), len(changes)
    # one piece has no standard error
    error = 2 * float(changes.std(ddof=1)) / pieces**0.5 if pieces > 1 else np.inf
    template = _CHANGES if abs(change) > error else _UNSURE
    return (_STAYS if abs(change) < SAME else template).format(
        before=before,
        after=after,
        difference=format_difference(after, before, 3),
        error=error,
        pieces=counted(pieces, "subword"),
        verb="rises" if change > 0 else "falls",
        slightly=" slightly" if abs(change) < SMALL else "",
        where="" if hides.all() else f"in {_sentences(hides)}, {_subset(hides, causal)}, ",
        meaning=_meaning_of_change(change, kind),
    ) + _describe_others(masked, unmasked, causal)


def _subset(hides: npt.NDArray[np.bool_], causal: bool) -> str:
    return f"the {'longer' if causal else 'padded'} {'one' if hides.sum() == 1 else 'ones'}"


def _meaning_of_change(change: float, kind: Kind) -> str:
    leaks = f"what leaks from {HIDDEN[kind]}"
    if change > 0:
        return f"this model was trained with the mask, and {leaks} disturbs it"
    if kind == "decoder_self":
        return f"the model uses {leaks}, although it was trained without it"
    return "what leaks in happens to help on these sentences"


def _describe_others(masked: Leak, unmasked: Leak, causal: bool) -> str:
    """Describe the sentences in which the mask hides nothing: their loss differs by rounding."""
    others = ~unmasked.hides
    if not others.any():
        return ""
    largest = float(np.nanmax(np.abs(unmasked.loss - masked.loss)[others]))
    bound = Context(prec=1, rounding=ROUND_CEILING).create_decimal(f"{largest:.6g}")
    nats = f"up to rounding, {float(bound):.0e} nats at most"
    return _OTHERS.format(
        sentences=capitalised(_sentences(others)),
        has="has" if others.sum() == 1 else "have",
        lacks="one position" if causal else "no padding",
        rounding=nats if largest else "to the last digit",
    )


def _sentences(selected: npt.NDArray[np.bool_]) -> str:
    numbers = [str(number) for number in np.flatnonzero(selected) + 1]
    return f"sentence{'' if len(numbers) == 1 else 's'} {listing(numbers)}"


LEAKED = "#9166CC"  # visible on a light and on a dark page
WITH, WITHOUT = "with the mask", "without it"

_LINE = 24  # CSS pixels of a token in a list
_FADED = 0.68  # opacity of padding, which is still readable
# the first label of a list is aligned with the others
_PLAIN: dict[str, Any] = {"labelFlush": False, "labelBound": False}
# columns of the shift: tokens read at 0, tokens written at 1, the next sentence from 3
_APART, _MARGIN, _UNIT = 3, 0.9, 88  # the last in CSS pixels


def shift_chart(
    reads: Sequence[Sequence[str]], writes: Sequence[Sequence[str]], titles: Sequence[str]
) -> alt.LayerChart:
    """Draw the tokens that the decoder reads and writes: the same ones, a step apart (§3.1)."""
    rows: list[tuple[int, int, str, str, float]] = []
    ends: list[tuple[int, int, int, int, str]] = []
    for sentence, (read, written) in enumerate(zip(reads, writes, strict=True)):
        # both sides together, so that a piece is marked in the same way on each
        shown = display_tokens([*read, *written])
        left = _APART * sentence
        for n, (before, after) in enumerate(zip(shown, shown[len(read) :], strict=False)):
            opacity = _FADED if written[n] == PADDING else 1.0
            rows += [(left, n, "reads", before, opacity), (left + 1, n, "predicts", after, opacity)]
            if n and written[n] != PADDING:
                text = f"position {n} predicts “{before}”, position {n + 1} reads it"
                ends.append((left + 1, n - 1, left, n, text))
    tokens = pd.DataFrame(rows, columns=["column", "position", "side", "token", "opacity"])
    lines = pd.DataFrame(ends, columns=["written", "from", "read", "to", "text"])
    headings = pd.DataFrame({"column": _APART * np.arange(len(titles)) - _MARGIN, "title": titles})
    last = _APART * (len(titles) - 1) + 1 + _MARGIN
    scale = alt.Scale(domain=[-_MARGIN, last], nice=False)
    columns = [_APART * n + side for n in range(len(titles)) for side in (0, 1)]
    names = f"datum.value % {_APART} == 0 ? 'reads' : 'predicts'"
    axis = bare_axis(values=columns, labelExpr=names, orient="top", **_PLAIN)
    x = alt.X("column:Q", title=None, scale=scale, axis=axis)
    y = alt.Y("position:O", title=None, axis=bare_axis(labelExpr="datum.value + 1", **_PLAIN))
    reads_side = "datum.side == 'reads'"
    align, dx = (alt.expr(f"{reads_side} ? {x}") for x in ("'right' : 'left'", "14 : -14"))
    texts = alt.Chart(tokens).mark_text(align=align, dx=dx, fontSize=13, limit=125, color=INK)
    faded = alt.Opacity("opacity:Q", scale=None)
    texts = texts.encode(x, y, faded, text=alt.Text("token:N"), tooltip=alt.Tooltip("token"))
    line = alt.Chart(lines).mark_rule(color=GREY, strokeWidth=1.5, xOffset=-18, x2Offset=18)
    ends_of_line = {"x": "written:Q", "x2": "read:Q", "y": "from:O", "y2": "to:O"}
    rules = line.encode(**ends_of_line, tooltip=alt.Tooltip("text:N", title="shift right"))
    heading = alt.Chart(headings).mark_text(align="left", fontSize=14, fontWeight=600, color=INK)
    layers = [texts, rules, heading.encode(x=x, y=alt.YValue(-36), text=alt.Text("title:N"))]
    width = round(_UNIT * (last + _MARGIN))
    return alt.LayerChart(layer=layers, width=width, height=alt.Step(_LINE))


def share_chart(to_hidden: Floats) -> alt.LayerChart:
    """Draw the share of each head's attention, `[layer, head]`, on keys the mask would hide."""
    layer, head = (place.ravel() for place in np.indices(to_hidden.shape))
    share = to_hidden.ravel()
    # pale means little on a light and on a dark page
    table = pd.DataFrame({"layer": layer, "head": head, "share": share}).assign(
        name=[head_name(*place) for place in np.ndindex(to_hidden.shape)],
        color=LEAKED,
        opacity=0.06 + 0.84 * share,
        text=[f"{part:.0%}" for part in share],
        size=12,
    )
    tooltip = tips(name=("head", TEXT), share=("attention to hidden tokens", ".4%"))
    return head_cells(table, alt.Step(40), tooltip, cornerRadius=2)


def loss_chart(tokens: Sequence[str], masked: Floats, unmasked: Floats) -> alt.LayerChart:
    """Draw -log p of each next token, `[target]` in nats, with the mask and without it."""
    names = display_tokens(tokens)
    columns = {"position": range(len(names)), "token": names, "change": unmasked - masked}
    axis = bare_axis(labelExpr=f"{vega_json(names)}[datum.value]", labelLimit=120, **_PLAIN)
    change = {"nats": ("", ".4f"), "change": ("changed by", "+.4f")}
    return dumbbells(
        pd.DataFrame({**columns, WITH: masked, WITHOUT: unmasked}).dropna(),
        "mask",
        {WITH: GREY, WITHOUT: LEAKED},
        (150, 60),
        x=alt.X("nats:Q", title="nats", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5)),
        y=alt.Y("position:O", title="next token", axis=axis),
        height=alt.Step(_LINE),
        tooltip=tips(token=("next token", TEXT), mask=("", TEXT), **change),
    )


PAGE = Page(
    "masks",
    "Which tokens may each position see?",
    ("auto-regressive", "encoder", "decoder", "cross-attention", "end", "loss", "nat"),
    (who_sees_whom, shift_right, remove_the_mask),
    menu=VIEW,
    pick=partial(fields.choose_one, default=WITHOUT_MASK),
    row="mask-controls",
)
