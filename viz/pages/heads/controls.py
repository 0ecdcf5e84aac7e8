"""Controls of the Heads page, its lenses among them; every choice is kept in the URL."""

from functools import partial
from typing import Any, Literal, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, Translator, attention
from transformer.analysis.heads import measures
from transformer.analysis.lenses import LENSES, AnyLens, lens_trace
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome import fields, head_picker
from viz.app.chrome.explanations import sources
from viz.app.sentence import worth_seeing
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import Job, compute_in_job, list_result
from viz.draw import attention_map, head_grid, heads_view, labels, open_head
from viz.draw.caption import (
    ALL_HEADS,
    LENS_NAMES,
    LENSES_BY_NAME,
    NORMS_BY_NAME,
    Origin,
    tells_heads,
)

LENS, SECOND_LENS = "lens", "lens2"  # names in the URL


def pick_lens(name: str, label: str = "Lens", *, lens: AnyLens = "weights") -> AnyLens:
    """Draw the menu of lenses, and for norms the menu of what is measured."""
    names = list(LENSES_BY_NAME)
    lines = (f"**{option.title}**: {option.about}" for option in LENSES.values())
    first, text = names.index(LENS_NAMES[lens]), "  \n".join(lines)
    choice = fields.menu(label, names, name, width=160, index=first, help=text)
    if LENSES_BY_NAME[choice] != "norm":
        return LENSES_BY_NAME[choice]
    # the two menus read as one phrase
    measured = st.selectbox("Norms", [*NORMS_BY_NAME], key=f"{name}_norms", width=140, **_BARE)
    return NORMS_BY_NAME[measured]


def through_lens(
    lens: AnyLens, trace: AttentionTrace, translator: Translator, *, name: str = "seen"
) -> AttentionTrace:
    """Compute a trace through a lens by its model; the code calls it by the name."""
    if lens == "weights":
        return trace
    job = Job(f"Lens {LENSES[lens].title}", LENSES[lens].at_once)
    return compute_in_job(name, job, lens_trace, lens, translator, trace)


_OF_HEADS = ("words", "special", "lens", "sinks")


def view_of(
    bar: BarTranslation,
    trace: AttentionTrace,
    options: heads_view.ExplorerOptions,
    translator: Translator | None = None,
    prefix: str = "",
) -> heads_view.HeadsView:
    """Return the view of a trace through a lens, by its own model or that of the sentence bar.

    In the code, the names of its parts begin with the prefix.
    """
    translator = translator or bar.translator
    seen = through_lens(options.lens, trace, translator, name=f"{prefix}seen")
    origin = Origin.from_translator(translator, trace.source, trace.target)
    drawn = heads_view.HeadsView(seen, options, origin, partial(memo_per_trace, seen))
    kind, layer, head = drawn.kind, drawn.options.layer, drawn.options.head
    choices: dict[str, Any] = {name: getattr(options, name) for name in _OF_HEADS}
    heads = drawn.heads[kind]
    list_result(f"{prefix}heads", heads, open_head.heads_of_kind, seen, kind, **choices)
    list_result(f"{prefix}opened", drawn.opened, open_head.open_map, heads, layer, head)
    return drawn


def explanation(name: AnyLens) -> str:
    """Describe a square of the map under a lens, with source and line of code, in Markdown."""
    if name == "weights":
        return f"A row is {LENSES[name].formula}." + sources(
            "§3.2.1, §3.2.2", LENSES[name].function, attention.MultiHeadAttention.attend
        )
    return (
        f"A square is its share in its row of {LENSES[name].formula}. It says where this lens sees "
        f"something, not why the model wrote what it wrote." + sources("", LENSES[name].function)
    )


ComparedWith = Literal["another head", "another lens", "another sentence", "another model"]
SECOND = head_picker.UrlNames("layer2", "head2")
OTHER_TEXT, OTHER_MODEL = "text2", "model2"  # names in the URL

Mode = Literal["one head", "step by step", "compare"]

_LAYERS = "controls.layers"
_BOUND: dict[str, Any] = {"bind": "query-params"}
_BARE: dict[str, Any] = {**_BOUND, "label_visibility": "collapsed"}
_SEVERAL: dict[str, Any] = {**_BOUND, "selection_mode": "multi"}


def draw(
    row: DeltaGenerator, bar: BarTranslation, trace: AttentionTrace
) -> tuple[heads_view.ExplorerOptions, Mode]:
    """Draw the controls; return the options of the view, and its mode."""
    with row:
        kind = head_picker.pick_kind()
        layers, heads = trace.weights(kind).shape[:2]
        place = st.container(key="heads-place", horizontal=True, width="content", gap="small")
        with st.popover("Options", width="content"):
            lens = pick_lens(LENS)
            sinks = head_picker.pick_sinks()
            text = "Shows whole words: the mean over the rows of a word’s subwords, and the sum "
            text += "over their columns."
            words = st.toggle("Merge subwords", key="words", help=text, **_BOUND)
            lines = [f"**{measure}**: {text}" for measure, text in measures.MEASURES.items()]
            lines.append("Confidence falls from the first map to the last, the others rise.")
            text = "  \n".join(lines)
            sort = st.selectbox("Sort by", head_grid.SORTS, key="sort", help=text, **_BOUND)
            every = list(labels.KINDS_BY_NAME)
            kinds = st.pills("Kinds in the grid", every, default=every, key="kinds", **_SEVERAL)
            # with none selected, all are shown: an empty grid would be of no use
            shown = [labels.KINDS_BY_NAME[name] for name in kinds or every]
            most = max(len(trace.weights(other)) for other in (kind, *shown))
            names = [str(n + 1) for n in range(most)]
            if st.session_state.get(_LAYERS, most) != most:  # of the previous model or kinds
                st.session_state["layers"] = names
            st.session_state[_LAYERS] = most
            label = "Layers in the grid"
            selected = st.pills(label, names, default=names, key="layers", **_SEVERAL)
            text = "How the large map turns weights into colours. The numbers stay the same."
            scales = list(get_args(attention_map.Scale))
            scale = st.selectbox("Colour", scales, key="scale", help=text, **_BOUND)
            text = "Smaller weights are not drawn. Point at a square to read its number."
            label, bounds = "Hide weights below", (0.0, 0.5, 0.0, 0.01)
            threshold = st.slider(label, *bounds, key="threshold", help=text, **_BOUND)
    with place:  # what it offers depends on the lens
        choices = worth_seeing.default_choices("heads", bar.translator, bar.trace)
        first = head_picker.first_head(choices, kind) or (layers - 1, 0)
        layer, head = pick_head_or_mean(head_picker.HEAD, layers, heads, default=first, lens=lens)
        mode: Mode = st.selectbox("View", get_args(Mode), key="view", width=132, **_BARE)
    shown_layers = tuple(n for n, name in enumerate(names) if name in selected)
    options = heads_view.ExplorerOptions(
        kind,
        layer,
        head,
        words=words,
        kinds=tuple(other for other in labels.KINDS_BY_NAME.values() if other in shown),
        layers=shown_layers or tuple(range(most)),
        sort=sort,
        scale=scale,
        threshold=threshold,
        lens=lens,
        sinks=sinks,
    )
    return options, mode


def pick_head_or_mean(
    names: head_picker.UrlNames, layers: int, heads: int, *, default: tuple[int, int], lens: AnyLens
) -> tuple[int | None, int | None]:
    """Draw the menus of layer and head, from 0, at first `default`; None is a mean."""
    choice = head_picker.pick_number_or_mean("Layer", names.layer, layers, default=default[0])
    if tells_heads(lens):
        head = head_picker.pick_number_or_mean("Head", names.head, heads, default=default[1])
        return choice, head
    # Streamlit keeps the value of the menu of heads, which is bound to the address
    resting: dict[str, Any] = {"disabled": True, "label_visibility": "collapsed", "width": 110}
    st.selectbox("Head", [ALL_HEADS], key=f"{names.head}-resting", **resting)
    return choice, None


def choose_head(lens: AnyLens, layer: int, head: int) -> None:
    """Set the menus to a small map chosen elsewhere; a disabled menu keeps its head."""
    if tells_heads(lens):
        head_picker.choose(head_picker.HEAD, layer, head)
    else:
        st.session_state[head_picker.HEAD.layer] = str(layer + 1)
