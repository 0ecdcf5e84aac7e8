"""Another model beside the one in the bar: the menu, and the same sentence for it."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from transformer import Translator, errors
from transformer.text.languages import Languages, name_of, without_code
from viz.app.links import address
from viz.app.models import menu
from viz.app.sentence.sentence_bar import BarTranslation
from viz.draw.labels import quoted


class OtherModel(NamedTuple):
    """A model with which the bar's is compared."""

    name: str  # in the menu
    translator: Translator
    text: str  # the bar's, as this model is to read it
    same_target: bool  # whether both translate it into one language, as far as they say
    is_reverse: bool  # whether it translates the other way round: the text is the translation


def pick_other(bar: BarTranslation, key: str, *, reverse: bool = False) -> OtherModel | None:
    """Draw the menu of the other models that read the same language; None if there are none.

    With `reverse`, the model of the other direction is among them, at the end.
    """
    ours = bar.translator
    offered = menu.offered_models()
    folders = {
        name: folder
        for name, folder in offered.folders.items()
        if name != bar.requested.model and menu.reads_same_language(ours, folder)
    }
    reverse_name = menu.reverse_of(ours.languages, offered) if reverse else ""
    if reverse_name:
        folders[reverse_name] = offered.folders[reverse_name]
    linked = address.raw_value(key)
    if not folders:
        st.text(f"No other model here reads {ours.languages.source or 'this language'}.{_advice()}")
        return None
    name = st.selectbox("Other model", list(folders), key=key, bind="query-params", width=320)
    if problem := _problem(key, linked, name, list(folders), bar.requested.model):
        st.text(problem)
    translator = menu.load(folders[name])
    if name == reverse_name:
        return OtherModel(
            name, translator, bar.translation.text, same_target=False, is_reverse=True
        )
    text = text_for(translator.languages, bar.used.text, ours.languages)
    targets = (
        ours.languages.target_of(bar.used.text),
        translator.languages.target_of(text),
    )
    return OtherModel(name, translator, text, targets[0] == targets[1], is_reverse=False)


def _advice() -> str:
    """Say how to get another model to a user on the machine of the server; "" to all others."""
    if st.context.ip_address:
        return ""
    return (
        " To add one, download a MarianMT model (such as opus-mt-en-de), put its folder into a "
        f"folder of models, and start the app with {menu.MODELS_VARIABLE} set to that."
    )


def _problem(key: str, linked: str | None, shown: str, names: Sequence[str], in_bar: str) -> str:
    """Return a sentence on a linked model that cannot be compared, until another is chosen."""
    state, said_of = st.session_state, f"other_model.{key}"
    if linked is not None and linked not in names:
        if linked == in_bar:
            why = f"The model {quoted(linked)} translates in the bar already"
        elif linked in menu.offered_models().folders:
            why = f"The model {quoted(linked)} reads another language"
        else:
            why = f"There is no model {quoted(errors.one_line(linked))} on this server"
        state[said_of] = shown, f"{why}: shown is {quoted(shown)}."
    shown_then, problem = state.get(said_of, ("", ""))
    return problem if shown_then == shown else ""


def text_for(theirs: Languages, text: str, ours: Languages) -> str:
    """Convert a text from one model to another: with its language code, or none."""
    plain = without_code(text) if ours.code_of(text) is not None else text
    target = ours.target_of(text)
    code = next((code for code in theirs.codes if (name_of(code) or code) == target), None)
    return plain if code is None else theirs.with_target_code(code, plain)
