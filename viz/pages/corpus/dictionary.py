"""The view “Dictionary”: what the heads of the cross-attention write, and which heads copy."""

import streamlit as st

from transformer import Translator
from transformer.analysis.heads.head import Head
from transformer.circuits import dictionary, writing
from transformer.circuits.dictionary import Dictionaries
from viz.app.chrome import charts, explanations, head_picker
from viz.app.chrome.fields import controls_row
from viz.app.view import Offer, compute, compute_on_request, view
from viz.draw.formatting import counted, format_p, per_cent
from viz.draw.labels import capitalised, display_tokens, named_head
from viz.figures.heads import SIGNIFICANT
from viz.pages.corpus import head_grids
from viz.pages.corpus.lines import choose_lines

JOB = "corpus-dictionary"


@view("Dictionary", needs="model", question="Which heads hold a dictionary, and which copy?")
def dictionaries(translator: Translator) -> None:
    """Draw what each head of the cross-attention writes for the subwords of the lines."""
    lines = choose_lines(translator)
    over = f"dictionaries over {counted(len(lines), 'line')}"
    offer = Offer(JOB, f"Reading {over}", f"Read the {over}")
    measure = dictionary.measure_dictionaries
    measured = compute_on_request("dictionaries", offer, measure, translator, lines)
    if measured is not None:
        _draw(translator, measured)
    explanations.explain(
        "A cross-attention head writes something for each subword of the source that it looks at. "
        "The page takes the mean output of the encoder over every place of a subword in the lines, "
        "passes it through the head alone and through the projection, and names the subwords that "
        "it raises most. Later layers are left out, and the later norms only keep their gains. "
        "A hit: the first of them is a subword of a word that the links of the lines join with a "
        "word of this subword; the links are computed, and can be wrong. The copying score "
        "Σλ / Σ|λ| of W_E W_V W_O W_Eᵀ is near 1 where a head raises what it looks at; "
        "norms are left out (Elhage et al. 2021)."
        + explanations.sources(
            "§3.2.2",
            dictionary.read_dictionary,
            dictionary.compare_with_chance,
            writing.copying_scores,
        )
    )


def _draw(translator: Translator, dictionaries: Dictionaries) -> None:
    table = compute("shares", dictionary.dictionaries_table, dictionaries)
    best = int(table["share"].argmax())
    value, low, high, chance = (
        per_cent(float(number)) for number in table.iloc[best][["share", "low", "high", "shuffled"]]
    )
    marked = int((table["p"] < SIGNIFICANT).sum())
    subwords = len(dictionaries.pieces)
    linked = f"{counted(subwords, 'source subword')} with a link"
    st.text(
        f"For {value} ({low} to {high}) of {linked}, "
        f"{named_head(*dictionaries.heads[best])} writes a translation first; by chance {chance} "
        f"({format_p(float(table['p'][best]))}, Holm). {marked} of {counted(len(table), 'head')} "
        f"exceed chance (p < {SIGNIFICANT}, Holm)."
        if table["share"][best]
        else f"No head writes a translation first for any of {linked}."
    )
    if left_out := dictionaries.linked - subwords:
        st.text(f"The least frequent ones are left out: {counted(left_out, 'subword')}.")
    copying = compute("copying", dictionary.copying_table, translator.model)
    left, right = st.columns([1, 2], gap="medium")
    with left:
        st.subheader("Translations written", anchor=False)
        head_grids.show(table, "share", "dictionary-grid")
    with right:
        st.subheader("Copying", anchor=False)
        head_grids.show(copying, "copying score", "copying-grid")
    st.caption(
        f"Share: source subwords whose translation a head writes first, with a 95 % bootstrap "
        f"interval over the subwords in the tooltip. A dot: more than with shuffled translations "
        f"(p < {SIGNIFICANT}, Holm)."
    )
    head_grids.table(table, "share", "dictionaries")
    with controls_row("corpus-dictionary-controls"):
        stack = translator.model.config.stack("cross")
        first = dictionaries.heads[best]
        place = head_picker.pick_layer_and_head(
            head_picker.HEAD, stack.N, stack.h, (first.layer, first.head)
        )
    head = Head("cross", *place)
    share = float(table["share"][dictionaries.heads.index(head)])
    name = capitalised(named_head(*head))
    st.subheader(f"{name}: {per_cent(share)}", anchor=False)
    entries = compute("entries", dictionary.entries_table, translator, dictionaries, head)
    shown = entries.assign(
        piece=display_tokens(list(entries["piece"])),
        **{
            column: [", ".join(display_tokens(text.split())) for text in entries[column]]
            for column in ("writes", "translations")
        },
    )
    charts.data_table(shown, "dictionary", {"logit": "%.2f"}, saved=entries, height=400)
    with st.expander("Copying scores as a table"):
        head_grids.table(copying, "copying score", "copying-scores")
