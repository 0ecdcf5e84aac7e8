"""The first page of a site: a stored sentence plays, and the model follows what is typed."""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from transformer import InputError, Translator
from transformer.analysis.alignment_settings import read_alignment
from transformer.corpus import head_report
from transformer.text.languages import COMMON_WORDS
from viz.draw import wire
from viz.draw.caption import Origin
from viz.draw.labels import capitalised
from viz.draw.trace_message import about, kept_beginnings
from viz.report import PageTheme, anchor, require_theme, saved_page, script
from viz.sentence_parts import sentence_fields
from viz.site.model_folder import BLEU, carried_files, loaded_bytes, require_own_format
from viz.site.sentences import Line, bundled_sentences

LESSON_PAGE = "lesson-attention.html"
ENGINE, WORKER = "engine.js", "service_worker.js"
"""Names of the scripts that the page loads: the model's, and that of a visit without a network."""

DESCRIPTION = (
    "Watch a Transformer translate your sentence, see every attention head, and take heads away."
)
STORED_BYTES = 1_500_000  # largest size of a stored sentence, which a phone opens at once


@dataclass(frozen=True, eq=False)
class Direction:
    """A model of the page with its example sentences."""

    translator: Translator
    folder: str  # of its weights, as `en-de`
    size: int  # bytes of the weights
    lines: Sequence[Line]
    rounded: int = 0  # bytes of those in 8 bits; 0 where there are none


@dataclass(frozen=True, eq=False)
class StoredSentence:
    """A sentence that plays without the model."""

    direction: int
    line: Line
    text: str = field(repr=False)  # of the packed trace


def store_sentence(direction: int, translator: Translator, line: Line) -> StoredSentence:
    """Translate a sentence and pack its trace.

    Raises:
        InputError: if it is too large for a page.
    """
    translation = translator.translate(line.text, tree=True)
    trace = translator.trace_of(translation)
    beginnings = translation.tree and kept_beginnings(translation.tree, translator.target_tokenizer)
    message = sentence_fields(translator, trace, beginnings=beginnings or ())
    text = wire.packed(wire.encode(message))
    if len(text) > STORED_BYTES:
        raise InputError(f"It has {len(text):,} bytes on the page; at most {STORED_BYTES:,} fit.")
    return StoredSentence(direction, line, text)


def carried_page(translator: Translator, text: str, theme: PageTheme) -> str:
    """Make a page that carries its model, in weights rounded to 8 bits, and needs no server."""
    require_theme(theme)
    require_own_format(translator.folder)
    lines = [Line(0, text, "")] if text else bundled_sentences(translator.languages)
    files = {ENGINE: script("engine").encode(), **carried_files(translator)}
    direction = Direction(translator, "model", loaded_bytes(files)[0], lines)
    stored = store_sentence(0, translator, lines[0])
    return live_page([direction], [stored], "", "", theme=theme, carried=files)


def live_page(
    directions: Sequence[Direction],
    stored: Sequence[StoredSentence],
    lesson: str,
    docs: str,
    *,
    theme: PageTheme = "auto",
    carried: Mapping[str, bytes] | None = None,
) -> str:
    """Make the page, which opens with the first stored sentence.

    `lesson` is the title of the lesson, `docs` the address of the documentation, or "". `carried`
    has the engine's script and the files of a rounded model, for a page without a server.
    """
    first = stored[0]
    ways = f'<a href="{LESSON_PAGE}">Lesson: {escape(lesson)}</a>' if lesson else ""
    ways += anchor(docs, "Documentation") if docs else ""
    rounded = "Its weights are rounded to 8 bits: some translations differ." if carried else ""
    body = f"""<h1>Headlight</h1>
<p>{DESCRIPTION}</p>
<nav>{ways}</nav>
</header>
<main id="live">
{field_html(directions[first.direction].translator, first.line.text)}
<section id="watch" aria-label="The translation as it is written"></section>
<section id="links" aria-label="Which words belong together"><div></div></section>
<section id="heads"><h2>Every head</h2>
<p>Each small map is one of the model’s heads. Open one, take it away, or paint into it.</p>
<div class="choices" id="removal" hidden></div>
<div class="choices" id="editing" hidden></div>
<div id="explorer"></div></section>
</main>
<footer><p>The model runs in this page: what you type stays on your machine.
{rounded}</p></footer>"""
    return saved_page(
        "live",
        "Headlight: watch a Transformer translate",
        theme,
        body=body,
        blocks={
            "live-data": live_data(directions, stored, carried or {}),
            **{f"stored-{number}": sentence.text for number, sentence in enumerate(stored)},
            **{name: b64encode(file).decode() for name, file in (carried or {}).items()},
        },
        description=DESCRIPTION,
        is_live=True,
    )


def field_html(translator: Translator, text: str) -> str:
    """Make the field with its sentence, and the places of all that follows it."""
    languages = translator.languages
    source, target = (capitalised(languages.name(side)) for side in ("source", "target"))
    return f"""<section id="ask"><form>
<label for="text"><span id="reads">{escape(source)}</span></label>
<button type="button" id="turn" hidden>⇄</button> <span id="writes">{escape(target)}</span>
<select id="examples" aria-label="Examples"><option value="">Examples</option></select>
<textarea id="text" rows="1" autocomplete="off" spellcheck="false" dir="auto" enterkeyhint="done"
readonly>{escape(text)}</textarea></form>
</section>
<section id="now" aria-label="The translation">
<div id="translation" class="translation" dir="auto"></div>
<p id="figures" role="status"></p></section>
<div id="notes"><p id="breaking" hidden></p><p id="warning" role="status"></p>
<p id="state"><span role="status"></span><progress max="1" hidden aria-label="The model"></progress>
</p></div>"""


def live_data(
    directions: Sequence[Direction], stored: Sequence[StoredSentence], carried: Iterable[str] = ()
) -> str:
    """Pack what the page knows of its models and sentences."""
    message: dict[str, Any] = {
        "engine": ENGINE,
        "worker": WORKER,
        "carried": list(carried),
        "directions": [
            {
                "base": direction.folder,
                "bytes": direction.size,
                "rounded": direction.rounded,
                "bleu": BLEU.get(direction.translator.checksum),
                "about": _about(direction.translator),
                "examples": [{"text": line.text, "about": line.about} for line in direction.lines],
            }
            for direction in directions
        ],
        "stored": [
            {"direction": sentence.direction, "text": sentence.line.text} for sentence in stored
        ],
        "common": {code: sorted(words) for code, words in COMMON_WORDS.items()},
    }
    return wire.packed(wire.encode(message))


def _about(translator: Translator) -> dict[str, Any]:
    return about(
        translator.languages,
        Origin.from_translator(translator, "", "").made_by,
        read_alignment(translator),
        head_report.read(translator.folder, translator.model.config),
    )
