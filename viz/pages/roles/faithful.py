"""The view “Faithful?”: words erased, weights made uniform or permuted, and the change of log P."""

from collections.abc import Mapping, Sequence
from functools import partial

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from transformer import (
    AttentionTrace,
    CheckpointError,
    HeadlightError,
    Kind,
    Transformer,
    Translator,
)
from transformer.analysis.stored import Figure
from transformer.corpus import faithfulness_report
from transformer.corpus.faithfulness import (
    FRACTIONS,
    drops_without_each_word,
    erase,
    kendall,
    permuted_changes,
    uniform_changes,
    word_scores,
)
from transformer.corpus.faithfulness_report import COMMAND, Curves, FaithfulnessReport
from transformer.kinds import KIND_TITLES, KINDS
from viz.app import jobs
from viz.app.cache import memory
from viz.app.chrome import charts, head_picker, problems
from viz.app.chrome.explanations import explain, sources
from viz.app.chrome.fields import choose_one, controls_row, menu, whole_number
from viz.app.sentence import python_code, sentence_bar
from viz.draw import palette
from viz.draw.formatting import format_number
from viz.figures import axes, forms
from viz.pages.roles import removal
from viz.pages.roles.faithful_results import (
    attention_text,
    corpus_sentences,
    corpus_text,
    erase_by_lenses,
    measured_pieces,
    screen_name,
    sentence_text,
)

TESTS = ERASE, UNIFORM, PERMUTED = "erase words", "uniform attention", "permuted attention"

TITLES = {
    "comprehensiveness": "Comprehensiveness: how far log probability falls without the top words "
    "(higher is better)",
    "sufficiency": "Sufficiency: how far it falls with the top words alone (lower is better)",
}
"""Titles of the fields of `Curves`."""
_ERASED_SENTENCE = "faithful.erased_sentence"


def show() -> None:
    """Draw the view: a test on the sentence in the bar, and the same test on a corpus."""
    if (bar := sentence_bar.traced()) is None:
        return
    translator, trace = bar.translator, bar.trace
    report: FaithfulnessReport | None = None
    missing = (
        f"This model's lenses are not tested on a corpus yet: run {COMMAND} --checkpoint "
        f"{translator.folder.name} --src FILE, one {translator.source_language} sentence per line."
    )
    try:
        report = faithfulness_report.read(translator.folder)
    except CheckpointError as error:
        missing = problems.without_paths(error)
    with controls_row("faithful-controls"):
        test = choose_one("Test", TESTS, "faithful_test")
        kind: Kind | None = None
        layer: int | None = None
        if test != ERASE:
            kind = head_picker.pick_kind()
            layers = ["all", *(str(n + 1) for n in range(translator.model.config.stack(kind).N))]
            choice = menu("Layers", layers, "faithful_layers", width=130)
            layer = None if choice == "all" else int(choice) - 1
        seed = 0 if test == UNIFORM else whole_number("Seed", "faithful_seed", 0, 9_999, 0)
        requested, sentence = False, (translator.checksum, trace.source, trace.target)
        if test == ERASE:  # which takes seconds
            label = "Erase on this sentence"
            if st.button(label, key="faithful-erase", icon=":material/ink_eraser:"):
                st.session_state[_ERASED_SENTENCE] = sentence
            requested = st.session_state.get(_ERASED_SENTENCE) == sentence
    waits = test == ERASE and not requested
    # before the button is pressed, the development set has all the width, and comes first
    right, left = (st.container(), st.container()) if waits else st.columns(2, gap="medium")[::-1]
    with left:
        st.subheader("On this sentence", anchor=False)
        code = ""
        try:
            if kind is not None:
                _replace(translator.model, trace, test, kind, layer, seed)
                weights, deal = test.split()[0], "" if test == UNIFORM else f", seed={seed}"
                given = f"{kind!r}, {None if layer is None else (layer,)}{deal}"
                code = f"""
                    # Change of each word with {test}
                    changes = faithfulness.{weights}_changes(translator.model, trace, {given})
                    result = np.add.reduceat(changes, first_pieces(trace.target_pieces))
                """
            else:
                _erase(translator, trace, seed, requested=requested)
                code = _erased_code(trace, seed) if requested else ""
        except HeadlightError as error:
            problems.say(error)
    with right:
        st.subheader("Over many sentences", anchor=False)
        if report is None:
            st.text(missing)
        elif kind is None:
            _stored_erasing(report, wide=waits)
        else:
            _stored_attention(report, test)
    _explain(test)
    fields = "lenses, report.random, report.fractions" if test == ERASE else "attention"
    stored = f"""
        # On a development set
        report = faithfulness_report.read(translator.folder)
        result = report and (report.{fields})
    """
    python_code.show_code(code, stored)


def _erased_code(trace: AttentionTrace, seed: int) -> str:
    return f"""
        model, targets = translator.model, np.array({measured_pieces(trace).tolist()})
        drops, test = faithfulness.drops_without_each_word(model, trace), faithfulness
        tested = {{
            x: test.lens_faithfulness(translator, trace, x, drops, targets) for x in lenses.NAMES
        }}
        random = {{{RANDOM!r}: test.random_erasing(model, trace, {seed}, targets=targets)}}
        erasing = {{name: lens.erasing for name, lens in tested.items()}} | random
        # {TITLES["comprehensiveness"]}
        result = {{name: falls.comprehensiveness.mean(0) for name, falls in erasing.items()}}
        # {TITLES["sufficiency"]}
        result = {{name: falls.sufficiency.mean(0) for name, falls in erasing.items()}}
        # Kendall's τ
        result = {{name: test.mean_agreement(lens.kendall) for name, lens in tested.items()}}
    """


def _erase(translator: Translator, trace: AttentionTrace, seed: int, *, requested: bool) -> None:
    measured_pieces(trace)  # raises for a sentence that cannot be tested, before the button is used
    if not requested:
        st.text("Press “Erase on this sentence” to run the test here; it takes some seconds.")
        return
    work = partial(erase_by_lenses, trace, seed)
    erased = jobs.computed(translator, trace, ("faithful", seed), "Erasing", work)
    named = {screen_name(name): result for name, result in erased.lenses.items()}
    curves = {name: result.curves for name, result in named.items()}
    _curves("yours", curves, erased.random, FRACTIONS)
    st.text(sentence_text(erased))
    taus = (result.kendall for result in named.values())
    texts = ["all words alike" if tau is None else format_number(tau) for tau in taus]
    _agreement("yours", {"lens": [*named], "Kendall's τ": texts})
    measured, written = erased.pieces
    if measured < written:
        st.caption(f"Measured on {measured} evenly spaced subwords of the {written} written.")


def _stored_erasing(report: FaithfulnessReport, *, wide: bool) -> None:
    named = {screen_name(name): result for name, result in report.lenses.items()}
    _curves("corpus", named, report.random, report.fractions, wide=wide)
    for sentence in corpus_sentences(report):
        st.text(sentence)
    columns = {"lens": [*named]}
    for title, name in (("Kendall's τ", "kendall"), ("Spearman's ρ", "spearman")):
        figures = (map(format_number, getattr(result, name)) for result in named.values())
        columns[title] = ["{} ({} to {})".format(*figure) for figure in figures]
    _agreement("corpus", columns)
    st.caption(corpus_text(report))


def _curves(
    section: str, lenses: Mapping[str, Curves], random: Curves, fractions: Sequence[float],
    *, wide: bool = False,
) -> None:  # fmt: skip
    """Draw both curves of each lens, side by side where it is `wide`."""
    places = st.columns(2, gap="medium") if wide else [st.container() for _ in TITLES]
    for place, (test, title) in zip(places, TITLES.items(), strict=True):
        chance = getattr(random, test)
        curves = {name: getattr(lens, test) for name, lens in lenses.items()}
        upper = upper_end(chance, *curves.values())
        with place:
            st.caption(title)
            charts.altair_chart(
                erasing_chart(curves, chance, fractions, upper),
                key=f"faithful-{section}-{test}",
                alt=f"{title}, over the share of words, by lens and for random words.",
            )


def _agreement(section: str, columns: dict[str, list[str]]) -> None:
    question = "Does a lens rank words as erasing them one by one does?"
    st.caption(f"{question} (1 = same order, 0 = unrelated)")
    st.dataframe(pd.DataFrame(columns), hide_index=True, key=f"faithful-{section}-agreement")


def _replace(
    model: Transformer, trace: AttentionTrace, test: str, kind: Kind, layer: int | None, seed: int
) -> None:
    replaced = partial(permuted_changes, seed=seed) if test == PERMUTED else uniform_changes
    changes = memory.memo_per_trace(
        trace,
        ("faithful", test, kind, layer, seed),
        lambda: replaced(model, trace, kind, None if layer is None else (layer,)),
    )
    words, by_word = removal.word_log_probs(trace, changes)
    scope = "all layers" if layer is None else f"layer {layer + 1}"
    st.text(
        f"With {test} in all heads of {KIND_TITLES[kind]}, {scope}, the log probability of the "
        f"translation changes by {format_number(changes.sum(), sign=True)}, "
        f"{format_number(changes.mean(), sign=True)} per subword."
    )
    table = pd.DataFrame({"place": range(len(words)), "word": words, "change": by_word})
    bars = alt.Chart(table, height=_HEIGHT).mark_bar(color=palette.COLOR[kind])
    tooltip = forms.tips("word", change=("changes by", "+.3f"))
    y = alt.Y("change:Q", title="change, in nats")
    charts.altair_chart(
        bars.encode(axes.word_axis(words), y, tooltip=tooltip),
        key="faithful-words",
        alt=f"How the log probability of each word of the translation changes with {test}.",
    )


def _stored_attention(report: FaithfulnessReport, test: str) -> None:
    weights = "uniform" if test == UNIFORM else "permuted"
    changes = {kind: report.attention[kind][weights] for kind in KINDS}
    st.text(attention_text(changes, weights))
    charts.altair_chart(
        kinds_chart(changes),
        key="faithful-kinds",
        alt=f"Change of the log probability of a subword with {weights} weights, by kind.",
    )
    st.caption(corpus_text(report))


def _explain(test: str) -> None:
    if test == ERASE:
        explain(
            r"Comprehensiveness is $\log P(y_t \mid x) - \log P(y_t \mid x \setminus r)$ and "
            r"sufficiency $\log P(y_t \mid x) - \log P(y_t \mid r)$: $r$ are the source words "
            r"that a lens ranks first in the step that predicts $y_t$, averaged over the heads of "
            r"cross-attention (DeYoung et al. 2020, §4.2, there with probabilities). A lens "
            r"measures how much a row takes from each column. The masks hide erased words. The "
            r"model may use a word that you can erase without loss: others can take its place."
            + sources("§3.2", word_scores, erase, drops_without_each_word, kendall)
        )
        return
    explain(
        "Uniform: each row looks equally at every token that it may see. Permuted: a row's weights "
        "are shuffled among its tokens, averaged over three shuffles. The words stay; only their "
        "probabilities change. If other weights give the same output, the weights alone do not "
        "explain it (Jain & Wallace 2019, §4.2); others call a model with other weights another "
        "model (Wiegreffe & Pinter 2019)." + sources("§3.2", uniform_changes, permuted_changes)
    )


Floats = npt.NDArray[np.floating]

RANDOM = "random words"

_HEIGHT, _LEGEND = 240, 60  # CSS pixels with the axes, and of the legend above them


def erasing_chart(
    lenses: Mapping[str, Sequence[Figure]], random: Sequence[Figure], fractions: Sequence[float],
    upper: float,
) -> alt.LayerChart:  # fmt: skip
    """Draw the fall of log P over the share of words: a line for each lens, random words grey."""
    names = [*lenses, RANDOM]
    rows = [
        (name, fraction, *figure)
        for name, curve in {**lenses, RANDOM: random}.items()
        for fraction, figure in zip(fractions, curve, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["lens", "fraction", "value", "low", "high"])
    # a figure of one sentence has no interval
    table["interval"] = [
        "" if low == high else f"{low:.2f} to {high:.2f}"
        for low, high in zip(table["low"], table["high"], strict=True)
    ]
    axis = alt.Axis(format="%", values=list(fractions), grid=False)
    scale = alt.Scale(nice=False, zero=False, padding=8)
    x = alt.X("fraction:Q", title="share of the words", axis=axis, scale=scale)
    lower = min(0.0, float(table[["value", "low"]].min().min()))
    scale, axis = alt.Scale(domain=[lower, upper]), alt.Axis(tickCount=5)
    y = alt.Y("value:Q", title="fall, in nats", scale=scale, axis=axis)
    # without the slate that resembles the grey of random words
    colors = [color for color in axes.CURVE_COLORS if color != axes.SLATE][: len(lenses)]
    tooltip = forms.tips(
        "lens",
        fraction=("share", ".0%"),
        value=("log probability falls by", ".2f"),
        interval=("95 %", forms.TEXT),
    )
    base, is_random = alt.Chart(table, height=_HEIGHT + _LEGEND), alt.datum.lens == RANDOM
    band = base.transform_filter(is_random).mark_area(color=axes.GREY, opacity=0.25)
    lines = base.mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=45, filled=True)).encode(
        x,
        y,
        # all names fit on a phone
        axes.curve_color("lens", names, [*colors, axes.GREY], orient="top", columns=2),
        strokeDash=alt.condition(is_random, alt.value([5, 4]), alt.value([1, 0])),
        tooltip=tooltip,
    )
    return band.encode(x, alt.Y("low:Q"), alt.Y2("high:Q")) + lines


def upper_end(*curves: Sequence[Figure]) -> float:
    """Return the upper end of an axis for some curves, which is above 0."""
    upper = max(max(figure.high, figure.value) for curve in curves for figure in curve)
    return max(upper, 0.0) * 1.05 or 1.0


def kinds_chart(changes: Mapping[Kind, Figure]) -> alt.LayerChart:
    """Draw the change of log P of a written piece by kind, with its interval."""
    rows = [(KIND_TITLES[kind], *figure) for kind, figure in changes.items()]
    table = pd.DataFrame(rows, columns=["kind", "value", "low", "high"])
    names = [KIND_TITLES[kind] for kind in changes]
    scale = alt.Scale(domain=names, range=[palette.COLOR[kind] for kind in changes])
    color = alt.Color("kind:N", scale=scale, legend=None)
    y = alt.Y("kind:N", sort=names, title=None, axis=alt.Axis(labelLimit=200, grid=False))
    title = "log probability of a subword changes by"
    x = alt.X("value:Q", title=title, scale=alt.Scale(zero=True))
    titles = {"value": "log probability changes by", "low": "95 % from", "high": "to"}
    tooltip = forms.tips("kind", **{column: (text, "+.3f") for column, text in titles.items()})
    chart = forms.intervals(table, x, y, color, width=3, size=90, tooltip=tooltip)
    return chart.properties(height=56 + 44 * len(names))
