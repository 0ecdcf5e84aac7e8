"""The view “Roles”: a map of all heads by a measure on a corpus, and a card of one head."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from transformer import AttentionTrace, CheckpointError, InputError, Translator
from transformer.analysis import alignment, alignment_settings, lenses
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.importance import IMPORTANCE, gradient_importance, losses_without
from transformer.analysis.heads.means import COMMAND
from transformer.analysis.heads.roles import ONE_TO_ONE, head_roles, one_to_one_keys, share_in_order
from transformer.corpus import corpus_roles, head_report, similar_heads
from transformer.corpus.head_report import Example, HeadFigures, HeadReport
from transformer.kinds import KIND_TITLES, KINDS
from viz.app.chrome import charts, explanations, fields, problems
from viz.app.chrome.head_picker import head_buttons, head_heading, link_parameters, pick_head
from viz.app.links import navigation
from viz.app.sentence import search_request, worth_seeing
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import cached, compute, view
from viz.draw.formatting import counted, per_cent
from viz.draw.labels import SCREEN_NAMES, role_name
from viz.pages.roles.corpus_map import (
    QUANTITIES,
    ROLE,
    ROLE_TEXTS,
    SIGNED,
    SentenceRole,
    corpus_text,
    deciding_measure,
    describe_quantity,
    importance_text,
    interval_verdict,
    kind_chart,
    nearest_role,
    report_cells,
    role_text,
    sentence_cells,
    sentence_roles,
    spoken_table,
    with_interval,
)
from viz.pages.roles.head_charts import grid_key, kind_title
from viz.pages.roles.removal_controls import open_removal

_SIDE_BY_SIDE = 8  # heads up to which the tables of the three kinds fit beside each other
SHOWN = 5  # heads like the open one that have a button


@view(navigation.ROLES, needs="trace", question="What does each head do most?", find="nothing")
def roles(bar: BarTranslation) -> None:
    """Draw the map of all heads, and the card of the open one."""
    translator, trace = bar.translator, bar.trace
    report, missing = report_or_message(translator)
    with fields.controls_row("measured-controls"):
        quantity = ROLE
        if report is not None:
            quantity = fields.menu("Colour", list(QUANTITIES), "roles_measure", width=290)
        with st.popover("Choose a head", key="measured-head"):
            opened = pick_head(translator, worth_seeing.default_choices("roles", translator, trace))
        on_sentence = "What each head does most in this sentence."
        st.text(on_sentence if report is None else describe_quantity(quantity))
    if missing:
        st.text(missing)
    if report is None:
        roles_here = {kind: cached(sentence_roles, trace, kind) for kind in KINDS}
        cells = sentence_cells(roles_here)
    else:
        cells = report_cells(report, quantity)
    config = translator.model.config
    are_beside = max(config.h, config.decoder.h) <= _SIDE_BY_SIDE
    with st.container(key="measured-map"):
        places = st.columns(len(cells)) if are_beside else [st.container() for _ in cells]
        for place, (kind, heads) in zip(places, cells.items(), strict=True):
            with place, st.container(gap=None):
                # in one element with the title: the table for screen readers then takes no room
                st.html(kind_title(kind, KIND_TITLES[kind]) + spoken_table(heads, kind, quantity))
                charts.draw_clickable(
                    kind_chart(heads, kind, opened, signed=QUANTITIES[quantity] in SIGNED),
                    grid_key("measured", kind, opened),
                    [cell.head for cell in heads],
                    f"{quantity} of each {SCREEN_NAMES[kind]} head: the table before this chart "
                    f"has the same numbers, and the menus above open a head.",
                )
    figures = None if report is None else compute("figures", report.head, opened)
    _card(translator, report, opened, trace)
    head, measures = st.columns([5, 7], gap="medium")
    with head:
        if figures is not None:
            draw_examples(translator, figures)
        draw_similar_heads(report, trace, opened)
    if report is not None and figures is not None:
        with measures:
            st.subheader("Every measure", anchor=False)
            descriptions = corpus_roles.MEASURES | IMPORTANCE
            rows = [
                (role_name(name, opened.kind), with_interval(name, figure), descriptions.get(name))
                for name, figure in figures.measures.items()
            ]
            table = pd.DataFrame(rows, columns=["measure", "mean (95 %)", "what it is"]).fillna("")
            # a cell of st.dataframe would not wrap
            st.table(table, border="horizontal", hide_index=True)
            st.caption(corpus_text(report))
    explanations.explain(
        "Each measure is averaged over the rows of a head; the measure farthest above its "
        "threshold names the role. Positional heads, rare words and confidence follow Voita et "
        "al. 2019, importance by gradient Michel et al. 2019. These measures show where a head "
        "looked and what changed without it, never why the model decided."
        + explanations.sources(
            "§3.2.2",
            corpus_roles.measure_sentence,
            corpus_roles.corpus_role,
            head_roles,
            gradient_importance,
            losses_without,
            similar_heads.nearest_by_measures,
        )
    )


def report_or_message(translator: Translator) -> tuple[HeadReport | None, str]:
    """Return the report beside the checkpoint, or None and a message that says why."""
    try:
        folder, config = translator.folder, translator.model.config
        report = compute("report", head_report.read, folder, config)
    except CheckpointError as error:
        return None, problems.without_paths(error)
    if report is None:
        return None, (
            f"The heads of this model are not measured on a corpus yet, so you see this sentence "
            f"alone: run {COMMAND} --checkpoint {translator.folder.name} --src FILE --ref FILE "
            f"--examples FILE, with {translator.source_language} and "
            f"{translator.target_language} text, one sentence per line."
        )
    return report, ""


def _card(
    translator: Translator, report: HeadReport | None, head: Head, trace: AttentionTrace
) -> None:
    """Draw all that was measured of a head: on the corpus, on the sentence in the bar, on gold."""
    here = compute("roles", sentence_roles, trace, head.kind)[head]
    roles = {"in this sentence": (here.role, here.nearest)}
    texts = [sentence_role_text(trace, head, here)], [measured_links_text(translator, trace, head)]
    if report is not None:
        figures = report.head(head)
        measured = figures.role, deciding_measure(figures)[0]
        roles = {f"over {report.sentences:,} sentences": measured, **roles}
        verdict = interval_verdict(figures, report.sentences)
        texts[0].insert(0, f"{role_text(figures)} {verdict}")
        texts[1].insert(0, importance_text(report, figures))
    head_heading(head, *(f"{on}: {nearest_role(*x, head.kind)}" for on, x in roles.items()))
    for column, column_texts in zip(st.columns(2, gap="medium"), texts, strict=True):
        for text in filter(None, column_texts):
            column.text(text)
    with st.container(
        key="measured-links", horizontal=True, vertical_alignment="center", gap="small"
    ):
        navigation.link("heads", "See where it looks in this sentence", link_parameters(*head))
        navigation.link("inside", "See how it computes its weights", link_parameters(*head))
        st.button("Remove this head", key="measured-take-away", on_click=open_removal, args=(head,))


def sentence_role_text(trace: AttentionTrace, head: Head, result: SentenceRole) -> str:
    """Describe the role of a head on the sentence in the bar."""
    unit = "0 = even attention, 100 = all weight"
    if result.nearest == "spread":
        unit = "100 = perfectly even"
    score = f"{per_cent(result.score)} ({unit})"
    if not result.role:
        closest = role_name(result.nearest, head.kind)
        return f"In this sentence it is mixed. Closest role: {closest}, {score}."
    action = ROLE_TEXTS[result.role]
    if result.role == ONE_TO_ONE:
        keys = one_to_one_keys(trace.weights(head.kind)[head.layer, head.head])
        score += f"; {per_cent(share_in_order(keys))} of the pairs of links do not cross"
    return f"In this sentence it {action[:1].lower()}{action[1:]}: {score}."


def measured_links_text(translator: Translator, trace: AttentionTrace, head: Head) -> str:
    """Compare the links of a head with those that were measured on gold text; "" without any."""
    settings = alignment_settings.read_alignment(translator)
    if head.kind != "cross" or settings.gold is None:
        return ""
    gold = settings.gold
    aer = f"{gold.aer:.0f} % alignment error on {counted(gold.sentences, 'hand-aligned sentence')}"
    if (head.layer, head.head) == (settings.layer, settings.head):
        return f"Translate draws its word links from this head ({aer}; expect more elsewhere)."
    lens: lenses.LensName = settings.lens if settings.lens in lenses.HAS_HEADS else "weights"
    own_settings = replace(settings, layer=head.layer, head=head.head, lens=lens)

    def pairs(chosen: alignment_settings.AlignmentSettings) -> set[tuple[int, int]]:
        return {pair[:2] for pair in cached(alignment.align, translator, trace, chosen)}

    own, measured = pairs(own_settings), pairs(settings)
    return (
        f"In this sentence it links {counted(len(own), 'word pair')}, {len(own & measured)} of "
        f"them among the {len(measured)} that Translate draws from cross-attention "
        f"{settings.map_title} ({aer})."
    )


def draw_examples(translator: Translator, figures: HeadFigures) -> None:
    """Draw the examples of a head, or nothing where its report has none."""
    if not figures.examples:
        return
    title = "does this most" if figures.role else "is most confident"
    st.subheader(f"Sentences where this head {title}", anchor=False)
    columns = st.columns(len(figures.examples), gap="small")
    for number, (column, example) in enumerate(zip(columns, figures.examples, strict=True)):
        with column:
            _example(translator, figures, example, number)


def _example(translator: Translator, figures: HeadFigures, example: Example, number: int) -> None:
    try:
        trace = cached(translator.trace, example.source, target=example.target)
    except InputError as error:
        problems.say(error)
        return
    charts.draw_small_map(
        trace,
        figures.place,
        key=f"measured-example-{number}",
        alt=f"Where {figures.place.title} looks in an example sentence.",
    )
    st.text(example.source)
    st.caption(
        f"{role_name(figures.role, figures.place.kind) or 'confidence'} {per_cent(example.score)}"
    )
    key = f"measured-show-{number}"
    fields.button("Use this sentence", key, search_request.put_text, example.source)


def draw_similar_heads(report: HeadReport | None, trace: AttentionTrace, head: Head) -> None:
    """Draw buttons that open the nearest heads, by the report, if any, and by the trace."""
    st.subheader("Heads like this one", anchor=False)
    by_attention = compute("by_attention", similar_heads.nearest_by_attention, trace, head, SHOWN)
    lists = {"attention": ("By where they look in this sentence", by_attention)}
    if report is not None:
        nearest = similar_heads.nearest_by_measures
        by_measures = compute("by_measures", nearest, report, head, SHOWN)
        lists = {"measures": ("By these measures", by_measures), **lists}
    for name, (title, heads) in lists.items():
        if heads:
            st.caption(f"{title} (distance, 0 = the same)")
            head_buttons(f"similar-{name}", [(other, f"{far:.2f}") for other, far in heads])
        else:
            st.caption(f"{title}: there is no other head to compare with.")
