"""The second map of the Heads page: another head, lens, sentence or model, and the difference."""

from dataclasses import replace
from functools import partial
from typing import get_args

import streamlit as st

from transformer import AttentionTrace, HeadlightError, Translator
from viz.app.cache import cached_results
from viz.app.chrome import fields, mounts, problems
from viz.app.chrome.fields import text_field
from viz.app.sentence import other_model, sentence_bar, source_box
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import list_result, name_model
from viz.app.view.listing import trace_target
from viz.draw import open_head
from viz.draw.caption import tells_heads
from viz.draw.heads_view import ExplorerOptions, HeadsView
from viz.pages.heads import controls


def show_compared(bar: BarTranslation, trace: AttentionTrace, view: HeadsView) -> HeadsView | None:
    """Draw the open map of a trace, a second one and their difference; return the second's view."""
    if (other := second_view(bar, trace, view.options)) is None:
        return None
    if view.opened.labels == other.opened.labels:
        given = view.opened, other.opened
        list_result(
            "first_minus_second", open_head.difference(*given), open_head.difference, *given
        )
    models = [named.origin.model for named in (view, other) if named.origin]
    if len(set(models)) > 1:
        for named, model in zip((view, other), models, strict=True):
            named.opened = replace(named.opened, title=f"{named.opened.title} · {model}")
    columns = st.columns(3, gap="medium")
    first = view.opened.labels
    with columns[0]:
        mounts.mount_map("heads-first", first, partial(view.open_map, beside_difference=True))
    with columns[1]:
        encode = partial(other.open_map, beside_difference=True)
        mounts.mount_map("heads-second", other.opened.labels, encode)
    with columns[2]:
        if not mounts.mount_map("heads-difference", first, partial(view.difference, other)):
            st.text("The two maps have different tokens, so there is no difference to draw.")
    return other


def second_view(
    bar: BarTranslation, trace: AttentionTrace, options: ExplorerOptions
) -> HeadsView | None:
    """Draw the controls of the second map, and build its view; None after showing why not."""
    translator = bar.translator
    with fields.controls_row("compare-controls"):
        subjects = list(get_args(controls.ComparedWith))
        subject = st.selectbox("Compare with", subjects, key="with", bind="query-params", width=290)
        try:
            if subject == "another head":
                options = _another_head(options, translator, (0, 0))
            elif subject == "another lens":
                options = replace(
                    options,
                    lens=controls.pick_lens(controls.SECOND_LENS, "Second lens", lens="norm"),
                )
            elif subject == "another sentence":
                trace = _another_sentence(bar)
            else:
                name = controls.OTHER_MODEL
                if (choice := other_model.pick_other(bar, name, reverse=True)) is None:
                    return None
                translator, place = choice.translator, (options.layer or 0, options.head or 0)
                options = _another_head(options, translator, place)
                trace = _trace_of_other(choice, bar, trace.target)
                name_model("second_translator", choice.name, translator)
                target = trace_target(trace, translator)
                list_result("second_trace", trace, translator.trace, trace.source, target=target)
            # of one kind, as its grid is not drawn
            head = options.head if tells_heads(options.lens) else None
            kinds = options.kind and (options.kind,)
            options = replace(options, head=head, kinds=kinds, layers=None)
            return controls.view_of(bar, trace, options, translator, "second_")
        except HeadlightError as error:
            problems.say(error)
            return None


def _another_head(
    options: ExplorerOptions, translator: Translator, default: tuple[int, int]
) -> ExplorerOptions:
    stack = translator.model.config.stack(options.kind or "cross")
    first = min(default[0], stack.N - 1), min(default[1], stack.h - 1)
    layer, head = controls.pick_head_or_mean(
        controls.SECOND, stack.N, stack.h, default=first, lens=options.lens
    )
    return replace(options, layer=layer, head=head)


def _another_sentence(bar: BarTranslation) -> AttentionTrace:
    languages = bar.translator.languages
    first = {language: texts[1:2] for language, texts in source_box.EXAMPLES.items()}
    label = " ".join(filter(None, ("Second", languages.source, "sentence")))
    usual = source_box.follow_language(controls.OTHER_TEXT, languages, first)
    text = text_field(label, usual, key=controls.OTHER_TEXT)
    translation = bar.translate(text)
    for line in (translation.text, *translation.notices):
        st.text(line)
    return cached_results.trace(bar.translator, translation)


def _trace_of_other(
    choice: other_model.OtherModel, bar: BarTranslation, target: str
) -> AttentionTrace:
    """Trace the sentence by another model, with the same translation where it can write it."""
    if choice.same_target or choice.is_reverse:
        # the same translation, so that both maps have the same words
        forced = bar.used.text if choice.is_reverse else target
        return cached_results.trace_of_pair(choice.translator, choice.text, forced)
    translation = bar.translate(choice.text, choice.translator)
    st.text(translation.text)
    sentence_bar.show_notices_of(bar, translation)
    return cached_results.trace(choice.translator, translation)
