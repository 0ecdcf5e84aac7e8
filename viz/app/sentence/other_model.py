"""Another model beside the one in the bar: the menu, and the same sentence for it."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from transformer import Translator, errors
from transformer.text.languages import name_of, without_code
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
    """Draw the menu of other models for the language; return the choice, None if there is none."""
    ours = bar.translator.languages
    offered = menu.offered_models()
    names = [
        name
        for name, folder in offered.folders.items()
        if name != bar.requested.model and menu.reads_same_language(bar.translator, folder)
    ]
    reverse_name = menu.reverse_of(ours, offered) if reverse else ""
    if reverse_name and reverse_name not in names:
        names.append(reverse_name)
    linked = address.raw_value(key)
    if not names:
        text = f"No other model here reads {ours.source or 'this language'}."
        if not st.context.ip_address:  # the user sits at the machine of the server
            text += (
                " To add one, download a MarianMT model (such as opus-mt-en-de), put its folder "
                "into a folder of models, and start the app with "
                f"{menu.MODELS_VARIABLE} set to that."
            )
        st.text(text)
        return None
    name = st.selectbox("Other model", names, key=key, bind="query-params", width=320)
    if problem := _problem(key, linked, name, names, bar.requested.model):
        st.text(problem)
    translator, source = menu.load(offered.folders[name]), bar.used.text
    if name == reverse_name:
        text = bar.translation.text
        return OtherModel(name, translator, text, same_target=False, is_reverse=True)
    theirs, target = translator.languages, ours.target_of(source)
    # with its own language code, or none
    text = without_code(source) if ours.code_of(source) is not None else source
    code = next((code for code in theirs.codes if (name_of(code) or code) == target), None)
    text = text if code is None else theirs.with_target_code(code, text)
    same_target = target == theirs.target_of(text)
    return OtherModel(name, translator, text, same_target, is_reverse=False)


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
