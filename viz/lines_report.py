"""Many sentences with all their heads as one HTML page, which needs no network and no server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from transformer.analysis.corpus.head_summary import CorpusSummary
from transformer.analysis.heads.head import Head
from transformer.errors import InputError
from transformer.files.reading import MIB
from transformer.kinds import Kind
from transformer.trace import AttentionTrace
from viz.draw.caption import lens_caption
from viz.draw.explorer_options import ExplorerOptions
from viz.draw.formatting import counted
from viz.draw.lens_words import ALL_HEADS, LENS_NAMES, tells_heads
from viz.draw.lines import ListedSentence, encode_lines
from viz.draw.open_head import outlined
from viz.page_style import PageTheme, page_style, require_theme
from viz.sentence_record import SentenceRecord, pack_sentence

if TYPE_CHECKING:
    from viz.draw.caption import Origin

MOST_BYTES = 256 * MIB
"""Of all sentences of one page as they are packed: Chromium opens as much in some four seconds."""

MOST_SAID = 8
"""Sentences of one list above the summary."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<title>{title}</title>
<style>{css}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p>{about}</p>
{notes}</header>
<section id="summary" aria-label="All sentences"></section>
<div id="lines">
<nav id="list" aria-label="Sentences"></nav>
<main>
<dl id="sentence" aria-live="polite"></dl>
<div id="heads"></div>
</main>
</div>
<noscript>The maps are drawn by the script in this page: allow it to run.</noscript>
<script type="text/plain" id="lines-packed">{lines}</script>
<script type="module" async>
{script}</script>
{blocks}</body>
</html>
"""
# after the script: the summary is drawn before the last sentence is there
_BLOCK = '<script type="text/plain" id="line-{}">{}</script>\n'


class LinesPage:
    """A page that grows by one sentence after another.

    What it keeps of each is its packed block and its line in the list; the summary is sums.

    Args:
        options: with which each sentence opens.
        most_bytes: of all blocks together.

    Raises:
        InputError: if the options have no layer.
    """

    def __init__(
        self, options: ExplorerOptions | None = None, *, most_bytes: int = MOST_BYTES
    ) -> None:
        self.options = options or ExplorerOptions()
        if self.options.layers is not None and not self.options.layers:
            raise InputError("There is no layer to show: name at least one.")
        self.most_bytes = most_bytes
        self.bytes = 0
        self._listed: list[ListedSentence] = []
        self._blocks: dict[str, str] = {}
        self._opens: Kind = "cross"
        self._summaries: dict[Kind, CorpusSummary] = {}
        self._notes: dict[str, list[int]] = {}  # numbers of the sentences by what is said of them

    def __len__(self) -> int:
        return len(self._listed)

    def add(self, sentence: SentenceRecord) -> None:
        """Add one sentence; numbers rise.

        Raises:
            InputError: if its heads are others than those of the sentences before, or the page
                would be larger than it may.
        """
        number = sentence.listed.number
        if not self._listed:
            self._opens = sentence.opens
            self._summaries = {kind: CorpusSummary(kind) for kind in sentence.heads}
        elif self._shape() != {kind: heads.counts for kind, heads in sentence.heads.items()}:
            raise InputError(
                f"Sentence {number:,} has other heads than sentence {self._listed[0].number:,}: "
                "give one report the sentences of one model."
            )
        self.bytes += sentence.bytes
        if self.bytes > self.most_bytes:
            raise InputError(
                f"With sentence {number:,} the report has more than {self.most_bytes // MIB:,} "
                "MiB, the most that one file may have: give fewer sentences, or several reports."
            )
        self._listed.append(sentence.listed)
        self._blocks |= {f"{number}{end}": text for end, text in sentence.blocks.items()}
        for kind, heads in sentence.heads.items():
            self._summaries[kind].add(number, heads)
        for note in sentence.notes:
            self._notes.setdefault(note, []).append(number)

    def _shape(self) -> dict[Kind, tuple[int, ...]]:
        return {kind: summary.counts for kind, summary in self._summaries.items()}

    def html(
        self,
        *,
        title: str | None = None,
        theme: PageTheme = "auto",
        made_by: str = "",
        left_out: Sequence[str] = (),
    ) -> str:
        """Return the whole page.

        Args:
            title: its heading; it says what is seen, and through which lens, unless given.
            theme: auto follows the reader's system.
            made_by: program and model in words, if they are to be told.
            left_out: sentences on lines that are not in it.

        Raises:
            InputError: if it has no sentence, or there is no such theme.
        """
        if not self._listed:
            raise InputError("There is no sentence to show: give at least one.")
        return _PAGE.format(
            title=escape(_heading(self.options) if title is None else title),
            css=page_style(theme, "lines_report.css"),
            about=escape(self._about(made_by)),
            notes=_list(self._note_lines()) + _list(left_out),
            lines=self._lines(made_by),
            blocks="".join(_BLOCK.format(*block) for block in self._blocks.items()),
            script=_script(),
        )

    def _lines(self, made_by: str) -> str:
        options, layers = self.options, self.options.layers
        caption = [
            counted(len(self), "sentence"),
            *([lens_caption(options.lens)] if options.lens != "weights" else []),
            *([f"{made_by}."] if made_by else []),
        ]
        heads = {
            kind: [head for head in summary.heads() if layers is None or head.place.layer in layers]
            for kind, summary in self._summaries.items()
        }
        return encode_lines(
            self._listed,
            # of two stacks, the lower one need not have the layers that are shown
            {kind: shown for kind, shown in heads.items() if shown},
            selected=Head(self._opens, *outlined(options.lens, options.layer, options.head)),
            lens=options.lens,
            caption=caption,
        )

    def _about(self, made_by: str) -> str:
        parts = [f"{counted(len(self), 'sentence')}."]
        if made_by:
            parts.append(f"Made by {made_by}, on {date.today().isoformat()}.")
        unit = "head" if tells_heads(self.options.lens) else f"layer, {ALL_HEADS} together"
        parts.append(
            f"The summary shows each {unit} over all of them; below it is one sentence, with its "
            "number in the page's address."
        )
        if self.options.lens != "weights":
            parts.append(
                f"The lens is {LENS_NAMES[self.options.lens]}, not the weights themselves."
            )
        return " ".join(parts)

    def _note_lines(self) -> list[str]:
        """Return the notes of the traces, each once, with the sentences that have it."""
        return [f"{_numbers(numbers)}: {note}" for note, numbers in self._notes.items()]


def lines_report(
    traces: Iterable[AttentionTrace],
    options: ExplorerOptions | None = None,
    *,
    title: str | None = None,
    theme: PageTheme = "auto",
    origin: Origin | None = None,
) -> str:
    """Make a self-contained page: a summary over all traces, their list, and one of them open.

    Traces are read one after another, and none is kept: an iterator of thousands is fine, as far
    as the page stays within `MOST_BYTES`.

    Args:
        traces: the traces of one model, at least one; those of `lens_trace`, where the options have
            a lens other than the weights.
        options: what is shown of each, and how; `ExplorerOptions()` unless given.
        title: heading of the page.
        theme: auto follows the reader's system.
        origin: the model, if it is to be told; the texts in it are replaced by those of each trace.

    Raises:
        InputError: if there is no trace, or no such head or theme, if two have other heads, or if
            the page would be larger than it may.
    """
    require_theme(theme)
    page = LinesPage(options)
    for number, trace in enumerate(traces, start=1):
        own_origin = origin and replace(origin, source=trace.source, target=trace.target)
        page.add(pack_sentence(number, trace, page.options, own_origin))
    return page.html(title=title, theme=theme, made_by=origin.made_by if origin else "")


def _heading(options: ExplorerOptions) -> str:
    unit = "head" if tells_heads(options.lens) else "layer"
    if options.lens == "weights":
        return "Where each head looks, over many sentences"
    return f"Each {unit} over many sentences, seen through {LENS_NAMES[options.lens]}"


def _list(sentences: Sequence[str]) -> str:
    """Format a list of sentences, escaped; empty if there are none."""
    if not sentences:
        return ""
    shown = [*sentences[:MOST_SAID]]
    if more := len(sentences) - len(shown):
        shown.append(f"… and {more:,} more.")
    return f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in shown)}</ul>\n"


def _numbers(numbers: Sequence[int]) -> str:
    listed = ", ".join(f"#{number}" for number in numbers[:MOST_SAID])
    return listed + (f" and {len(numbers) - MOST_SAID:,} more" * (len(numbers) > MOST_SAID))


@cache
def _script() -> str:
    return (Path(__file__).parent / "draw" / "lines_bundle.js").read_text(encoding="utf-8")
