"""Many sentences with all their heads as one HTML page, without network or server."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from transformer.analysis import lenses
from transformer.analysis.heads.head import Head
from transformer.corpus import head_summary
from transformer.errors import InputError
from transformer.files import reading
from transformer.kinds import KIND_TITLES, Kind
from transformer.trace import AttentionTrace
from viz.draw import caption, explorer, heads_view, palette, wire
from viz.draw.formatting import counted, format_number
from viz.draw.open_head import heads_of_kind, outlined, short_name
from viz.report import PageTheme, about_text, heading, require_theme, saved_page, text_sides

MAX_BYTES = 256 * reading.MIB
"""Packed size of all sentences of a page: Chromium opens as much in some four seconds."""

MAX_LISTED = 8  # largest number of listed sentences above the summary

VARIES = "changes"
SHOWN_MEASURES = {
    **head_summary.MEASURES,
    VARIES: "how far its rows by relative position lie from their mean in a single sentence, "
    "0 to 1",
}
"""Measures of each head in the summary, by the names on the screen."""

_BODY = """<p>{about}</p>
{lists}</header>
<section id="summary" aria-label="All sentences">{summary}</section>
<div id="lines">
<nav id="list" aria-label="Sentences"></nav>
<main>
<dl id="sentence" aria-live="polite"></dl>
<div id="heads"></div>
</main>
</div>"""


@dataclass(frozen=True, eq=False)
class SentenceRecord:
    """One sentence as the page holds it; the trace itself need not be kept."""

    number: int  # of its line, from 1; the page's address names it
    listed: list[Any]  # the number and more for the list, as `viz/browser/lines/list.ts` has it
    # what the page carries for the explorer, by the ends of their names: "" for the message, and
    # `.cross.2.5` for a head that is unpacked by itself
    blocks: Mapping[str, str]
    heads: Mapping[Kind, head_summary.SentenceHeads]
    opens: Kind  # kind of the head that is open first
    notes: tuple[str, ...]


def pack_sentence(
    number: int,
    trace: AttentionTrace,
    options: heads_view.ExplorerOptions | None = None,
    origin: caption.Origin | None = None,
) -> SentenceRecord:
    """Pack a trace for the page; the number is that of its line, from 1."""
    options = options or heads_view.ExplorerOptions()
    shown = heads_view.shown_parts(options, trace)
    # all heads of a kind, shown or not, by the tokens that the grid names
    choice: dict[str, Any] = {
        "words": options.words, "special": True, "lens": options.lens, "sinks": options.sinks
    }  # fmt: skip
    by_kind = {
        kind: head_summary.measure_heads(heads_of_kind(trace, kind, **choice).whole, kind)
        for kind in shown.kinds
    }
    log_p = float(trace.log_probs.sum()) if len(trace.log_probs) else None
    pieces = len(trace.source_pieces) + len(trace.target_pieces or trace.decoder_pieces)
    unlike = round(sum(heads.unlike for heads in by_kind.values()) / len(by_kind), 4)
    encoded = explorer.encode_page(trace, options, origin)
    return SentenceRecord(
        number,
        [number, trace.source, trace.target, log_p, pieces, unlike, text_sides(trace)],
        {"": encoded.message, **{f".{name}": text for name, text in encoded.heads.items()}},
        by_kind,
        shown.kind,
        (*trace.notes, *encoded.notes),
    )


class LinesPage:
    """A page that grows by sentences, which it keeps packed; the summary is sums."""

    def __init__(self, options: heads_view.ExplorerOptions | None = None) -> None:
        self.options = options or heads_view.ExplorerOptions()
        if self.options.layers is not None and not self.options.layers:
            raise InputError("There is no layer to show: name at least one.")
        self._bytes = 0
        self._listed: list[list[Any]] = []
        self._packed: dict[str, str] = {}
        self._opens: Kind = "cross"
        self._summaries: dict[Kind, head_summary.CorpusSummary] = {}
        self._notes: dict[str, list[int]] = {}  # numbers of the sentences by what is said of them

    def __len__(self) -> int:
        return len(self._listed)

    def add(self, sentence: SentenceRecord) -> None:
        """Add one sentence; its number must be larger than the last one."""
        number = sentence.number
        counts = {kind: summary.counts for kind, summary in self._summaries.items()}
        if not self._listed:
            self._opens = sentence.opens
            self._summaries = {kind: head_summary.CorpusSummary(kind) for kind in sentence.heads}
        elif counts != {kind: heads.counts for kind, heads in sentence.heads.items()}:
            raise InputError(
                f"Sentence {number:,} has other heads than sentence {self._listed[0][0]:,}: "
                "give one report the sentences of one model."
            )
        self._bytes += sum(map(len, sentence.blocks.values()))
        if self._bytes > MAX_BYTES:
            raise InputError(
                f"With sentence {number:,} the report has more than {MAX_BYTES // reading.MIB:,} "
                "MiB, the most that one file may have: give fewer sentences, or several reports."
            )
        self._listed.append(sentence.listed)
        self._packed |= {f"{number}{end}": text for end, text in sentence.blocks.items()}
        for kind, heads in sentence.heads.items():
            self._summaries[kind].add(heads)
        for note in sentence.notes:
            self._notes.setdefault(note, []).append(number)

    def html(
        self,
        *,
        title: str | None = None,
        theme: PageTheme = "auto",
        made_by: str = "",
        left_out: Sequence[str] = (),
    ) -> str:
        """Return the whole page; `left_out` are sentences on lines that are missing."""
        if not self._listed:
            raise InputError("There is no sentence to show: give at least one.")
        about = about_text(
            f"{counted(len(self), 'sentence')}.",
            made_by,
            "The summary shows each {unit} over all of them; below it is one sentence, with its "
            "number in the page's address.",
            self.options.lens,
        )
        notes = [f"{_numbers(numbers)}: {note}" for note, numbers in self._notes.items()]
        layer = heads_view.first_open(self.options.layer, self._summaries[self._opens].counts)
        meta = {
            "component": "lines",
            "selected": Head(self._opens, *outlined(self.options.lens, layer, self.options.head)),
            "sentences": self._listed,
        }
        return saved_page(
            "lines_report",
            heading(self.options, "over many sentences") if title is None else title,
            theme,
            body=_BODY.format(
                about=escape(about),
                lists=_list(notes) + _list(left_out),
                summary=self._summary(),
            ),
            message=("lines-packed", wire.packed(wire.encode(meta))),
            blocks={f"line-{name}": text for name, text in self._packed.items()},
        )

    def _summary(self) -> str:
        """Format the table of all heads, each with a button that opens it."""
        lens, layers = self.options.lens, self.options.layers
        unit, held = "head" if caption.tells_heads(lens) else "layer", caption.amount(lens)
        rows = [
            _row(head, lens)
            for summary in self._summaries.values()
            for head in summary.heads()
            # of two stacks, the lower one need not have the layers that are shown
            if layers is None or head.place.layer in layers
        ]
        sorting = "".join(
            f'<th scope="col"><button>{name}</button></th>'
            for name in (f"Most {held}", *SHOWN_MEASURES)
        )
        measures = "".join(
            f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>"
            for name, text in SHOWN_MEASURES.items()
        )
        return (
            f'<h2>Each {unit} over all sentences</h2><div class="frame" tabindex="0" '
            f'role="region" aria-label="Each {unit}"><table><thead><tr>'
            f'<th scope="col"><button>{unit.capitalize()}</button></th><th scope="col">Kind</th>'
            f'<th scope="col">Role</th>{sorting}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
            "</div><p>Means over all rows ± one standard deviation between sentences. Most "
            f"{held}: the mean {held} at the relative position that has most of it.</p>"
            f"<details><summary>Measures</summary><dl>{measures}</dl></details>"
        )


def lines_report(
    traces: Iterable[AttentionTrace],
    options: heads_view.ExplorerOptions | None = None,
    *,
    title: str | None = None,
    theme: PageTheme = "auto",
    origin: caption.Origin | None = None,
) -> str:
    """Make a self-contained page: a summary over all traces, their list, and one of them open.

    Traces are read one after another, and none is kept: an iterator of thousands is fine, as far
    as the page stays within `MAX_BYTES`.

    Args:
        traces: the traces of one model, at least one; those of `lens_trace`, where the options have
            a lens other than the weights.
        options: what is shown of each, and how; `ExplorerOptions()` unless given.
        title: heading of the page.
        theme: auto follows the user's system.
        origin: the model, if it is to be told; the texts in it are replaced by those of each trace.
    """
    require_theme(theme)
    page = LinesPage(options)
    for number, trace in enumerate(traces, start=1):
        own_origin = origin and replace(origin, source=trace.source, target=trace.target)
        page.add(pack_sentence(number, trace, page.options, own_origin))
    return page.html(title=title, theme=theme, made_by=origin.made_by if origin else "")


def _list(sentences: Sequence[str]) -> str:
    """Format a list of sentences, escaped; empty if there are none."""
    if not sentences:
        return ""
    shown = [*sentences[:MAX_LISTED]]
    if more := len(sentences) - len(shown):
        shown.append(f"… and {more:,} more.")
    return f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in shown)}</ul>\n"


def _numbers(numbers: Sequence[int]) -> str:
    listed = ", ".join(f"#{number}" for number in numbers[:MAX_LISTED])
    return listed + (f" and {len(numbers) - MAX_LISTED:,} more" * (len(numbers) > MAX_LISTED))


def _row(summary: head_summary.HeadSummary, lens: lenses.AnyLens) -> str:
    """Format the row of one head; its cells have the values by which they are sorted."""
    kind, layer, head = summary.place
    best = int(summary.profile.argmax())
    largest = float(summary.profile[best])
    cells = [
        (largest, f"{format_number(largest)} {position_name(best)}"),
        *(
            (mean, f"{format_number(mean, 3)} ± {format_number(deviation, 3)}")
            for mean, deviation in summary.values.values()
        ),
        (summary.varies, format_number(summary.varies, 3)),
    ]
    dot = f'<span aria-hidden="true" style="color: {palette.COLOR[kind]}">●</span>'
    place = escape(json.dumps(summary.place, separators=(",", ":")))
    return (
        f'<tr data-head="{place}"><th scope="row"><button>'
        f"{short_name(lens, layer, head)}</button></th><td>{dot} {KIND_TITLES[kind]}</td>"
        f"<td>{escape(summary.role)}</td>"
        + "".join(f'<td data-value="{value:.6g}">{text}</td>' for value, text in cells)
        + "</tr>"
    )


def position_name(column: int) -> str:
    """Name the relative position in a column of a profile."""
    distance = column - head_summary.REACH - 1
    if not distance:
        return "at the same position"
    side = "before" if distance < 0 else "after"
    return (
        f"more than {head_summary.REACH} {side}"
        if abs(distance) > head_summary.REACH
        else f"{abs(distance)} {side}"
    )
