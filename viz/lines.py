"""Many sentences with all their heads as one HTML page, which needs no network and no server."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from transformer.analysis.corpus.head_summary import (
    MEASURES,
    REACH,
    CorpusSummary,
    HeadSummary,
    OverSentences,
    SentenceHeads,
    measure_heads,
)
from transformer.analysis.heads.head import Head
from transformer.errors import InputError
from transformer.files.reading import MIB
from transformer.kinds import KIND_TITLES, Kind
from transformer.trace import AttentionTrace
from viz.draw.caption import ALL_HEADS, LENS_NAMES, amount, lens_caption, tells_heads
from viz.draw.explorer import encode_page
from viz.draw.formatting import counted
from viz.draw.heads_view import ExplorerOptions, shown_parts
from viz.draw.open_head import heads_of_kind, outlined, short_name
from viz.draw.palette import COLOR, table
from viz.draw.wire import encode
from viz.report import PageTheme, TextSide, require_theme, saved_page, text_sides

if TYPE_CHECKING:
    from transformer.analysis.lenses import AnyLens
    from viz.draw.caption import Origin

MOST_BYTES = 256 * MIB
"""Of all sentences of one page as they are packed: Chromium opens as much in some four seconds."""

MOST_SAID = 8
"""Sentences of one list above the summary."""

VARIES = "changes"
SHOWN_MEASURES = {
    **MEASURES,
    VARIES: "how far its rows by relative position lie from their mean in a single sentence, "
    "0 to 1",
}
"""What the summary shows of each head, by the names on the screen."""

_BODY = """<p>{about}</p>
{lists}</header>
<section id="summary" aria-label="All sentences"></section>
<div id="lines">
<nav id="list" aria-label="Sentences"></nav>
<main>
<dl id="sentence" aria-live="polite"></dl>
<div id="heads"></div>
</main>
</div>"""


@dataclass(frozen=True)
class ListedSentence:
    """A sentence as the list has it.

    Args:
        number: of its line, from 1; the page's address names it.
        source: as it was typed; "" where there is none, as with the target.
        target: its translation.
        log_p: natural logarithm of the translation's probability; None where it is not known.
        length: pieces of both sides.
        unlike: how far the heads of a kind differ from each other here, 0 to 1.
        sides: source and target; another line of one file may be in another language.
    """

    number: int
    source: str
    target: str
    log_p: float | None
    length: int
    unlike: float
    sides: tuple[TextSide, ...]


def encode_lines(
    sentences: Sequence[ListedSentence],
    heads: Mapping[Kind, Sequence[HeadSummary]],
    *,
    selected: Head,
    lens: AnyLens = "weights",
    caption: Sequence[str] = (),
) -> str:
    """Encode the message of `js/lines`, gzip in base64: no character of it can close a tag.

    Args:
        sentences: in the order of the file, at least one.
        heads: of each kind that is there, by layer and number.
        selected: the head that each sentence opens with; -1 for a mean.
        lens: through which the sentences are seen; one may tell no heads of a layer apart.
        caption: what the picture was made from, for a file that is saved.
    """
    meta = {
        "component": "lines",
        "caption": list(caption),
        "selected": selected,
        "together": not tells_heads(lens),
        "amount": amount(lens),
        "reach": REACH,
        "measures": SHOWN_MEASURES,
        "sentences": [_row(item) for item in sentences],
        "parts": [_part(kind, summaries, lens) for kind, summaries in heads.items()],
    }
    arrays: dict[str, NDArray] = {}
    for kind, summaries in heads.items():
        arrays[f"{kind}.profile"] = _profiles(summaries)
        arrays[f"{kind}.light"] = table(kind, "light")
        arrays[f"{kind}.dark"] = table(kind, "dark")
    return base64.b64encode(gzip.compress(encode(meta, arrays), mtime=0)).decode()


def _row(row: ListedSentence) -> list[Any]:
    unlike = round(row.unlike, 4)
    return [row.number, row.source, row.target, row.log_p, row.length, unlike, row.sides]


def _profiles(heads: Sequence[HeadSummary]) -> NDArray[np.float64]:
    """`[head, column]`, up to the position itself where nothing lies ahead, as in a decoder."""
    profiles = np.stack([summary.profile for summary in heads])
    ahead = profiles[:, REACH + 2 :]
    return profiles if ahead.any() else profiles[:, : REACH + 2]


def _part(kind: Kind, heads: Sequence[HeadSummary], lens: AnyLens) -> dict[str, Any]:
    return {
        "kind": kind,
        "title": KIND_TITLES[kind],
        "color": COLOR[kind],
        "heads": [_head(summary, lens) for summary in heads],
    }


def _head(summary: HeadSummary, lens: AnyLens) -> dict[str, Any]:
    _, layer, head = summary.place
    values = {name: _as_list(value) for name, value in summary.values.items()}
    return {
        "layer": layer,
        "head": head,
        "name": short_name(lens, layer, head),
        "role": summary.role,
        "roles": list(summary.roles.items()),
        "values": {**values, VARIES: [summary.varies]},
    }


def _as_list(value: OverSentences) -> list[float | tuple[float, int]]:
    return [value.mean, value.deviation, value.lowest, value.highest]


@dataclass(frozen=True, eq=False)
class SentenceRecord:
    """One sentence as the page holds it; the trace itself need not be kept.

    Args:
        listed: what the list says of it.
        blocks: what the page carries for the explorer, by the ends of their names: "" for the
            message, and `.cross.2.5` for a head that is unpacked by itself.
        heads: of each kind, for the summary.
        opens: kind of the head that is open first.
        notes: on its weights.
    """

    listed: ListedSentence
    blocks: Mapping[str, str]
    heads: Mapping[Kind, SentenceHeads]
    opens: Kind
    notes: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """Size of its blocks."""
        return sum(map(len, self.blocks.values()))


def pack_sentence(
    number: int,
    trace: AttentionTrace,
    options: ExplorerOptions | None = None,
    origin: Origin | None = None,
) -> SentenceRecord:
    """Make of a trace what the page holds of it.

    Args:
        number: of its line, from 1.
        trace: what `lens_trace` makes of one, where the options have a lens other than the weights.
        options: what is shown, and how; of heads that the trace has.
        origin: the sentence and its model, if they are to be told in saved pictures.

    Raises:
        InputError: if there is no such head, or no token is left to show.
    """
    options = options or ExplorerOptions()
    shown = shown_parts(options, trace)
    by_kind = {kind: _measured_heads(trace, kind, options) for kind in shown.kinds}
    listed = ListedSentence(
        number=number,
        source=trace.source,
        target=trace.target,
        log_p=float(trace.log_probs.sum()) if len(trace.log_probs) else None,
        length=len(trace.source_pieces) + len(trace.target_pieces or trace.decoder_pieces),
        unlike=sum(heads.unlike for heads in by_kind.values()) / len(by_kind),
        sides=text_sides(trace),
    )
    encoded = encode_page(trace, options, origin)
    blocks = {"": encoded.message, **{f".{name}": text for name, text in encoded.heads.items()}}
    notes = (*trace.notes, *([encoded.note] if encoded.note else []))
    return SentenceRecord(listed, blocks, by_kind, shown.kind, notes)


def _measured_heads(trace: AttentionTrace, kind: Kind, options: ExplorerOptions) -> SentenceHeads:
    """Measure all heads of a kind, shown or not, by the tokens that the grid names."""
    heads = heads_of_kind(trace, kind, words=options.words, special=True, lens=options.lens)
    return measure_heads(heads.whole, kind)


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
        lists = _list(self._note_lines()) + _list(left_out)
        return saved_page(
            "lines_report",
            _heading(self.options) if title is None else title,
            theme,
            body=_BODY.format(about=escape(self._about(made_by)), lists=lists),
            message=("lines-packed", self._lines(made_by)),
            blocks={f"line-{name}": text for name, text in self._blocks.items()},
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
