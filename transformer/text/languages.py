"""Languages of a model, with their names in English."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from transformer.errors import InputError, shortened

Side = Literal["source", "target"]

_CODE = re.compile(r">>([^<>\s]*)<<")
_PLAIN = re.compile(r"[^\W_]+(?:[-_ ][^\W_]+)*")  # nothing that is markup to a page
LANGUAGES = "languages"  # in a manifest
LONGEST_LIST = 12  # codes that an error lists

_NAMES = """
af afr Afrikaans|am amh Amharic|ar ara Arabic|az aze Azerbaijani|be bel Belarusian|bg bul Bulgarian
bn ben Bengali|br bre Breton|bs bos Bosnian|ca cat Catalan|cs ces Czech|cy cym Welsh|da dan Danish
de deu German|el ell Greek|en eng English|eo epo Esperanto|es spa Spanish|et est Estonian
eu eus Basque|fa fas Persian|fi fin Finnish|fo fao Faroese|fr fra French|fy fry Frisian|ga gle Irish
gd gla Scottish Gaelic|gl glg Galician|gu guj Gujarati|ha hau Hausa|he heb Hebrew|hi hin Hindi
hr hrv Croatian|ht hat Haitian Creole|hu hun Hungarian|hy hye Armenian|id ind Indonesian
ig ibo Igbo|is isl Icelandic|it ita Italian|ja jpn Japanese|ka kat Georgian|kk kaz Kazakh
km khm Khmer|kn kan Kannada|ko kor Korean|ku kur Kurdish|ky kir Kyrgyz|la lat Latin
lb ltz Luxembourgish|lo lao Lao|lt lit Lithuanian|lv lav Latvian|mg mlg Malagasy|mk mkd Macedonian
ml mal Malayalam|mn mon Mongolian|mr mar Marathi|ms msa Malay|mt mlt Maltese|my mya Burmese
nb nob Norwegian Bokmål|ne nep Nepali|nl nld Dutch|nn nno Norwegian Nynorsk|no nor Norwegian
oc oci Occitan|pa pan Punjabi|pl pol Polish|ps pus Pashto|pt por Portuguese|ro ron Romanian
ru rus Russian|rw kin Kinyarwanda|sh hbs Serbo-Croatian|si sin Sinhala|sk slk Slovak
sl slv Slovenian|so som Somali|sq sqi Albanian|sr srp Serbian|sv swe Swedish|sw swa Swahili
ta tam Tamil|te tel Telugu|th tha Thai|tl tgl Tagalog|tr tur Turkish|tt tat Tatar|uk ukr Ukrainian
ur urd Urdu|uz uzb Uzbek|vi vie Vietnamese|xh xho Xhosa|yi yid Yiddish|yo yor Yoruba|zh zho Chinese
zu zul Zulu|zh cmn Chinese
"""
_NAME_OF = {
    code: name
    for two, three, name in (
        entry.split(" ", 2) for line in _NAMES.split("\n") for entry in line.split("|") if entry
    )
    for code in (two, three)
}
_CODE_OF = {name: code for code, name in reversed(_NAME_OF.items()) if len(code) == 2}


def name_of(code: str) -> str | None:
    """Return the English name of a language by its ISO 639 code, without script or region.

    None of what is no such code: that of a group of languages, too.
    """
    return _NAME_OF.get(re.split(r"[_-]", code.strip().lower(), maxsplit=1)[0])


def code_of_name(name: str) -> str:
    """Return the ISO 639 code of a language, of two letters; "" where there is none."""
    return _CODE_OF.get(name, "")


@dataclass(frozen=True)
class Languages:
    """The languages that a model translates.

    Args:
        source: the English name of the source language, "" where it is not known.
        target: the name of the target language, likewise; "" where there are several.
        codes: the target languages of a model that has several, `fra` for `>>fra<<`, with which a
            text begins that is to be translated into that one.
    """

    source: str
    target: str
    codes: tuple[str, ...] = ()

    @classmethod
    def from_record(cls, manifest: Mapping[str, Any]) -> Languages:
        """Return the languages that a manifest says: English and German where it says none.

        Raises:
            TypeError, ValueError: if these are no two names.
        """
        source, target = manifest.get(LANGUAGES, (OURS.source, OURS.target))
        if not all(_PLAIN.fullmatch(name) for name in (source, target)):
            raise ValueError("a name that a page could take for markup")
        return cls(source, target)

    def record(self) -> dict[str, list[str]]:
        """Return what a manifest says of them."""
        return {} if self == OURS else {LANGUAGES: [self.source, self.target]}

    def name(self, side: Side) -> str:
        """Return the name of a side on the screen: a language, else "source" or "target"."""
        return (self.source if side == "source" else self.target) or side

    def with_article(self, side: Side, noun: str) -> str:
        """Put name and article before a noun: "an English token", "a target token"."""
        name = self.name(side)
        # Ukrainian begins with a consonant, Urdu with a vowel
        article = "an" if name.startswith(("A", "E", "I", "O", "Ur", "Uz")) else "a"
        return f"{article} {name} {noun}"

    def sentence(self, side: Side) -> str:
        """Return a phrase for a sentence of this side, with its article: "an English sentence"."""
        known = self.source if side == "source" else self.target
        return self.with_article(side, "sentence") if known else "a sentence"

    def code_of(self, text: str) -> str | None:
        """Return the code that a text begins with, if this is a model that reads codes.

        Raises:
            InputError: if the model has no such language.
        """
        if not self.codes or (code := _CODE.match(text.lstrip())) is None:
            return None
        if code[1] not in self.codes:
            raise InputError(
                f"This model does not write the language “{shortened(code[1], 20)}”: begin the "
                f"text with one of {_listed(self.codes)}."
            )
        return code[1]

    def target_of(self, text: str) -> str:
        """Return the language into which a text is translated, as `name` calls it."""
        code = self.code_of(text)
        return self.name("target") if code is None else (name_of(code) or code)

    def for_text(self, text: str) -> Languages:
        """Return the two languages of one text: of several targets, the one that it asks for.

        A code without a name stands for itself, unless it has letters that a page could take for
        markup.

        Raises:
            InputError: if the model has no such language.
        """
        code = self.code_of(text)
        if code is None:
            return self
        plain = code if _PLAIN.fullmatch(code) else ""
        return Languages(self.source, name_of(code) or plain)

    def asking_for(self, code: str, text: str) -> str:
        """Put a code in front of the text, in the place of one that it has.

        Raises:
            InputError: if the model has no such language.
        """
        asked = f">>{code}<<"
        if code not in self.codes:
            raise InputError(
                f"This model does not write the language “{shortened(code, 20)}”: choose "
                f"{_listed(self.codes) or 'a model that has several'}."
            )
        return f"{asked} {without_code(text) if self.code_of(text) else text}"

    def notice(self, text: str) -> str | None:
        """Write a notice on a text that leaves its target language open; None where it does not."""
        if len(self.codes) < 2 or self.code_of(text) is not None:
            return None
        return (
            f"This model writes {len(self.codes):,} languages and was not told which one: begin "
            f"the text with {_listed(self.codes)}."
        )


OURS = Languages("English", "German")
"""Languages of the bundled checkpoint, and of each that does not say its own."""


def without_code(text: str) -> str:
    """Return the text after a code at its beginning."""
    return _CODE.sub("", text.lstrip(), count=1).lstrip() if _CODE.match(text.lstrip()) else text


def _listed(codes: Iterable[str]) -> str:
    every = [f">>{code}<<" for code in codes]
    if len(every) < 2:
        return "".join(every)
    if len(every) > LONGEST_LIST:
        return f"{', '.join(every[:LONGEST_LIST])} or one of {len(every) - LONGEST_LIST:,} more"
    return f"{', '.join(every[:-1])} or {every[-1]}"
