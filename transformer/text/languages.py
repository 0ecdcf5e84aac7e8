"""Languages of a model, with their names in English."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from transformer.errors import InputError, shortened

Side = Literal["source", "target"]

_CODE = re.compile(r">>([^<>\s]*)<<")
_PLAIN = re.compile(r"[^\W_]+(?:[-_ ][^\W_]+)*")  # nothing that is markup to a page
LANGUAGES = "languages"  # in a manifest
MAX_LISTED_CODES = 12  # codes that an error lists

_NAMES = """
af afr Afrikaans|am amh Amharic/አማርኛ|ar ara Arabic/العربية|az aze Azerbaijani/Azərbaycanca
be bel Belarusian/Беларуская|bg bul Bulgarian/Български|bn ben Bengali/বাংলা|br bre Breton/Brezhoneg
bs bos Bosnian/Bosanski|ca cat Catalan/Català|cs ces Czech/Čeština|cy cym Welsh/Cymraeg
da dan Danish/Dansk|de deu German/Deutsch|el ell Greek/Ελληνικά|en eng English|eo epo Esperanto
es spa Spanish/Español|et est Estonian/Eesti|eu eus Basque/Euskara|fa fas Persian/فارسی
fi fin Finnish/Suomi|fo fao Faroese/Føroyskt|fr fra French/Français|fy fry Frisian/Frysk
ga gle Irish/Gaeilge|gd gla Scottish Gaelic/Gàidhlig|gl glg Galician/Galego|gu guj Gujarati/ગુજરાતી
ha hau Hausa|he heb Hebrew/עברית|hi hin Hindi/हिन्दी|hr hrv Croatian/Hrvatski
ht hat Haitian Creole/Kreyòl ayisyen|hu hun Hungarian/Magyar|hy hye Armenian/Հայերեն
id ind Indonesian/Bahasa Indonesia|ig ibo Igbo|is isl Icelandic/Íslenska|it ita Italian/Italiano
ja jpn Japanese/日本語|ka kat Georgian/ქართული|kk kaz Kazakh/Қазақша|km khm Khmer/ខ្មែរ
kn kan Kannada/ಕನ್ನಡ|ko kor Korean/한국어|ku kur Kurdish/Kurdî|ky kir Kyrgyz/Кыргызча
la lat Latin/Latina|lb ltz Luxembourgish/Lëtzebuergesch|lo lao Lao/ລາວ|lt lit Lithuanian/Lietuvių
lv lav Latvian/Latviešu|mg mlg Malagasy|mk mkd Macedonian/Македонски|ml mal Malayalam/മലയാളം
mn mon Mongolian/Монгол|mr mar Marathi/मराठी|ms msa Malay/Bahasa Melayu|mt mlt Maltese/Malti
my mya Burmese/မြန်မာ|nb nob Norwegian Bokmål/Norsk bokmål|ne nep Nepali/नेपाली
nl nld Dutch/Nederlands|nn nno Norwegian Nynorsk/Norsk nynorsk|no nor Norwegian/Norsk|oc oci Occitan
pa pan Punjabi/ਪੰਜਾਬੀ|pl pol Polish/Polski|ps pus Pashto/پښتو|pt por Portuguese/Português
ro ron Romanian/Română|ru rus Russian/Русский|rw kin Kinyarwanda
sh hbs Serbo-Croatian/Srpskohrvatski|si sin Sinhala/සිංහල|sk slk Slovak/Slovenčina
sl slv Slovenian/Slovenščina|so som Somali/Soomaali|sq sqi Albanian/Shqip|sr srp Serbian/Српски
sv swe Swedish/Svenska|sw swa Swahili/Kiswahili|ta tam Tamil/தமிழ்|te tel Telugu/తెలుగు
th tha Thai/ไทย|tl tgl Tagalog|tr tur Turkish/Türkçe|tt tat Tatar/Татарча
uk ukr Ukrainian/Українська|ur urd Urdu/اردو|uz uzb Uzbek/Oʻzbekcha|vi vie Vietnamese/Tiếng Việt
xh xho Xhosa/isiXhosa|yi yid Yiddish/ייִדיש|yo yor Yoruba/Yorùbá|zh zho Chinese/中文
zu zul Zulu/isiZulu|zh cmn Chinese
"""
_NAME_OF = {
    code: name.partition("/")[0]
    for two, three, name in (
        entry.split(" ", 2) for line in _NAMES.split("\n") for entry in line.split("|") if entry
    )
    for code in (two, three, *name.lower().split("/"))
}
_CODE_OF = {name: code for code, name in reversed(_NAME_OF.items()) if len(code) == 2}


_COMMON = {
    "en": "the of and is are into on with she his her has have they this that you my your it to "
    "for were not what where who there from through by at does did don't i me we he him us be "
    "been a can no or over two three but if because then than very our would could should which "
    "how why do had being about out up down these those after before while some any more other "
    "just get go its as isn't wasn't can't couldn't doesn't didn't i'm you're he's it's let's",
    "de": "der die das den dem des und ist sind mit sie er ich dir mir dich mich uns euch nicht "
    "ein eine einen einem einer kein keine keinen auf von zu für wir ihr sein haben hat habe hatte "
    "wird auch im zum zur durch über bei aus nach wie wo wer dass es zwei drei kann aber oder wenn "
    "weil dann noch schon nur sehr mein meine meinen dein deine ihre ihren seine seinen dieser "
    "diese dieses diesen wurde wurden waren hier doch ja nein heute bitte alles etwas nichts immer "
    "wieder viel viele vom beim gegen ohne unter zwischen vor bis ob jetzt mehr ganz jeden jeder "
    "jede alle ihnen ihn ihm unser unsere würde könnte muss müssen können habt bist geht gibt du "
    "hast warum jemand",
}
COMMON_WORDS = {code: frozenset(words.split()) for code, words in _COMMON.items()}
"""Frequent words of a language that the other does not have."""


def likely_language(text: str) -> str | None:
    """Return `en` or `de` if a text has frequent words of this one alone; None if it is unclear."""
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text.lower())
    codes = [code for code, known in COMMON_WORDS.items() if not known.isdisjoint(words)]
    return codes[0] if len(codes) == 1 else None


def name_of(code: str) -> str | None:
    """Return the English name of a language by its ISO 639 code, without script or region.

    Or by its name in English or in the language itself. None of anything else, such as a group of
    languages.
    """
    return _NAME_OF.get(re.split(r"[_-]", code.strip().lower(), maxsplit=1)[0])


def code_of_name(name: str) -> str:
    """Return the ISO 639 code of a language, of two letters; "" where there is none."""
    return _CODE_OF.get(name, "")


@dataclass(frozen=True)
class Languages:
    """The languages that a model translates."""

    source: str  # English name, "" where it is not known
    target: str  # likewise; "" where there are several
    codes: tuple[str, ...] = ()  # of several targets, `fra` for `>>fra<<` before a text

    @classmethod
    def from_record(cls, manifest: Mapping[str, Any]) -> "Languages":
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
        """Return the code that a text begins with, if this is a model that reads codes."""
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

    def for_text(self, text: str) -> "Languages":
        """Return the two languages of one text: of several targets, the one that it asks for.

        A code without a name stands for itself, unless it has letters that a page could take for
        markup.
        """
        code = self.code_of(text)
        if code is None:
            return self
        plain = code if _PLAIN.fullmatch(code) else ""
        return Languages(self.source, name_of(code) or plain)

    def with_target_code(self, code: str, text: str) -> str:
        """Put a code in front of the text, in the place of one that it has."""
        asked = f">>{code}<<"
        if code not in self.codes:
            raise InputError(
                f"This model does not write the language “{shortened(code, 20)}”: choose "
                f"{_listed(self.codes) or 'a model that has several'}."
            )
        return f"{asked} {without_code(text) if self.code_of(text) else text}"

    def notice(self, text: str) -> str | None:
        """Write a notice on a text that leaves its target language open; None where it does not."""
        if (other := self.mistaken(text)) is not None:
            return f"This looks like {other}, and the model reads {self.source}."
        if len(self.codes) < 2 or self.code_of(text) is not None:
            return None
        return (
            f"This model writes {len(self.codes):,} languages and was not told which one: begin "
            f"the text with {_listed(self.codes)}."
        )

    def mistaken(self, text: str) -> str | None:
        """Return the name of the language that a text seems to have, if it is the target's."""
        likely = likely_language(text)
        if likely is None or _CODE_OF.get(self.target) != likely or self.source == self.target:
            return None
        return self.target


OURS = Languages("English", "German")
"""Languages of the bundled checkpoint, and of each that does not say its own."""


def without_code(text: str) -> str:
    """Return the text after a code at its beginning."""
    return _CODE.sub("", text.lstrip(), count=1).lstrip() if _CODE.match(text.lstrip()) else text


def _listed(codes: Iterable[str]) -> str:
    every = [f">>{code}<<" for code in codes]
    if len(every) < 2:
        return "".join(every)
    if len(every) > MAX_LISTED_CODES:
        more = len(every) - MAX_LISTED_CODES
        return f"{', '.join(every[:MAX_LISTED_CODES])} or one of {more:,} more"
    return f"{', '.join(every[:-1])} or {every[-1]}"
