"""The box of the source sentence, in the language that the model reads."""

from collections.abc import Mapping, Sequence

import streamlit as st

from transformer import InputError
from transformer.text.languages import Languages, Side, name_of, without_code
from viz.app.chrome.fields import read_text, text_area
from viz.app.links import address
from viz.app.sentence.search_request import TEXT, put_text

EXAMPLES: Mapping[str, Sequence[str]] = {
    "English": (
        "I did not know that she had bought the old book yesterday.",
        "Two black dogs are running through the snow.",
        "A woman in a red coat is reading a book on a bench.",
        "She has read the long letter twice.",
        "Yesterday I saw the man who bought the old house.",
        "A young man with a blue helmet is riding his bicycle down the street "
        "while two girls are watching him.",
    ),
    "German": (
        "Ich wusste nicht, dass sie gestern das alte Buch gekauft hatte.",
        "Zwei schwarze Hunde laufen durch den Schnee.",
        "Eine Frau in einem roten Mantel liest auf einer Bank ein Buch.",
        "Er sagte mir, dass er das Buch schon gelesen hat.",
        "Gestern habe ich den Mann gesehen, der das Haus gekauft hat.",
        "Ein junger Mann mit einem blauen Helm fährt mit dem Fahrrad die Straße entlang, "
        "während ihn zwei Mädchen beobachten.",
    ),
}
"""Sentences of the menu beside the box, by the language that is read; the first is the default."""

LANGUAGE = "language"
"""Key of the menu of target languages; the code that is chosen stands in the text."""


def label(languages: Languages, side: Side, text: str = "") -> str:
    """Return the label of a line of the bar; the source text may name the target language."""
    try:
        name = languages.name(side) if side == "source" else languages.target_of(text)
    except InputError:  # which the line itself says
        name = languages.name(side)
    return name.capitalize() if name == side else name  # a code without a name stays as it is


def container_key(languages: Languages) -> str:
    """Return the key of the box's container: the style sheet makes room for its label."""
    codes = [name_of(code) or code for code in languages.codes]
    names = [languages.name("source"), languages.name("target"), *codes]
    # letters that fit beside the box where it has its usual place
    return "source-box" if max(map(len, names)) <= 8 else "source-box-wide"


def show(languages: Languages, *, in_link: bool) -> str:
    """Draw the box, and for several target languages their menu; return the text as typed."""
    text = text_area(
        label(languages, "source"),
        follow_language(TEXT, languages, EXAMPLES),
        key=TEXT,
        height="content",
        most=address.MAX_TYPED,
        in_link=in_link,
        placeholder=f"Type {languages.sentence('source')}",
        disabled=address.in_class(),
    )
    if languages.codes and not address.in_class():
        try:
            st.session_state[LANGUAGE] = languages.code_of(text)
        except InputError:  # a code that the model does not have; the line below says so
            st.session_state[LANGUAGE] = None
        names = {code: name_of(code) for code in languages.codes}

        def ask() -> None:
            code, text = st.session_state[LANGUAGE], without_code(read_text(TEXT))
            put_text(text if code is None else languages.with_target_code(code, text))

        st.selectbox(
            "Into",
            sorted(names, key=lambda code: (names[code] or code).casefold()),
            None,
            format_func=lambda code: f"{names[code]} ({code})" if names[code] else code,
            key=LANGUAGE,
            placeholder="choose",
            width=200,
            on_change=ask,
        )
    return text


def show_examples(languages: Languages) -> None:
    """Draw the menu of examples for the languages that have some; a class has none."""
    examples = EXAMPLES.get(languages.source)
    if examples and not address.in_class():

        def take() -> None:
            put_text(st.session_state["example"])

        st.menu_button("Examples", examples, key="example", on_click=take)


def follow_language(key: str, languages: Languages, examples: Mapping[str, Sequence[str]]) -> str:
    """Let an untouched field follow the language of the model, before it is drawn.

    Return its first text: of the `examples`, which all count as untouched, the language's first.
    """
    default = next(iter(examples.get(languages.source, ())), "")
    state = st.session_state
    known = f"source_box.language.{key}"
    before = state.get(known, languages.source)
    state[known] = languages.source
    if before == languages.source or address.is_restored():
        return default
    if state.get(key) in (*examples.get(before, ()), ""):
        state[key] = default
    return default
