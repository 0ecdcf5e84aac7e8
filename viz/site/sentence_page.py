"""The page of one sentence: the player, its links, its costliest heads, and every head."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape

from transformer import AttentionTrace, Translator
from transformer.analysis.alignment import aligned_shares, strongest
from transformer.analysis.alignment_settings import read_alignment
from transformer.analysis.heads.effect import Effect, effect
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_order import removal_order
from transformer.text.languages import code_of_name
from transformer.translation.result import Translation
from viz.draw import explorer, watched
from viz.draw.caption import Origin, head_caption
from viz.draw.changed_words import mark_changed_words
from viz.draw.formatting import counted, format_difference, format_number
from viz.draw.heads_view import ExplorerOptions
from viz.draw.player import encode_player
from viz.draw.word_links import encode_links, map_text, word_texts
from viz.report import packed, saved_page
from viz.site.sentences import Line

COSTLIEST = 4  # heads that are removed, each alone, then all

_BODY = """<nav><a href="index.html">All sentences</a>{ways}</nav>
<h1 lang="{source_code}">{source}</h1>
<p class="translation" lang="{target_code}">{target}</p>
<p>{about}</p>
{notes}</header>
<main>
<section id="watch"><h2>Watch it translate</h2>
<div data-picture="watch-data"></div></section>
<section id="links"><h2>Which words belong together</h2>
<div data-picture="links-data"></div></section>
<section id="without"><h2>Without its costliest heads</h2>
<p>Each of these heads is the one whose removal, after those before it, lowers the probability of \
the translation most. Its number is the change in log probability without this head alone. Choose \
one to see what the model then writes. Bold: new. Struck through: dropped.</p>
{removals}</section>
<section id="heads"><h2>Every head</h2>
<p>Each small map is one of {heads} heads; choose one to open it.</p>
<div data-picture="heads-data"></div></section>
</main>
<footer><p>{made_by}.</p></footer>"""


@dataclass(frozen=True, eq=False)
class ShownSentence:
    """A sentence with all that its page shows."""

    line: Line
    trace: AttentionTrace
    origin: Origin
    removals: Sequence[tuple[str, Sequence[Head], Effect]] = field(repr=False)
    blocks: dict[str, str] = field(repr=False)  # packed pictures by the ids of their data

    @property
    def page(self) -> str:
        """The name of its file."""
        code = code_of_name(self.trace.languages.name("source")) or "text"
        return f"{code}-{self.line.number}.html"


def show_sentence(translator: Translator, line: Line) -> ShownSentence:
    """Translate a sentence, remove its costliest heads, and encode all pictures."""
    translation = translator.translate(line.text, tree=True)
    trace = translator.trace_of(translation)
    trace = replace(trace, notes=(*trace.notes, *translation.notices))
    origin = Origin.from_translator(translator, trace.source, trace.target)
    order = removal_order(translator.model, trace, length=COSTLIEST, greedy=COSTLIEST)
    named = [(head.title, [head]) for head in order]
    named.append((f"All {len(order)} together", order))
    removals = [
        (name, heads, effect(translator, trace, [Removal(*head) for head in heads]))
        for name, heads in named
    ]
    return ShownSentence(
        line, trace, origin, removals, pictures(translator, translation, trace, origin)
    )


def pictures(
    translator: Translator, translation: Translation, trace: AttentionTrace, origin: Origin
) -> dict[str, str]:
    """Encode player, links and heads, by the ids of their data in a page."""
    settings = read_alignment(translator)
    source, target = word_texts(trace.source_pieces), word_texts(trace.target_pieces)
    has_words = bool(source and target)
    shares = aligned_shares(translator, trace, settings) if has_words else None
    every = () if shares is None else strongest(shares, "each")
    mutual = () if shares is None else strongest(shares, "mutual")
    pieces = [piece.text for piece in trace.target_pieces]
    score = translator.score(trace.source, pieces, alternatives=watched.OPTIONS)
    first = watched.watched_heads(trace, mutual)
    player = encode_player(
        trace,
        watched.search_steps(translator.target_tokenizer, score, translation.tree),
        selected=first,
        links=watched.piece_links(trace, mutual, every),
        caption=origin.caption("What every head looks at, step by step of the search."),
    )
    links = encode_links(
        source,
        target,
        every,
        mutual=mutual,
        made_by=map_text(settings),
        languages=trace.languages,
        caption=origin.caption(head_caption("cross", settings.layer, settings.head, settings.lens)),
    )
    _, layer, head = first["cross"]
    heads = explorer.encode_page(trace, ExplorerOptions("cross", layer, head), origin)
    return {
        "watch-data": packed(player),
        "links-data": packed(links),
        "heads-data": heads.message,
        **heads.heads,
    }


def sentence_page(sentence: ShownSentence, every: Sequence[ShownSentence]) -> str:
    """Make the page of a sentence, with links to those before and after it."""
    trace, number = sentence.trace, every.index(sentence) if sentence in every else 0
    ways = "".join(
        f'<a href="{every[place].page}">{name}</a>'
        for place, name in ((number - 1, "Previous"), (number + 1, "Next"))
        if 0 <= place < len(every)
    )
    log_p = format_number(float(trace.log_probs.sum()))
    subwords = counted(len(trace.log_probs), "subword")
    about = f"Log probability {log_p} ({subwords})"
    languages = [trace.languages.name(side) for side in ("source", "target")]
    source_code, target_code = map(code_of_name, languages)
    body = _BODY.format(
        ways=ways,
        source=escape(trace.source),
        target=escape(trace.target),
        source_code=source_code,
        target_code=target_code,
        about=escape(" · ".join(filter(None, [sentence.line.about, about]))),
        notes="".join(f'<p class="note">{escape(note)}</p>\n' for note in trace.notes),
        removals=_removals(sentence, target_code),
        made_by=escape(sentence.origin.made_by),
        heads=sum(sum(trace.head_count(kind)) for kind in trace.kinds),
    )
    return saved_page(
        "site",
        f"{trace.source} · Headlight",
        "auto",
        body=body,
        blocks=sentence.blocks,
        description=f"How a Transformer translates “{trace.source}”, head by head.",
    )


def _removals(sentence: ShownSentence, code: str) -> str:
    """Format a button for each removal, and the translations that they show."""
    buttons, texts = [], []
    last = len(sentence.removals) - 1
    for number, (name, heads, changed) in enumerate(sentence.removals):
        before, after = (float(trace.log_probs.sum()) for trace in (changed.before, changed.after))
        cost = format_difference(after, before)
        head = f' data-head="{".".join(map(str, heads[0]))}"' if len(heads) == 1 else ""
        buttons.append(
            f'<button type="button" aria-pressed="{str(number == last).lower()}" '
            f'aria-controls="without-{number}"{head}>{escape(name)}<small>{cost}</small></button>'
        )
        attributes = f'id="without-{number}"{" hidden" * (number < last)}'
        texts.append(removal_text(changed, code, attributes))
    return (
        f'<div class="choices" role="group" aria-label="Heads">{"".join(buttons)}</div>\n'
        f'<div aria-live="polite">{"".join(texts)}</div>\n'
    )


def removal_text(changed: Effect, code: str, attributes: str = "") -> str:
    """Format a translation without heads: its changed words, and log P of the original one."""
    text, before = changed.translation.text, changed.before.target
    written = mark_changed_words(text, before) if text.strip() else "(nothing)"
    log_p = (float(trace.log_probs.sum()) for trace in (changed.before, changed.after))
    first, second = map(format_number, log_p)
    same = " The translation stays the same." if text == before else ""
    return (
        f'<div class="without" {attributes}><p class="translation" lang="{code}">{written}</p>'
        f"<p>Log probability of the original translation: {first} with all heads, {second} "
        f"without.{same}</p></div>"
    )
